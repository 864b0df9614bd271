import { LogQuery } from "./logs.ts";
import { type NamesOf, streamFields } from "./names.ts";
import { refuse } from "./refusal.ts";
import { wholeSeconds } from "./times.ts";
import { stringOf } from "./texts.ts";
import { childOf, itemsOf, needed, type Node } from "./tree.ts";

/** What a metric query computes. */
export type Metric =
  | { readonly kind: "number"; readonly value: number }
  /** vector(1): one series without labels. */
  | { readonly kind: "vector"; readonly value: number }
  | Range
  | {
    readonly kind: "aggregate";
    readonly operator: string;
    readonly count: number;
    readonly grouping: Grouping;
    readonly of: Metric;
  }
  | {
    readonly kind: "binary";
    readonly operator: string;
    readonly matching: Matching;
    readonly left: Metric;
    readonly right: Metric;
  }
  /** 1 where a range has no record. */
  | { readonly kind: "absent"; readonly of: Range; readonly labels: Record<string, string> }
  | {
    readonly kind: "label_replace";
    readonly of: Metric;
    readonly target: string;
    readonly replacement: string;
    readonly source: string;
    readonly pattern: string;
  };

/** How an operator finds the series that belong together. */
export interface Matching {
  readonly isBool: boolean;
  /** Undefined where all labels count. */
  readonly labels: { readonly isOn: boolean; readonly names: readonly string[] } | undefined;
}

/** A function over the records of a time that ends at each step. */
export interface Range {
  readonly kind: "range";
  readonly logs: LogQuery;
  /** An aggregate of our query language; undefined where only records tell. */
  readonly aggregate: string | undefined;
  /** How the values of adjacent times become that of both; undefined where they cannot. */
  readonly joins: "sum" | "min" | "max" | undefined;
  /** The same by records. */
  readonly sampled: Sampled;
  readonly seconds: number;
  readonly isPerSecond: boolean;
  readonly offset: number;
  /** Names of labels. */
  readonly by: readonly string[];
  /** By a grouping of its own, outside of which it has no labels. */
  readonly isGrouped: boolean;
}

export interface Sampled {
  readonly name: string;
  /** Of quantile_over_time. */
  readonly number: number;
  /** Undefined where records count, or their lines' bytes. */
  readonly unwrapped:
    | { readonly name: string; readonly conversion: string | undefined }
    | undefined;
}

export interface Grouping {
  readonly isWithout: boolean;
  readonly names: readonly string[];
}

const aggregations = [
  ...["sum", "avg", "min", "max", "count", "stddev", "stdvar"],
  ...["topk", "bottomk", "sort", "sort_desc"],
];

/** Of an Expr or a MetricExpr. */
export function metricOf(node: Node, namesOf: NamesOf): Metric {
  const { operands, operators } = chainOf(node);
  if (operators.length > 0) return computed(operands, operators, namesOf);
  const inner = node.children[0] ?? refuse(`${node.text} is not supported`);
  switch (inner.name) {
    case "Expr":
    case "MetricExpr":
      return metricOf(inner, namesOf);
    case "BinOpExpr":
      return metricOf(node, namesOf);
    case "LiteralExpr":
      return { kind: "number", value: Number(inner.text.replace(/\s/g, "")) };
    case "VectorExpr":
      return { kind: "vector", value: Number(needed(inner, "Number", "LiteralExpr").text) };
    case "RangeAggregationExpr":
      return needed(inner, "RangeOp").text === "absent_over_time"
        ? absenceOf(inner, namesOf)
        : rangeOf(inner, namesOf);
    case "LabelReplaceExpr":
      return replacementOf(inner, namesOf);
    case "VectorAggregationExpr":
      return aggregationOf(inner, namesOf);
    case "LogExpr":
      return refuse("a metric query is needed here, and this finds records");
    default:
      return refuse(`${inner.text.split(/[\s(]/, 1)[0]} is not supported`);
  }
}

const precedences: Record<string, number> = {
  "or": 1,
  "and": 2,
  "unless": 2,
  "==": 3,
  "!=": 3,
  ">": 3,
  ">=": 3,
  "<": 3,
  "<=": 3,
  "+": 4,
  "-": 4,
  "*": 5,
  "/": 5,
  "%": 5,
  "^": 6,
};

interface Operator {
  readonly sign: string;
  readonly matching: Matching;
}

function matchingOf(modifier: Node | undefined): Matching {
  if (modifier === undefined || modifier.text.trim() === "") {
    return { isBool: false, labels: undefined };
  }
  const group = childOf(modifier, "GroupLeft", "GroupRight");
  if (group !== undefined) refuse(`${group.text} is not supported`);
  const labels = childOf(modifier, "OnOrIgnoringModifier");
  const names = (node: Node): string[] =>
    node.name === "LabelName" ? [node.text] : node.children.flatMap(names);
  return {
    isBool: childOf(modifier, "Bool") !== undefined,
    labels: labels && { isOn: childOf(labels, "On") !== undefined, names: names(labels) },
  };
}

