import { any, ofAnyMember, ofFirst } from "./matchers.ts";
import { isInternal, membersThatMayBe, type Names, recordField } from "./names.ts";
import { refuse } from "./refusal.ts";
import { dropping, keeping, type Stage } from "./stages.ts";

/** What the labels of a query mean, stage after stage. */
export class LabelFields {
  protected readonly parsers: string[] = [];
  protected readonly extracted = new Map<string, string>();
  /** Fields that a line may have. */
  protected parsed = new Set<string>();
  /** Labels that a stage makes. */
  protected readonly made = new Set<string>();
  private readonly dropped = new Set<string>();
  private kept: Set<string> | undefined;
  private isParsedAfterHiding = false;
  private isFiltering = false;
  protected hasNewLine = false;

  constructor(protected readonly names: Names) {}

  /** Whether a name is made by a stage, so that only a record's own stages know its value. */
  makes(name: string): boolean {
    return this.made.has(name);
  }

  /** Whether drop and keep leave a label in the answer. */
  shows(name: string): boolean {
    return !this.dropped.has(name) && (this.kept?.has(name) ?? true);
  }

  /** The field of a number at the end of the pipeline; of members of lines the one that is named so. */
  field(name: string): string {
    const [field, ...others] = this.fields(name, false);
    return others.length === 0 ? field : refuse(
      `${name} is the name of several attributes here: ${[field, ...others].join(", ")}. ` +
        "Only filters and groups take them together",
    );
  }

  /** The same for a filter or a group, where a record's value is the first that it has. */
  fields(name: string, hasMembers = true): readonly string[] {
    const extracted = this.extracted.get(name);
    const field = recordField(name);
    const known = extracted ?? field;
    const attributes = known === undefined ? this.names.get(name) : [known];
    // A group or a number of records that have it as an attribute is that: not all lines are parsed for others.
    const isParsed = extracted !== undefined ||
      this.parsers.length > 0 && field === undefined &&
        (this.isFiltering || attributes === undefined);
    const fields = attributes ??
      (isParsed && hasMembers ? membersThatMayBe(name) : [`attrs.${name}`]);
    if (isParsed && attributes === undefined && name.endsWith("_extracted")) {
      refuse(`${name}: what a parser finds beside a label of the same name is not supported`);
    }
    if (isParsed) fields.forEach((one) => this.parsed.add(one));
    return fields;
  }

  /** What no record has, or what drop and keep have taken away. */
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

  /** `takesAbsent`: whether a record without the label is one that the filter finds. */
  protected ofFields(name: string, made: (field: string) => string, takesAbsent = false): string {
    const fields = this.fields(name);
    const isOfLine = this.parsers.length > 0 && !this.extracted.has(name);
    const isField = recordField(name) !== undefined;
    if (isOfLine && !isField && !this.names.has(name)) {
      return ofAnyMember(fields, made, takesAbsent);
    }
    if (!isOfLine || !isField || !this.names.has(name)) return ofFirst(fields, made);
    // Some records do not have the field: of those the line tells.
    this.parsed.add(`attrs.${name}`);
    return ofFirst([name, `attrs.${name}`], made);
  }

  /**
   * A filter, the fields in it that a line may have, and in `early` as much of it as records say themselves; undefined
   * where they say nothing.
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

  /** The records that do not say themselves what a field of a line is. */
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
