import type { CapturingParser } from "./capturing_parsers.ts";
import { all, any, everything, ofAnyMember, ofFirst } from "./matchers.ts";
import { isInternal, membersThatMayBe, type Names, recordField } from "./label_names.ts";
import { refuse } from "./loki_error.ts";
import { membersOfLine } from "./line_parsers.ts";
import { capturing, dropping, keeping, type Stage } from "./pipeline_stages.ts";

/** A stage of the database that adds parts of lines to the attributes. */
interface Parser {
  readonly stage: string;
  readonly membersOf: (line: string) => [string, unknown][];
}

/** Maps the labels of a query to fields, stage after stage. */
export class LabelFields {
  protected readonly stages: Stage[] = [];
  protected readonly parsers: Parser[] = [];
  protected readonly extracted = new Map<string, string>();
  /** The labels of `pattern` and `regexp` that the database extracts too. */
  private captured: readonly string[] = [];
  /** Fields that may be members of lines. */
  protected readonly parsed = new Set<string>();
  /** Labels that stages create. */
  protected readonly made = new Set<string>();
  private readonly dropped = new Set<string>();
  private kept: Set<string> | undefined;
  private isParsedAfterHiding = false;
  /** Whether a parser makes labels of all members, unlike `json x="…"`. */
  private isParsedWhole = false;
  /** Filters for the records whose line must be parsed to know the fields of the current filter. */
  private lacking: string[] = [];
  protected hasNewLine = false;

  constructor(protected readonly names: Names) {}

  /** The parsers by which the database adds members of lines to the attributes. */
  get parsersInDatabase(): readonly Parser[] {
    return this.parsed.size > 0 ? this.parsers : [];
  }

  /** Whether the value of this label is only known once the stages have run. */
  makes(name: string): boolean {
    // After `json x="…"` the database's attributes also have the line's other members.
    const isMixed = (this.hasParsed("json") || this.hasParsed("logfmt")) && !this.isParsedWhole &&
      !this.extracted.has(name) &&
      recordField(name) === undefined && (this.names.get(name)?.isInLines ?? true);
    return isMixed || this.made.has(name);
  }

  /** Whether drop and keep leave a label in the answer. */
  shows(name: string): boolean {
    return !this.dropped.has(name) && (this.kept?.has(name) ?? true);
  }

  /** Returns the field of a label from which numbers are read; undefined if several fields may have it. */
  field(name: string): string | undefined {
    const [field, ...others] = this.fields(name, [`attrs.${name}`]);
    return others.length === 0 ? field : undefined;
  }

  /** The fields of a label in a filter or a group. A record's value is the first that it has. */
  fields(name: string, members: readonly string[] = membersThatMayBe(name)): readonly string[] {
    const extracted = this.extracted.get(name);
    const known = extracted ?? recordField(name);
    if (known !== undefined) return extracted === undefined ? [known] : this.ofLine([known]);
    const { fields, isInLines } = this.names.get(name) ?? { fields: [], isInLines: true };
    if (!this.isParsedWhole || !isInLines) {
      return fields.length > 0 ? fields : [`attrs.${name}`];
    }
    if (fields.length === 0 && name.endsWith("_extracted")) {
      refuse(`${name}: a parsed member with the name of a label is not supported`);
    }
    return this.ofLine([...new Set([...fields, ...members])], fields);
  }

  /** Notes that fields may be members of lines. `own`: the fields of records; a record with one needs no parsing. */
  private ofLine(fields: readonly string[], own: readonly string[] = []): readonly string[] {
    fields.forEach((field) => this.parsed.add(field));
    this.lacking.push(own.length === 0 ? everything : all(own.map((field) => `-${field}:*`)));
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
    const own = recordField(name) === name ? [name] : this.names.get(name)?.fields ?? [];
    const isOfLine = this.isParsedWhole && !this.extracted.has(name) &&
      (recordField(name) === undefined || own[0] === name) &&
      (this.names.get(name)?.isInLines ?? own.length === 0);
    if (!isOfLine) return ofFirst(this.fields(name), made);
    // Records without the field may have it as a member of their line.
    const members = own[0] === name ? membersThatMayBe(name) : this.fields(name);
    if (own[0] === name) this.ofLine(members, own);
    const others = members.filter((field) => !own.includes(field));
    return ofFirst(
      own,
      made,
      others.length === 0 ? undefined : ofAnyMember(others, made, takesAbsent),
    );
  }

  /**
   * Returns a filter. If it needs parsed lines, `early` is a wider filter without them: it also finds the records whose
   * line must be parsed.
   */
  protected filterOf(make: () => string) {
    this.lacking = [];
    const filter = make();
    return { filter, early: this.lacking.length > 0 ? any([filter, ...this.lacking]) : undefined };
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

  protected parse(kind: string, isWhole: boolean): void {
    if (this.hasNewLine) refuse(`| ${kind} after line_format is not supported`);
    if (!this.hasParsed(kind)) {
      this.addParser({ stage: `${kind} msg`, membersOf: (line) => membersOfLine(kind, line) });
    }
    this.isParsedWhole ||= isWhole;
  }

  protected hasParsed(kind: string): boolean {
    return this.parsers.some(({ stage }) => stage === `${kind} msg`);
  }

  private addParser(parser: Parser): void {
    // The database keeps the value of the first parser, Loki that of the last.
    this.captured.forEach((name) => this.made.add(name));
    this.parsers.push(parser);
    if (this.dropped.size > 0 || this.kept !== undefined) this.isParsedAfterHiding = true;
  }

  /** Labels of `pattern` or `regexp`. The stage creates those that the database does not extract alike. */
  protected capture(parser: CapturingParser): void {
    const { names, stage, labelsOf } = parser;
    const isInDatabase = stage !== undefined && this.parsers.length === 0 && !this.hasNewLine;
    const isPlain = (name: string) => !this.names.has(name) && recordField(name) === undefined;
    const captured = isInDatabase ? names.filter(isPlain) : [];
    names.filter((name) => !captured.includes(name)).forEach((name) => this.made.add(name));
    if (stage !== undefined && captured.length > 0) {
      const membersOf = (line: string) =>
        labelsOf(line).map(([name, text]): [string, unknown] => [`attrs.${name}`, text]);
      this.addParser({ stage, membersOf });
      captured.forEach((name) => this.extracted.set(name, `attrs.${name}`));
      this.captured = captured;
    }
    this.stages.push(capturing(parser));
  }
}
