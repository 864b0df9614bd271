import { LogQuery } from "./logs.ts";
import { type NamesOf, streamFields } from "./names.ts";
import { refuse } from "./refusal.ts";
import { wholeSeconds } from "./times.ts";
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
    readonly left: Metric;
    readonly right: Metric;
  };

/** A function over the records of a time that ends at each step. */
export interface Range {
  readonly kind: "range";
  readonly logs: LogQuery;
  /** An aggregate of our query language. */
  readonly aggregate: string;
  /** How the values of adjacent times become that of both; undefined where they cannot. */
  readonly joins: "sum" | "min" | "max" | undefined;
  readonly seconds: number;
  readonly isPerSecond: boolean;
  readonly offset: number;
  /** Names of labels. */
  readonly by: readonly string[];
}

export interface Grouping {
  readonly isWithout: boolean;
  readonly names: readonly string[];
}

const aggregations = ["sum", "avg", "min", "max", "count", "topk", "bottomk"];

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
      return rangeOf(inner, namesOf);
    case "VectorAggregationExpr":
      return aggregationOf(inner, namesOf);
    case "LogExpr":
      return refuse("a metric query is needed here, and this finds records");
    default:
      return refuse(`${inner.text.split(/[\s(]/, 1)[0]} is not supported`);
  }
}

const precedences: Record<string, number> = {
  "==": 1,
  "!=": 1,
  ">": 1,
  ">=": 1,
  "<": 1,
  "<=": 1,
  "+": 2,
  "-": 2,
  "*": 3,
  "/": 3,
  "%": 3,
  "^": 4,
};

/** The parser nests operators as they come, so they are put in order here. */
function chainOf(node: Node): { operands: Node[]; operators: string[] } {
  let inner = node;
  while (inner.children.length === 1 && inner.children[0].text === inner.text) {
    inner = inner.children[0];
  }
  if (inner.name !== "BinOpExpr") return { operands: [node], operators: [] };
  const modifier = childOf(inner, "BinOpModifier");
  if (modifier !== undefined && modifier.text.trim() !== "") {
    refuse(`${modifier.text.trim()} is not supported`);
  }
  const [left, operator] = inner.children;
  const first = chainOf(left);
  const second = chainOf(inner.children[inner.children.length - 1]);
  return {
    operands: [...first.operands, ...second.operands],
    operators: [...first.operators, operator.text, ...second.operators],
  };
}

function computed(
  operands: readonly Node[],
  operators: readonly string[],
  namesOf: NamesOf,
): Metric {
  const values = operands.map((operand) => metricOf(operand, namesOf));
  let next = 0;
  const from = (least: number): Metric => {
    let left = values[next];
    while (next < operators.length) {
      const operator = operators[next];
      const precedence = precedences[operator] ?? refuse(`${operator} is not supported`);
      if (precedence < least) break;
      next += 1;
      // Only ^ binds to the right.
      const right = from(operator === "^" ? precedence : precedence + 1);
      left = { kind: "binary", operator, left, right };
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
  if (of.kind === "range" && joins === operator) return { ...of, by: groupedBy(of.by, grouping) };
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

function groupedBy(names: readonly string[], grouping: Grouping): readonly string[] {
  return grouping.isWithout
    ? names.filter((name) => !grouping.names.includes(name))
    : grouping.names;
}

function rangeOf(node: Node, namesOf: NamesOf): Range {
  const name = needed(node, "RangeOp").text;
  const range = needed(node, "LogRangeExpr");
  const logs = new LogQuery(range, namesOf(range));
  const unwrapped = unwrappedBy(childOf(range, "UnwrapExpr"), logs);
  // Only records that have the number are counted.
  if (unwrapped !== undefined && name === "count_over_time") logs.require(unwrapped);
  const offset = childOf(range, "OffsetExpr");
  const seconds = wholeSeconds(needed(needed(range, "Range"), "Duration").text);
  const grouping = groupingOf(node);
  const all = streamFields.filter((field) => logs.shows(field));
  return {
    kind: "range",
    logs,
    ...functionOf(name, unwrapped, childOf(node, "Number")?.text),
    seconds,
    offset: offset === undefined ? 0 : wholeSeconds(needed(offset, "Duration").text),
    by: childOf(node, "Grouping") === undefined ? all : groupedBy(all, grouping),
  };
}

/** The field whose number is taken. */
function unwrappedBy(node: Node | undefined, logs: LogQuery): string | undefined {
  if (node === undefined) return undefined;
  const inner = childOf(node, "UnwrapExpr");
  const filter = childOf(node, "LabelFilter");
  if (filter !== undefined) logs.readLabelFilter(filter);
  if (inner !== undefined) return unwrappedBy(inner, logs);
  const conversion = childOf(node, "ConvOp");
  if (conversion !== undefined) refuse(`unwrap ${conversion.text}() is not supported`);
  const field = logs.field(needed(node, "Identifier").text);
  return field.startsWith("attrs.")
    ? field
    : refuse(`unwrap ${field}: only attributes hold numbers`);
}

function functionOf(
  name: string,
  unwrapped: string | undefined,
  number: string | undefined,
): Pick<Range, "aggregate" | "joins" | "isPerSecond"> {
  if (unwrapped === undefined) {
    if (name !== "count_over_time" && name !== "rate") {
      refuse(
        name.startsWith("bytes_")
          ? `${name} is not supported: Logloom counts records, not bytes`
          : `${name} is not supported without unwrap`,
      );
    }
    return { aggregate: "count()", joins: "sum", isPerSecond: name === "rate" };
  }
  switch (name) {
    case "count_over_time":
      return { aggregate: "count()", joins: "sum", isPerSecond: false };
    case "sum_over_time":
    case "rate":
      return { aggregate: `sum(${unwrapped})`, joins: "sum", isPerSecond: name === "rate" };
    case "min_over_time":
    case "max_over_time": {
      const joins = name === "min_over_time" ? "min" : "max";
      return { aggregate: `${joins}(${unwrapped})`, joins, isPerSecond: false };
    }
    case "avg_over_time":
      return { aggregate: `avg(${unwrapped})`, joins: undefined, isPerSecond: false };
    case "quantile_over_time":
      return {
        aggregate: `${percentileOf(number)}(${unwrapped})`,
        joins: undefined,
        isPerSecond: false,
      };
    default:
      return refuse(`${name} is not supported`);
  }
}

/** `0.99` is p99. */
function percentileOf(number: string | undefined): string {
  const percent = Math.round(Number(number) * 1e6) / 1e4;
  return percent >= 0 && percent <= 100
    ? `p${percent}`
    : refuse(`quantile_over_time: 0 to 1 is needed, and this is ${number}`);
}
