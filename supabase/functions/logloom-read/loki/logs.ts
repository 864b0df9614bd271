import {
  isText,
  jsonOf,
  labelsOfJson,
  labelsOfLogfmt,
  templateOf,
  textOfMember,
} from "./line_parsers.ts";
import {
  all,
  any,
  bytesOf,
  everything,
  nothing,
  ofAbsent,
  ofAddress,
  ofFirst,
  ofLabel,
  ofLine,
  ofQuantity,
} from "./matchers.ts";
import {
  fieldsNamed,
  isInternal,
  type Names,
  recordField,
  segmentsOf,
  unknownLevel,
} from "./names.ts";
import { refuse } from "./refusal.ts";
import { quoted, stringOf } from "./texts.ts";
import { childOf, itemsOf, needed, type Node } from "./tree.ts";

/** A record on its way through the stages of a query. */
export interface Entry {
  line: string;
  readonly labels: Map<string, string>;
  readonly metadata: Map<string, string>;
  /** What stages made, which comes before the others. */
  readonly parsed: Map<string, string>;
}

export function labelOf({ labels, metadata, parsed }: Entry, name: string): string {
  return parsed.get(name) ?? metadata.get(name) ?? labels.get(name) ?? "";
}

/** Does its part to an entry, and says whether it stays. */
type Stage = (entry: Entry) => boolean;

const parserError = "__error__";

/** Which records a LogQL query is about, in our query language, and what its stages make of each. */
export class LogQuery {
  /** Of the records as they are, and of what json and logfmt make of their lines. */
  private readonly filters: string[] = [];
  private readonly lateFilters: string[] = [];
  /** Late ones as far as records say it themselves, which comes before what their lines hold: fewer are parsed. */
  private readonly earlyFilters: string[] = [];
  private readonly parsers: string[] = [];
  private readonly extracted = new Map<string, string>();
  /** Fields that a line may have. */
  private parsed = new Set<string>();
  private isFiltering = false;
  private readonly matched: string[] = [];
  private readonly isDropped = new Set<string>();
  private kept: Set<string> | undefined;
  private isParsedAfterHiding = false;
  private readonly stages: Stage[] = [];
  /** Filters that only stages can decide, and of those the ones that leave out what is no JSON. */
  private decided = 0;
  private readonly withoutErrors = new Set<Stage>();
  private readonly made = new Set<string>();
  private hasNewLine = false;

  constructor(expression: Node, private readonly names: Names) {
    this.read(expression);
  }

  get filterDsl(): string {
    const narrowed = all([...this.filters, ...this.earlyFilters]);
    return isShort(`${narrowed} ${all(this.lateFilters)}`) ? narrowed : all(this.filters);
  }

  /** A filter and the stages after it, such as `level:error | json msg | where @n:>5`. */
  get dsl(): string {
    const late = all(this.lateFilters);
    return [
      this.filterDsl,
      ...this.parsed.size > 0 ? this.parsers.map((parser) => `${parser} msg`) : [],
      ...late === everything ? [] : [`where ${late}`],
    ].join(" | ");
  }

  /** The names in the selector. */
  get selected(): readonly string[] {
    return this.matched;
  }

  /** Whether what the database finds is not yet what the query finds. */
  get isDecidedByRecord(): boolean {
    return this.decided > 0;
  }

  /** Whether a name is made by a stage, so that only a record's own stages know its value. */
  makes(name: string): boolean {
    return this.made.has(name);
  }

  /** Does what the stages say. False where the record is not one that the query finds. */
  pass(entry: Entry): boolean {
    return this.stages.every((stage) => stage(entry));
  }

  /** Whether drop and keep leave a label in the answer. */
  shows(name: string): boolean {
    return !this.isDropped.has(name) && (this.kept?.has(name) ?? true);
  }

  /** A number from the line alone proves that the line could be parsed. */
  unwraps(name: string): void {
    if (this.names.has(name) || !this.parsers.includes("json")) return;
    for (const stage of this.withoutErrors) this.stages.splice(this.stages.indexOf(stage), 1);
    this.decided -= this.withoutErrors.size;
    this.withoutErrors.clear();
  }

