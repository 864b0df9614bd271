import { capturers } from "./capturing_parsers.ts";
import { LabelFields } from "./label_fields.ts";
import { templateOf } from "./line_parsers.ts";
import {
  all,
  any,
  everything,
  isShort,
  nothing,
  ofAbsent,
  ofAddress,
  ofFirst,
  ofLabel,
  ofLine,
  ofQuantity,
} from "./matchers.ts";
import { emptyOf, nameOfField, type Names, recordField, segmentsOf } from "./label_names.ts";
import { refuse } from "./loki_error.ts";
import {
  type Entry,
  extracting,
  havingInLine,
  havingNumber,
  havingText,
  parserError,
  parsing,
  renaming,
  type Stage,
  writingLabel,
  writingLine,
} from "./pipeline_stages.ts";
import {
  childOf,
  filterChainOf,
  itemsOf,
  namesIn,
  needed,
  type Node,
  pathOf,
  stringsOf,
} from "./syntax_tree.ts";
import { stringOf } from "./string_literals.ts";

/** A LogQL query, translated into our query language, and the stages that the edge function runs on each record. */
export class LogQuery extends LabelFields {
  /** Filters of the records' own fields; the late ones are for members of parsed lines. */
  private readonly filters: string[] = [];
  private readonly lateFilters: string[] = [];
  /** The part of the late filters that needs no parsed line. It runs first, so that fewer lines are parsed. */
  private readonly earlyFilters: string[] = [];
  /** The filters that do not depend on names of attributes. */
  private readonly selecting: string[] = [];
  /** The names in the selector. */
  readonly selected: string[] = [];
  /** The number of filters that the database cannot decide, only stages can. */
  private decided = 0;
  /** Stages that remove lines that are not JSON, for the filters that only stages can decide. */
  private readonly withoutErrors = new Set<Stage>();