/** The parser nests operators as they come, so they are put in order here. */
function chainOf(node: Node): { operands: Node[]; operators: Operator[] } {
  let inner = node;
  while (inner.children.length === 1 && inner.children[0].text === inner.text) {
    inner = inner.children[0];
  }
  if (inner.name !== "BinOpExpr") return { operands: [node], operators: [] };
  const [left, operator] = inner.children;
  const first = chainOf(left);
  const second = chainOf(inner.children[inner.children.length - 1]);
  return {
    operands: [...first.operands, ...second.operands],
    operators: [
      ...first.operators,
      { sign: operator.text, matching: matchingOf(childOf(inner, "BinOpModifier")) },
      ...second.operators,
    ],
  };
}

function computed(
  operands: readonly Node[],
  operators: readonly Operator[],
  namesOf: NamesOf,
): Metric {
  const values = operands.map((operand) => metricOf(operand, namesOf));
  let next = 0;
  const from = (least: number): Metric => {
    let left = values[next];
    while (next < operators.length) {
      const { sign: operator, matching } = operators[next];
      const precedence = precedences[operator] ?? refuse(`${operator} is not supported`);
      if (precedence < least) break;
      next += 1;
      // Only ^ binds to the right.
      const right = from(operator === "^" ? precedence : precedence + 1);
      left = { kind: "binary", operator, matching, left, right };
    }
    return left;
  };
  return from(1);
}

function aggregationOf(node: Node, namesOf: NamesOf): Metric {
  const operator = needed(node, "VectorOp").text;
  if (!aggregations.includes(operator)) refuse(`${operator} is not supported`);
  const number = childOf(node, "Number");
  const isTop = operator.endsWith("k");
  if (isTop !== (number !== undefined)) {
    refuse(`${operator}: ${isTop ? "a" : "no"} number is needed`);
  }
  const of = metricOf(needed(node, "MetricExpr"), namesOf);
  const grouping = groupingOf(node);
  // What the database can do in one go.
  const joins = of.kind === "range" ? of.joins : undefined;
  if (of.kind === "range" && joins === operator && of.aggregate !== undefined) {
    return { ...of, by: groupedBy(of, grouping), isGrouped: true };
  }
  return { kind: "aggregate", operator, count: Number(number?.text), grouping, of };
}

function groupingOf(node: Node): Grouping {
  const grouping = childOf(node, "Grouping");
  if (grouping === undefined) return { isWithout: false, names: [] };
  return {
    isWithout: childOf(grouping, "Without") !== undefined,
    names: [
      ...new Set(itemsOf(childOf(grouping, "Labels"), "Identifier").map(({ text }) => text)),
    ],
  };
}

function groupedBy(
  { by, isGrouped, logs }: Pick<Range, "by" | "isGrouped" | "logs">,
  { isWithout, names }: Grouping,
): readonly string[] {
  if (isWithout) return by.filter((name) => !names.includes(name));
  return isGrouped ? names.filter((name) => by.includes(name)) : logs.grouped(names);
}

function rangeOf(node: Node, namesOf: NamesOf): Range {
  const name = needed(node, "RangeOp").text;
  const range = needed(node, "LogRangeExpr");
  const logs = new LogQuery(range, namesOf(range));
  const unwrapped = unwrappedBy(childOf(range, "UnwrapExpr"), logs);
  const offset = childOf(range, "OffsetExpr");
  const seconds = wholeSeconds(needed(needed(range, "Range"), "Duration").text);
  const all = streamFields.filter((field) => logs.shows(field));
  const ungrouped = { by: all, isGrouped: false, logs };
  return {
    kind: "range",
    ...functionOf(name, unwrapped, childOf(node, "Number")?.text, logs),
    seconds,
    offset: offset === undefined ? 0 : wholeSeconds(needed(offset, "Duration").text),
    ...ungrouped,
    ...childOf(node, "Grouping") !== undefined &&
      { by: groupedBy(ungrouped, groupingOf(node)), isGrouped: true },
  };
}

function absenceOf(node: Node, namesOf: NamesOf): Metric {
  const range = needed(node, "LogRangeExpr");
  const matchers = itemsOf(childOf(needed(range, "Selector"), "Matchers"), "Matcher")
    .map(({ children: [name, operator, value] }) => ({
      name: name.text,
      value: operator.text === "=" ? stringOf(value.text) : "",
    }));
  // As Loki: what the selector says of a label by one equality.
  const told = matchers.filter(({ name, value }) =>
    value !== "" && matchers.filter((other) => other.name === name).length === 1
  );
  return {
    kind: "absent",
    of: { ...rangeOf(node, namesOf), by: [] },
    labels: Object.fromEntries(told.map(({ name, value }) => [name, value])),
  };
}