  /** The field that a name means at the end of the pipeline. */
  field(name: string): string {
    const fields = this.fields(name);
    return fields.length === 1 ? fields[0] : refuse(
      `${name} is the name of several attributes here: ${fields.join(", ")}. ` +
        "Only filters and groups take them together",
    );
  }

  /** The same, of which a record's value is the first that it has. */
  fields(name: string): readonly string[] {
    const extracted = this.extracted.get(name);
    const fields = extracted === undefined ? fieldsNamed(name, this.names) : [extracted];
    // A group or a number of records that have it as an attribute is that: not all lines are parsed for others.
    const isAttribute = !this.isFiltering && this.names.has(name);
    const isParsed = this.parsers.length > 0 && recordField(name) === undefined && !isAttribute;
    if (isParsed || extracted !== undefined) fields.forEach((field) => this.parsed.add(field));
    return fields;
  }

  private filter(make: () => string): void {
    const before = this.parsed;
    this.parsed = new Set();
    this.isFiltering = true;
    const filter = make();
    this.isFiltering = false;
    if (this.parsed.size === 0) this.filters.push(filter);
    else {
      this.lateFilters.push(filter);
      const found = new Set([...this.names.values()].flat());
      if ([...this.parsed].every((field) => found.has(field))) {
        this.earlyFilters.push(any([filter, ...[...this.parsed].map((field) => `-${field}:*`)]));
      }
    }
    this.parsed = this.parsed.union(before);
  }

  /** A filter of what only stages know. */
  private decide(stage: Stage): string {
    this.stages.push(stage);
    this.decided += 1;
    return everything;
  }

  private read(node: Node): void {
    for (const child of node.children) {
      switch (child.name) {
        case "LogExpr":
        case "PipelineExpr":
          this.read(child);
          break;
        case "Selector":
          for (const matcher of itemsOf(childOf(child, "Matchers"), "Matcher")) {
            this.matched.push(needed(matcher, "Identifier").text);
            this.filter(() => this.ofMatcher(matcher));
          }
          break;
        case "PipelineStage":
          this.readStage(child);
          break;
      }
    }
  }

  private readStage(stage: Node): void {
    for (const child of stage.children) {
      switch (child.name) {
        case "Pipe":
        case "DecolorizeExpr":
          break;
        case "LineFilters":
          for (const line of itemsOf(child, "LineFilter")) {
            this.filter(() => this.hasNewLine ? this.ofNewLine(line) : ofLineFilter(line));
          }
          break;
        case "LabelParser":
        case "LogfmtParser":
          this.readParser(child);
          break;
        case "JsonExpressionParser":
        case "LogfmtExpressionParser":
          this.readExtractions(child);
          break;
        case "LabelFilter":
          this.readLabelFilter(child);
          break;
        case "DropLabelsExpr":
          this.hide(namesIn(child, "Drop"));
          break;
        case "KeepLabelsExpr":
          this.keep(new Set(namesIn(child, "Keep")));
          break;
        case "LineFormatExpr":
          this.readLineFormat(child);
          break;
        case "LabelFormatExpr":
          this.readLabelFormat(child);
          break;
        default:
          refuse(`| ${child.text.split(/[\s(]/, 1)[0]} is not supported`);
      }
    }
  }

  readLabelFilter(filter: Node): void {
    this.filter(() => this.ofLabelFilter(filter));
  }

  /** Leaves out records without a number in a field. */
  requireNumber(field: string): void {
    (this.parsed.has(field) ? this.lateFilters : this.filters).push(`${field}:[* TO *]`);
  }

  /** Leaves out records without a label. */
  requireLabel(name: string): void {
    const filter = ofFirst(this.fields(name), (field) => ofLabel(field, "!=", "", emptyOf(name)));
    (this.parsed.size > 0 ? this.lateFilters : this.filters).push(filter);
  }

  private hide(names: readonly string[]): void {
    for (const name of names) {
      this.isDropped.add(name);
      this.made.delete(name);
    }
    this.stages.push(({ labels, metadata, parsed }) => {
      for (const name of names) [labels, metadata, parsed].forEach((map) => map.delete(name));
      return true;
    });
  }

