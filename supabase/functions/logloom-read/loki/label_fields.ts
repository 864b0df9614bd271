import { any, ofAnyMember, ofFirst } from "./matchers.ts";
import { isInternal, membersThatMayBe, type Names, recordField } from "./label_names.ts";
import { refuse } from "./loki_error.ts";
import { dropping, keeping, type Stage } from "./pipeline_stages.ts";

/** Maps the labels of a query to fields, stage after stage. */
export class LabelFields {
  protected readonly parsers: string[] = [];
  protected readonly extracted = new Map<string, string>();
  /** Fields that may be members of lines. */
  protected parsed = new Set<string>();
  /** Labels that stages create. */
  protected readonly made = new Set<string>();
  private readonly dropped = new Set<string>();
  private kept: Set<string> | undefined;
  private isParsedAfterHiding = false;
  private isFiltering = false;
  protected hasNewLine = false;

  constructor(protected readonly names: Names) {}

  /** Whether a stage creates this label, so that its value is only known once the stages have run. */
  makes(name: string): boolean {
    return this.made.has(name);
  }

  /** Whether drop and keep leave a label in the answer. */
  shows(name: string): boolean {
    return !this.dropped.has(name) && (this.kept?.has(name) ?? true);
  }

  /**
   * Returns the one field of a label at the end of the pipeline, from which numbers are read. For a member of lines, it
   * is the member of that name.
   */
  field(name: string): string {
    const [field, ...others] = this.fields(name, false);
    return others.length === 0 ? field : refuse(
      `${name} is the name of several attributes here: ${[field, ...others].join(", ")}. ` +
        "Only filters and groups take them together",
    );
  }

  /** The fields of a label in a filter or a group. A record's value is the first that it has. */
  fields(name: string, hasMembers = true): readonly string[] {
    const extracted = this.extracted.get(name);
    const field = recordField(name);
    const known = extracted ?? field;
    const attributes = known === undefined ? this.names.get(name) : [known];
    // If records have the attribute, groups and numbers use it alone, so that lines need no parsing.
    const isParsed = extracted !== undefined ||
      this.parsers.length > 0 && field === undefined &&
        (this.isFiltering || attributes === undefined);
    const fields = attributes ??
      (isParsed && hasMembers ? membersThatMayBe(name) : [`attrs.${name}`]);
    if (isParsed && attributes === undefined && name.endsWith("_extracted")) {
      refuse(`${name}: a parsed member with the name of a label is not supported`);
    }
    if (isParsed) fields.forEach((one) => this.parsed.add(one));
    return fields;
  }

  /** Whether no record can have this label, or drop or keep has removed it. */
  protected isAbsent(name: string): boolean {
    if (isInternal(name)) return true;
    if (this.shows(name)) return false;
    if (this.isParsedAfterHiding) {
      refuse(`${name} after drop or keep and a parser is not supported`);
    }
    return true;
  }

  /** The names of a grouping that a record can still have. */
  grouped(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.made.has(name) || !this.isAbsent(name));
  }

  /** `takesAbsent`: whether the filter also finds records without the label. */
  protected ofFields(name: string, made: (field: string) => string, takesAbsent = false): string {
    const fields = this.fields(name);
    const isOfLine = this.parsers.length > 0 && !this.extracted.has(name);
    const isField = recordField(name) !== undefined;
    if (isOfLine && !isField && !this.names.has(name)) {
      return ofAnyMember(fields, made, takesAbsent);
    }
    if (!isOfLine || !isField || !this.names.has(name)) return ofFirst(fields, made);
    // Records without the field may have it as a member of their line.
    this.parsed.add(`attrs.${name}`);
    return ofFirst([name, `attrs.${name}`], made);
  }

  /**
   * A filter, and the fields in it that lines may have. `early` is the part of the filter that needs no parsed line;
   * undefined if there is none.
   */
  protected filterOf(make: () => string) {
    const before = this.parsed;
    this.parsed = new Set();
    this.isFiltering = true;
    const filter = make();
    this.isFiltering = false;
    const isLate = this.parsed.size > 0;
    const unsaid = [...this.parsed].map((field) => this.lacking(field));
    this.parsed = this.parsed.union(before);
    const early = unsaid.includes(undefined) ? undefined : any([filter, ...unsaid as string[]]);
    return { filter, isLate, early };
  }

  /** A filter for the records whose line must be parsed to know the field. */
  private lacking(field: string): string | undefined {
    const name = field.slice("attrs.".length);
    if (recordField(name) === name) return `-${name}:*`;
    return [...this.names.values()].flat().includes(field) ? `-${field}:*` : undefined;
  }

  protected hide(names: readonly string[]): Stage {
    for (const name of names) {
      this.dropped.add(name);
      this.made.delete(name);
    }
    return dropping(names);
  }

  protected keep(names: ReadonlySet<string>): Stage {
    this.kept = new Set([...names].filter((name) => this.kept?.has(name) ?? true));
    return keeping(names);
  }

  protected parse(kind: string): void {
    if (this.hasNewLine) refuse(`| ${kind} after line_format is not supported`);
    if (!this.parsers.includes(kind)) this.parsers.push(kind);
    if (this.dropped.size > 0 || this.kept !== undefined) this.isParsedAfterHiding = true;
  }
}
