import {
  all,
  any,
  everything,
  nothing,
  ofAddress,
  ofLabel,
  ofLine,
  ofQuantity,
} from "./matchers.ts";
import { fieldNamed, isInternal, type Names, recordField, unknownLevel } from "./names.ts";
import { refuse } from "./refusal.ts";
import { quoted, stringOf } from "./texts.ts";
import { childOf, itemsOf, needed, type Node } from "./tree.ts";

/** Which records a LogQL query is about, in our query language. */
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

  /** Whether drop and keep leave a label in the answer. */
  shows(name: string): boolean {
    return !this.isDropped.has(name) && (this.kept?.has(name) ?? true);
  }

  /** The field that a name means at the end of the pipeline. */
  field(name: string): string {
    const field = this.extracted.get(name) ?? fieldNamed(name, this.names);
    // A group or a number of records that have it as an attribute is that: not all lines are parsed for others.
    const isAttribute = !this.isFiltering && this.names.has(name);
    const isParsed = this.parsers.length > 0 && recordField(name) === undefined && !isAttribute;
    if (isParsed || this.extracted.has(name)) this.parsed.add(field);
    return field;
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
      const found = new Set(this.names.values());
      if ([...this.parsed].every((field) => found.has(field))) {
        this.earlyFilters.push(any([filter, ...[...this.parsed].map((field) => `-${field}:*`)]));
      }
    }
    this.parsed = this.parsed.union(before);
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
          for (const line of itemsOf(child, "LineFilter")) this.filter(() => ofLineFilter(line));
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
          for (const name of namesIn(child, "Drop")) this.isDropped.add(name);
          break;
        case "KeepLabelsExpr":
          this.kept = new Set(namesIn(child, "Keep"));
          break;
        default:
          refuse(`| ${child.text.split(/[\s(]/, 1)[0]} is not supported`);
      }
    }
  }

  readLabelFilter(filter: Node): void {
    this.filter(() => this.ofLabelFilter(filter));
  }

  /** Leaves out records without a field. */
  require(field: string): void {
    (this.parsed.has(field) ? this.lateFilters : this.filters).push(`${field}:*`);
  }

  private readParser(node: Node): void {
    const [kind, ...rest] = node.children;
    if (rest.length > 0 || !["json", "logfmt"].includes(kind.text)) {
      refuse(`| ${node.text} is not supported: only json and logfmt are`);
    }
    if (!this.parsers.includes(kind.text)) this.parsers.push(kind.text);
  }

  /** `| json method="http.method"`: a name for what the line holds there. */
  private readExtractions(node: Node): void {
    const kind = node.children[0].text;
    const [list, ...flags] = node.children.slice(1);
    if (flags.length > 0) refuse(`| ${kind}: ${list.text} is not supported`);
    if (!this.parsers.includes(kind)) this.parsers.push(kind);
    for (const item of itemsOf(list, "LabelExtractionExpression")) {
      const name = needed(item, "Identifier").text;
      const source = childOf(item, "String");
      this.extracted.set(name, pathOf(source === undefined ? name : stringOf(source.text), kind));
    }
  }

  private ofMatcher(matcher: Node): string {
    const [name, operator, value] = matcher.children;
    return this.ofText(name.text, operator.text, stringOf(value.text));
  }

  private ofText(name: string, operator: string, value: string): string {
    if (!isInternal(name)) {
      return ofLabel(this.field(name), operator, value, emptyOf(name));
    }
    // No record has it: it is an empty text, like the level of a record that has none.
    const found = ofLabel("level", operator.replace(/^!=?/, "="), value);
    const isEmpty = found === everything || found.includes("-level:*");
    return isEmpty !== operator.startsWith("!") ? everything : nothing;
  }

  /** `and` binds closer than `or`; a comma or nothing is `and`. The parser nests them as they come. */
  private ofLabelFilter(filter: Node): string {
    const { operands, operators } = chainOf(filter);
    const groups: string[][] = [[]];
    operands.forEach((operand, n) => {
      if (n > 0 && operators[n - 1] === "or") groups.push([]);
      groups[groups.length - 1].push(this.ofOneFilter(operand));
    });
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
        return ofAddress(this.field(name), needed(inner, "Eq", "Neq").text, value);
      }
      default:
        return refuse(`label filter ${filter.text} is not supported`);
    }
  }

  private ofNumber(filter: Node): string {
    const [name, operator, literal] = filter.children;
    return ofQuantity(this.field(name.text), operator.text, literal.text.replace(/\s/g, ""));
  }
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
  const values: string[] = [];
  for (let at: Node | undefined = line; at !== undefined; at = childOf(at, "OrFilter")) {
    if (childOf(at, "FilterOp") !== undefined) refuse("ip() of a line is not supported");
    values.push(stringOf(needed(at, "String").text));
  }
  if (!operator.startsWith("!")) return any(values.map((value) => ofLine(operator, value)));
  return all(values.map((value) => ofLine(operator, value)));
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
