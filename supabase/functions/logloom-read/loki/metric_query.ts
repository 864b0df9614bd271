import type { Context, Matching, Metric } from "./metric_tree.ts";
import { groupedBy, rangeOf } from "./range_query.ts";
import { refuse } from "./loki_error.ts";
import { childOf, groupingOf, itemsOf, needed, type Node } from "./syntax_tree.ts";
import { stringOf } from "./string_literals.ts";
import { aggregations } from "./vector_arithmetic.ts";

/** Reads a metric from the node Expr or MetricExpr of the syntax tree. */
export function metricOf(node: Node, context: Context): Metric {
  const { operands, operators } = chainOf(node);
  if (operators.length > 0) return computed(operands, operators, context);
  const inner = node.children[0] ?? refuse(`${node.text} is not supported`);
  switch (inner.name) {
    case "Expr":
    case "MetricExpr":
      return metricOf(inner, context);
    case "BinOpExpr":
      return metricOf(node, context);
    case "LiteralExpr":
      return { kind: "number", value: numberOf(inner) };
    case "VectorExpr":
      return { kind: "vector", value: numberOf(needed(inner, "Number", "LiteralExpr")) };
    case "RangeAggregationExpr":
      return needed(inner, "RangeOp").text === "absent_over_time"
        ? absenceOf(inner, context)
        : rangeOf(inner, context);
    case "LabelReplaceExpr":
      return replacementOf(inner, context);
    case "VectorAggregationExpr":
      return aggregationOf(inner, context);
    case "LogExpr":
      return refuse("a metric query is needed here, not a log query");
    default:
      return refuse(`${inner.text.split(/[\s(]/, 1)[0]} is not supported`);
  }
}

function numberOf({ text }: Node): number {
  const value = Number(text.replace(/\s/g, ""));
  return Number.isFinite(value) && !/x/i.test(text)
    ? value
    : refuse("parse error: a number is out of range");
}

const precedences = [
  ["or"],
  ["and", "unless"],
  ["==", "!=", ">", ">=", "<", "<="],
  ["+", "-"],
  ["*", "/", "%"],
  ["^"],
];

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

/** The parser nests operators in the order of the text, so their precedence is applied here. */
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
  context: Context,
): Metric {
  const matched = operators.flatMap(({ matching: { labels } }) => labels?.isOn ? labels.names : []);
  const wanted = [...context.wanted, ...matched];
  const values = operands.map((operand) => metricOf(operand, { ...context, wanted }));
  let next = 0;
  const from = (least: number): Metric => {
    let left = values[next];
    while (next < operators.length) {
      const { sign: operator, matching } = operators[next];
      const precedence = precedences.findIndex((signs) => signs.includes(operator));
      if (precedence === -1) refuse(`${operator} is not supported`);
      if (precedence < least) break;
      next += 1;
      // Only ^ is right-associative.
      const right = from(operator === "^" ? precedence : precedence + 1);
      left = { kind: "binary", operator, matching, left, right };
    }
    return left;
  };
  return from(0);
}

function aggregationOf(node: Node, context: Context): Metric {
  const operator = needed(node, "VectorOp").text;
  if (!aggregations.includes(operator)) refuse(`${operator} is not supported`);
  const number = childOf(node, "Number")?.text;
  const isTop = operator.endsWith("k");
  if (isTop !== /^[1-9][0-9]*$/.test(number ?? "") || !isTop && number !== undefined) {
    refuse(`${operator}: ${isTop ? "a whole number above 0" : "no number"} is needed`);
  }
  const grouping = groupingOf(node);
  // An aggregation that keeps labels must have the labels that the outer expression needs.
  const around = isTop || operator.startsWith("sort") || grouping.isWithout ? context.wanted : [];
  const wanted = grouping.isWithout ? around : [...around, ...grouping.names];
  const of = metricOf(needed(node, "MetricExpr"), { ...context, wanted });
  // The database can do this aggregation in the same call.
  if (of.kind === "range" && of.joins === operator && of.aggregate !== undefined) {
    return { ...of, by: groupedBy(of, grouping), isGrouped: true };
  }
  return { kind: "aggregate", operator, count: Number(number), grouping, of };
}

function absenceOf(node: Node, context: Context): Metric {
  if (childOf(node, "Grouping") !== undefined) refuse("absent_over_time takes no grouping");
  const range = needed(node, "LogRangeExpr");
  const matchers = itemsOf(childOf(needed(range, "Selector"), "Matchers"), "Matcher")
    .map(({ children: [name, operator, value] }) => ({
      name: name.text,
      value: operator.text === "=" ? stringOf(value.text) : "",
    }));
  // Takes the labels that the selector fixes by a single equality, like Loki.
  const told = matchers.filter(({ name, value }) =>
    value !== "" && matchers.filter((other) => other.name === name).length === 1
  );
  return {
    kind: "absent",
    of: { ...rangeOf(node, context), by: [] },
    labels: Object.fromEntries(told.map(({ name, value }) => [name, value])),
  };
}

function replacementOf(node: Node, context: Context): Metric {
  const [target, replacement, source, pattern] = node.children
    .filter(({ name }) => name === "String").map(({ text }) => stringOf(text));
  if (pattern === undefined) refuse("label_replace needs four strings");
  if (!/^[A-Za-z_]\w*$/.test(target)) refuse(`invalid label name ${JSON.stringify(target)}`);
  const wanted = [...context.wanted.filter((name) => name !== target), source];
  const of = metricOf(needed(node, "MetricExpr"), { ...context, wanted });
  return { kind: "label_replace", of, target, replacement, source, pattern };
}