  private keep(names: ReadonlySet<string>): void {
    this.kept = new Set([...names].filter((name) => this.kept?.has(name) ?? true));
    this.stages.push((entry) => {
      for (const map of [entry.labels, entry.metadata, entry.parsed]) {
        for (const name of map.keys()) {
          // Loki keeps what tells that a line could not be parsed.
          if (!names.has(name) && !isInternal(name)) map.delete(name);
        }
      }
      return true;
    });
  }

  private readLineFormat(stage: Node): void {
    const format = templateOf("line_format", stringOf(needed(stage, "String").text));
    this.hasNewLine = true;
    this.stages.push((entry) => {
      entry.line = format((name) => name === "__line__" ? entry.line : labelOf(entry, name));
      return true;
    });
  }

  private readLabelFormat(stage: Node): void {
    for (const item of itemsOf(childOf(stage, "LabelsFormat"), "LabelFormatMatcher")) {
      const [{ text: name }, , value] = item.children;
      this.made.add(name);
      if (value.name === "Identifier") {
        this.made.add(value.text);
        this.stages.push((entry) => rename(entry, value.text, name));
        continue;
      }
      const format = templateOf("label_format", stringOf(value.text));
      this.stages.push((entry) => {
        const text = format((label) => label === "__line__" ? entry.line : labelOf(entry, label));
        [entry.labels, entry.metadata].forEach((map) => map.delete(name));
        entry.parsed.set(name, text);
        return true;
      });
    }
  }

  private readParser(node: Node): void {
    const [kind, ...rest] = node.children;
    if (rest.length > 0 || !["json", "logfmt"].includes(kind.text)) {
      refuse(`| ${node.text} is not supported: only json and logfmt are`);
    }
    this.parse(kind.text);
    const isJson = kind.text === "json";
    this.stages.push((entry) => {
      const json = isJson ? jsonOf(entry.line) : undefined;
      if (isJson && json === undefined) return fail(entry);
      const found = json === undefined ? labelsOfLogfmt(entry.line) : labelsOfJson(json);
      for (const [name, text] of found) {
        // Where the database parses lines, too, it gives their members as attributes.
        if (this.parsed.size > 0 && entry.metadata.get(name) === text) entry.metadata.delete(name);
        const isTaken = entry.labels.has(name) || entry.metadata.has(name);
        entry.parsed.set(isTaken ? `${name}_extracted` : name, text);
      }
      return true;
    });
  }

  private parse(kind: string): void {
    if (this.hasNewLine) refuse(`| ${kind} after line_format is not supported`);
    if (!this.parsers.includes(kind)) this.parsers.push(kind);
    if (this.isDropped.size > 0 || this.kept !== undefined) this.isParsedAfterHiding = true;
  }

  /** `| json method="http.method"`: a name for what the line holds there. */
  private readExtractions(node: Node): void {
    const kind = node.children[0].text;
    const [list, ...flags] = node.children.slice(1);
    if (flags.length > 0) refuse(`| ${kind}: ${list.text} is not supported`);
    this.parse(kind);
    for (const item of itemsOf(list, "LabelExtractionExpression")) {
      const name = needed(item, "Identifier").text;
      const source = childOf(item, "String");
      const path = pathOf(source === undefined ? name : stringOf(source.text), kind);
      this.extracted.set(name, path);
      const segments = segmentsOf(path);
      this.stages.push((entry) => {
        const json = kind === "json" ? jsonOf(entry.line) : undefined;
        if (kind === "json" && json === undefined) return fail(entry);
        const found = json === undefined
          ? labelsOfLogfmt(entry.line).get(segments.join("."))
          : memberOf(json, segments);
        if (found !== undefined) entry.parsed.set(name, found);
        return true;
      });
    }
  }

  private ofMatcher(matcher: Node): string {
    const [name, operator, value] = matcher.children;
    return this.ofText(name.text, operator.text, stringOf(value.text));
  }