  constructor(expression: Node, names: Names) {
    super(names);
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
      ...this.parsersInDatabase.map(({ stage }) => stage),
      ...late === everything ? [] : [`where ${late}`],
    ].join(" | ");
  }

  /** The filter on fields of records and on lines, in our query language. */
  get selection(): string {
    return all(this.selecting);
  }

  /** Whether stages here filter the records that the database finds. */
  get isDecidedByRecord(): boolean {
    return this.decided > 0;
  }

  /** Runs the stages. False if one of them leaves the record out. */
  pass(entry: Entry): boolean {
    return this.stages.every((stage) => stage(entry) !== false);
  }

  /** `unwrap` of a member of the line: the number proves that the line was parsed. */
  unwraps(name: string): void {
    const isParsed = this.hasParsed("json") && this.parsers.length === 1;
    if (this.names.has(name) || this.made.has(name) || !isParsed) return;
    for (const stage of this.withoutErrors) this.stages.splice(this.stages.indexOf(stage), 1);
    this.decided -= this.withoutErrors.size;
    this.withoutErrors.clear();
  }

  private filter(make: () => string): void {
    const { filter, early } = this.filterOf(make);
    (early === undefined ? this.filters : this.lateFilters).push(filter);
    if (early !== undefined && early !== everything) this.earlyFilters.push(early);
  }

  /** Adds a stage that decides about each record. Returns a filter that lets every record through. */
  private decide(stage: Stage): string {
    this.stages.push(stage);
    this.decided += 1;
    return everything;
  }

  private read(node: Node): void {
    for (const child of node.children) {
      if (["LogExpr", "PipelineExpr"].includes(child.name)) this.read(child);
      else if (child.name === "PipelineStage") child.children.forEach((one) => this.readStage(one));
      else if (child.name === "Selector") {
        for (const matcher of itemsOf(childOf(child, "Matchers"), "Matcher")) {
          const name = needed(matcher, "Identifier").text;
          this.selected.push(name);
          this.filter(() => this.ofMatcher(matcher));
          if (recordField(name) !== undefined) this.selecting.push(this.filters.at(-1)!);
        }
      }
    }
  }

  private readStage(stage: Node): void {
    switch (stage.name) {
      case "Pipe":
      case "DecolorizeExpr":
        return;
      case "LineFilters":
        return itemsOf(stage, "LineFilter").forEach((line) => this.readLineFilter(line));
      case "LabelParser":
      case "LogfmtParser":
        return this.readParser(stage);
      case "JsonExpressionParser":
      case "LogfmtExpressionParser":
        return this.readExtractions(stage);
      case "LabelFilter":
        return this.readLabelFilter(stage);
      case "DropLabelsExpr":
        this.stages.push(this.hide(namesIn(stage, "Drop")));
        return;
      case "KeepLabelsExpr":
        this.stages.push(this.keep(new Set(namesIn(stage, "Keep"))));
        return;
      case "LineFormatExpr":
        this.hasNewLine = true;
        this.stages.push(
          writingLine(templateOf("line_format", stringOf(needed(stage, "String").text))),
        );
        return;
      case "LabelFormatExpr":
        return this.readLabelFormat(stage);
      default:
        refuse(`| ${stage.text.split(/[\s(]/, 1)[0]} is not supported`);
    }
  }

  private readLineFilter(line: Node): void {
    const operator = needed(line, "Filter").text;
    const values = stringsOf(line);
    if (!this.hasNewLine) {
      const joined = operator.startsWith("!") ? all : any;
      this.filters.push(joined(values.map((value) => ofLine(operator, value))));
      this.selecting.push(this.filters.at(-1)!);
    } else if (operator.endsWith(">")) {
      refuse(`${operator} after line_format is not supported`);
    } else this.decide(havingInLine(operator, values));
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

  private readLabelFormat(stage: Node): void {
    for (const item of itemsOf(childOf(stage, "LabelsFormat"), "LabelFormatMatcher")) {
      const [{ text: name }, , value] = item.children;
      this.made.add(name);
      if (value.name === "Identifier") {
        this.made.add(value.text);
        this.stages.push(renaming(value.text, name));
      } else {
        this.stages.push(writingLabel(name, templateOf("label_format", stringOf(value.text))));
      }
    }
  }

  private readParser(node: Node): void {
    const [kind, ...rest] = node.children;
    const capturer = capturers[kind.text];
    if (capturer !== undefined) return this.capture(capturer(stringOf(rest[0].text)));
    if (rest.length > 0 || !["json", "logfmt"].includes(kind.text)) {
      refuse(`| ${node.text} is not supported: only json, logfmt, pattern and regexp are`);
    }
    this.parse(kind.text, true);
    this.stages.push(parsing(kind.text));
  }

  /** `| json method="http.method"`: names the value at a path of the line. */
  private readExtractions(node: Node): void {
    const kind = node.children[0].text;
    const [list, ...flags] = node.children.slice(1);
    if (flags.length > 0) refuse(`| ${kind}: ${list.text} is not supported`);
    this.parse(kind, false);
    for (const item of itemsOf(list, "LabelExtractionExpression")) {
      const name = needed(item, "Identifier").text;
      const source = childOf(item, "String");
      const path = pathOf(source === undefined ? name : stringOf(source.text), kind);
      // The database would take an attribute of the record for the member.
      if ([name, nameOfField(path)].some((one) => this.names.has(one) || recordField(one))) {
        this.made.add(name);
      } else this.extracted.set(name, path);
      this.stages.push(extracting(kind, name, segmentsOf(path)));
    }
  }

  private ofMatcher(matcher: Node): string {
    const [{ text: name }, { text: operator }, { text: literal }] = matcher.children;
    const value = stringOf(literal);
    if (this.made.has(name) || name === parserError && this.hasParsed("json")) {
      const stage = havingText(name, operator, value);
      if (name === parserError && operator === "=" && value === "") this.withoutErrors.add(stage);
      return this.decide(stage);
    }
    if (this.isAbsent(name)) return ofAbsent(operator, value);
    return this.ofFields(
      name,
      (field) => ofLabel(field, operator, value, emptyOf(name)),
      ofAbsent(operator, value) === everything,
    );
  }

  /** `and` binds closer than `or`; a comma or no operator means `and`. The parser nests in the order of the text. */
  private ofLabelFilter(filter: Node): string {
    const { operands, operators } = filterChainOf(filter);
    const groups: string[][] = [[]];
    const { decided } = this;
    operands.forEach((operand, n) => {
      if (n > 0 && operators[n - 1] === "or") groups.push([]);
      groups[groups.length - 1].push(this.ofOneFilter(operand));
    });
    if (groups.length > 1 && this.decided > decided) {
      refuse(`${filter.text}: or with a label that a stage makes is not supported`);
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
        if (this.made.has(name)) {
          refuse(`ip() of ${name} is not supported: a stage makes this label`);
        }
        if (this.isAbsent(name)) return nothing;
        const operator = needed(inner, "Eq", "Neq").text;
        return this.ofFields(name, (field) => ofAddress(field, operator, value));
      }
      default:
        return refuse(`label filter ${filter.text} is not supported`);
    }
  }

  private ofNumber(filter: Node): string {
    const [{ text: name }, { text: operator }, literal] = filter.children;
    const bound = literal.text.replace(/\s/g, "");
    if (/^-?0x/i.test(bound)) refuse(`label filter ${filter.text}: ${bound} is not a number`);
    if (this.made.has(name)) return this.decide(havingNumber(name, operator, bound));
    if (this.isAbsent(name)) return nothing;
    return this.ofFields(name, (field) => ofQuantity(field, operator, bound));
  }
}