function replacementOf(node: Node, namesOf: NamesOf): Metric {
  const [target, replacement, source, pattern] = node.children
    .filter(({ name }) => name === "String").map(({ text }) => stringOf(text));
  if (pattern === undefined) refuse("label_replace takes four texts");
  if (!/^[A-Za-z_]\w*$/.test(target)) refuse(`invalid label name ${JSON.stringify(target)}`);
  const of = metricOf(needed(node, "MetricExpr"), namesOf);
  return { kind: "label_replace", of, target, replacement, source, pattern };
}

type Unwrapped = Sampled["unwrapped"];

/** The label whose number is taken. */
function unwrappedBy(node: Node | undefined, logs: LogQuery): Unwrapped {
  if (node === undefined) return undefined;
  const inner = childOf(node, "UnwrapExpr");
  const filter = childOf(node, "LabelFilter");
  if (filter !== undefined) logs.readLabelFilter(filter);
  if (inner !== undefined) {
    const unwrapped = unwrappedBy(inner, logs);
    if (unwrapped !== undefined) logs.unwraps(unwrapped.name);
    return unwrapped;
  }
  const conversion = childOf(node, "ConvOp")?.text;
  if (!["bytes", "duration", "duration_seconds", undefined].includes(conversion)) {
    refuse(`unwrap ${conversion}() is not supported`);
  }
  const name = needed(node, "Identifier").text;
  logs.unwraps(name);
  return { name, conversion };
}

const overTimeOfRecords = [
  "count_over_time",
  "rate",
  "bytes_over_time",
  "bytes_rate",
  "absent_over_time",
];
const overTimeOfNumbers = [
  ...[
    "count_over_time",
    "rate",
    "sum_over_time",
    "avg_over_time",
    "min_over_time",
    "max_over_time",
  ],
  ...["first_over_time", "last_over_time", "stddev_over_time", "stdvar_over_time"],
  ...["quantile_over_time", "absent_over_time"],
];

function functionOf(
  name: string,
  unwrapped: Unwrapped,
  number: string | undefined,
  logs: LogQuery,
): Pick<Range, "aggregate" | "joins" | "isPerSecond" | "sampled"> {
  const known = unwrapped === undefined ? overTimeOfRecords : overTimeOfNumbers;
  if (!known.includes(name)) {
    const isOther = [...overTimeOfNumbers, ...overTimeOfRecords].includes(name);
    const how = unwrapped === undefined ? "without" : "with";
    refuse(`${name} is not supported${isOther ? ` ${how} unwrap` : ""}`);
  }
  const shared = {
    sampled: { name, number: Number(number), unwrapped },
    isPerSecond: name === "rate" || name === "bytes_rate",
  };
  const byRecords = { ...shared, aggregate: undefined, joins: undefined };
  const percentile = name === "quantile_over_time" ? percentileOf(number) : undefined;
  if (unwrapped === undefined) {
    return name.startsWith("bytes_")
      ? byRecords
      : { ...shared, aggregate: "count()", joins: "sum" };
  }
  if (unwrapped.conversion !== undefined || logs.makes(unwrapped.name)) return byRecords;
  const field = logs.field(unwrapped.name);
  if (!field.startsWith("attrs.")) refuse(`unwrap ${field}: only attributes hold numbers`);
  switch (name) {
    case "count_over_time":
    case "absent_over_time":
      // Only records that have the number are counted.
      logs.requireNumber(field);
      return { ...shared, aggregate: "count()", joins: "sum" };
    case "sum_over_time":
    case "rate":
      // A sum of no numbers is no sample.
      logs.requireNumber(field);
      return { ...shared, aggregate: `sum(${field})`, joins: "sum" };
    case "min_over_time":
    case "max_over_time": {
      const joins = name === "min_over_time" ? "min" : "max";
      return { ...shared, aggregate: `${joins}(${field})`, joins };
    }
    case "avg_over_time":
      return { ...shared, aggregate: `avg(${field})`, joins: undefined };
    case "quantile_over_time":
      return { ...shared, aggregate: `${percentile}(${field})`, joins: undefined };
    default:
      return byRecords;
  }
}

/** `0.99` is p99. */
function percentileOf(number: string | undefined): string {
  const percent = Math.round(Number(number) * 1e6) / 1e4;
  return percent >= 0 && percent <= 100
    ? `p${percent}`
    : refuse(`quantile_over_time: 0 to 1 is needed, and this is ${number}`);
}