  private ofText(name: string, operator: string, value: string): string {
    if (this.made.has(name) || name === parserError && this.parsers.includes("json")) {
      const stage: Stage = (entry) => isText(labelOf(entry, name), operator, value);
      if (name === parserError && operator === "=" && value === "") this.withoutErrors.add(stage);
      return this.decide(stage);
    }
    if (this.isAbsent(name)) return ofAbsent(operator, value);
    return ofFirst(
      this.fields(name),
      (field) => ofLabel(field, operator, value, emptyOf(name)),
    );
  }

  /** What no record has, or what drop and keep have taken away. */
  private isAbsent(name: string): boolean {
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

  /** `and` binds closer than `or`; a comma or nothing is `and`. The parser nests them as they come. */
  private ofLabelFilter(filter: Node): string {
    const { operands, operators } = chainOf(filter);
    const groups: string[][] = [[]];
    const { decided } = this;
    operands.forEach((operand, n) => {
      if (n > 0 && operators[n - 1] === "or") groups.push([]);
      groups[groups.length - 1].push(this.ofOneFilter(operand));
    });
    if (groups.length > 1 && this.decided > decided) {
      refuse(`${filter.text}: or with what a stage makes is not supported`);
    }
    return any(groups.map(all));
  }

  private ofOneFilter(filter: Node): string {
    const inner = filter.children[0];
    switch (inner.name) {
      case "LabelFilter":
        return this.ofLabelFilter(inner);
      case "Matcher":
        return this.ofMatcher(inner);
      case "UnitFilter":
        return this.ofNumber(inner.children[0]);
      case "NumberFilter":
        return this.ofNumber(inner);
      case "IpLabelFilter": {
        const name = needed(inner, "Identifier").text;
        const value = stringOf(needed(inner, "String").text);
        if (this.made.has(name)) refuse(`ip() of ${name}, which a stage makes, is not supported`);
        if (this.isAbsent(name)) return nothing;
        const operator = needed(inner, "Eq", "Neq").text;
        return ofFirst(this.fields(name), (field) => ofAddress(field, operator, value));
      }
      default:
        return refuse(`label filter ${filter.text} is not supported`);
    }
  }

  private ofNumber(filter: Node): string {
    const [{ text: name }, { text: operator }, literal] = filter.children;
    const bound = literal.text.replace(/\s/g, "");
    if (this.made.has(name)) {
      const number = Number(bytesOf(bound) ?? bound);
      if (Number.isNaN(number)) refuse(`${filter.text}: ${name} is compared with numbers alone`);
      return this.decide((entry) => isNumber(labelOf(entry, name), operator, number));
    }
    if (this.isAbsent(name)) return nothing;
    return ofFirst(this.fields(name), (field) => ofQuantity(field, operator, bound));
  }

  private ofNewLine(line: Node): string {
    const operator = needed(line, "Filter").text;
    const values = stringsOf(line);
    if (operator !== "|=" && operator !== "!=") {
      refuse(`${operator} after line_format is not supported: only |= and != are`);
    }
    return this.decide((entry) =>
      values.some((value) => entry.line.includes(value)) === (operator === "|=")
    );
  }
}

/** A label that is not there leaves the other name as it is. */
function rename({ labels, metadata, parsed }: Entry, from: string, to: string): true {
  const maps = [parsed, metadata, labels];
  const home = maps.find((map) => map.has(from));
  const text = home?.get(from);
  if (home === undefined || text === undefined) return true;
  maps.forEach((map) => map.delete(to));
  home.delete(from);
  home.set(to, text);
  return true;
}

/** What Loki says of a line that it cannot parse. */
function fail(entry: Entry): true {
  entry.parsed.set(parserError, "JSONParserErr");
  entry.parsed.set("__error_details__", "the line is no JSON object");
  return true;
}

function memberOf(json: Record<string, unknown>, segments: readonly string[]): string | undefined {
  let member: unknown = json;
  for (const key of segments) {
    if (typeof member !== "object" || member === null || !Object.hasOwn(member, key)) {
      return undefined;
    }
    member = (member as Record<string, unknown>)[key];
  }
  return textOfMember(member) ?? (member === null ? undefined : JSON.stringify(member));
}

function isNumber(text: string, operator: string, bound: number): boolean {
  const number = text.trim() === "" ? NaN : Number(text);
  if (Number.isNaN(number)) return false;
  const sign = Math.sign(number - bound);
  const signs: Record<string, number[]> = {
    "=": [0],
    "==": [0],
    "!=": [-1, 1],
    ">": [1],
    ">=": [0, 1],
    "<": [-1],
    "<=": [-1, 0],
  };
  return signs[operator]?.includes(sign) ?? refuse(`label filter ${operator} is not supported`);
}

/** Half of what our language takes, of letters and of terms: the rest is for what is selected, and for groups. */
function isShort(dsl: string): boolean {
  return dsl.length <= 1024 && dsl.split(/:| OR /).length <= 32;
}

/** What a query selects by fields of records and by lines, in our query language. */
export function selectionOf(expression: Node): string {
  const filtersOf = (node: Node): string[] =>
    node.children.flatMap((child) => {
      switch (child.name) {
        case "LogExpr":
        case "PipelineExpr":
        case "PipelineStage":
          return filtersOf(child);
        case "Selector":
          return itemsOf(childOf(child, "Matchers"), "Matcher").flatMap((matcher) => {
            const [{ text: name }, operator, value] = matcher.children;
            const field = recordField(name);
            return field === undefined
              ? []
              : [ofLabel(field, operator.text, stringOf(value.text), emptyOf(name))];
          });
        case "LineFilters":
          return itemsOf(child, "LineFilter").map(ofLineFilter);
        default:
          return [];
      }
    });
  return all(filtersOf(expression));
}

/** The value of a label that a record does not have. */
function emptyOf(name: string): string {
  return name === "detected_level" ? unknownLevel : "";
}

function ofLineFilter(line: Node): string {
  const operator = needed(line, "Filter").text;
  const values = stringsOf(line);
  if (!operator.startsWith("!")) return any(values.map((value) => ofLine(operator, value)));
  return all(values.map((value) => ofLine(operator, value)));
}

function stringsOf(line: Node): string[] {
  const values: string[] = [];
  for (let at: Node | undefined = line; at !== undefined; at = childOf(at, "OrFilter")) {
    if (childOf(at, "FilterOp") !== undefined) refuse("ip() of a line is not supported");
    values.push(stringOf(needed(at, "String").text));
  }
  return values;
}

function chainOf(filter: Node): { operands: Node[]; operators: string[] } {
  const [left, ...rest] = filter.children;
  const right = rest[rest.length - 1];
  // In brackets the text begins before the first part.
  if (left.name !== "LabelFilter" || right?.name !== "LabelFilter" || filter.from !== left.from) {
    return { operands: [filter], operators: [] };
  }
  const first = chainOf(left);
  const second = chainOf(right);
  return {
    operands: [...first.operands, ...second.operands],
    operators: [
      ...first.operators,
      rest.length > 1 && rest[0].name === "Or" ? "or" : "and",
      ...second.operators,
    ],
  };
}

function namesIn(node: Node, kind: "Drop" | "Keep"): string[] {
  return itemsOf(childOf(node, `${kind}Labels`), `${kind}Label`).map((label) => {
    const name = childOf(label, "Identifier");
    return name?.text ?? refuse(`| ${kind.toLowerCase()} ${label.text}: only names are supported`);
  });
}

/** `http.method` or `["http"]["method"]`. */
function pathOf(source: string, kind: string): string {
  const parts = source.match(/[\w-]+|\["(?:[^"\\]|\\.)*"\]/g) ?? [];
  const joined = parts.map((part) => part.startsWith("[") ? part : `.${part}`).join("");
  if (joined.replace(/^\./, "") !== source.replace(/^\./, "") || parts.length > 5) {
    return refuse(`| ${kind} ${JSON.stringify(source)}: only names of members are supported`);
  }
  const names = parts.map((part) => part.startsWith("[") ? stringOf(part.slice(1, -1)) : part);
  return ["attrs", ...names.map((name) => /^[\w-]+$/.test(name) ? name : quoted(name))].join(".");
}
