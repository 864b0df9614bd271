import { LogQuery } from "./logql_query.ts";
import type { Context, Range, Sampled } from "./metric_tree.ts";
import { streamFields } from "./label_names.ts";
import { refuse } from "./loki_error.ts";
import { childOf, type Grouping, groupingOf, needed, type Node } from "./syntax_tree.ts";
import { wholeSeconds } from "./times_and_durations.ts";

/**
 * Reads a range such as `rate({service="api"} [5m])`. A range without a grouping is grouped by the stream labels and by
 * the labels that the outer expression needs.
 */
export function rangeOf(node: Node, { namesOf, wanted }: Context): Range {
  const name = needed(node, "RangeOp").text;
  const range = needed(node, "LogRangeExpr");
  const logs = new LogQuery(range, namesOf(range));
  const unwrapped = unwrappedBy(childOf(range, "UnwrapExpr"), logs);
  const offset = childOf(range, "OffsetExpr");
  const seconds = wholeSeconds(needed(needed(range, "Range"), "Duration").text);
  const own = streamFields.filter((field) => logs.shows(field));
  const all = [...new Set([...own, ...logs.grouped(wanted)])];
  const ungrouped = { by: all, isGrouped: false, logs };
  const grouping = childOf(node, "Grouping") === undefined
    ? undefined
    : { by: groupedBy(ungrouped, groupingOf(node)), isGrouped: true };
  return {
    kind: "range",
    ...functionOf(name, unwrapped, childOf(node, "Number")?.text, logs),
    seconds,
    offset: offset === undefined ? 0 : wholeSeconds(needed(offset, "Duration").text),
    ...ungrouped,
    ...grouping,
  };
}

export function groupedBy(
  { by, isGrouped, logs }: Pick<Range, "by" | "isGrouped" | "logs">,
  { isWithout, names }: Grouping,
): readonly string[] {
  if (isWithout) return by.filter((name) => !names.includes(name));
  return isGrouped ? names.filter((name) => by.includes(name)) : logs.grouped(names);
}

type Unwrapped = Sampled["unwrapped"];

/** The label of `unwrap`. */
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

/** For each LogQL function over numbers: our aggregate, and how the values of adjacent time ranges are joined. */
const ofNumbers: Record<string, { aggregate: string; joins: Range["joins"] }> = {
  count_over_time: { aggregate: "count()", joins: "sum" },
  absent_over_time: { aggregate: "count()", joins: "sum" },
  sum_over_time: { aggregate: "sum", joins: "sum" },
  rate: { aggregate: "sum", joins: "sum" },
  min_over_time: { aggregate: "min", joins: "min" },
  max_over_time: { aggregate: "max", joins: "max" },
  avg_over_time: { aggregate: "avg", joins: undefined },
  quantile_over_time: { aggregate: "p", joins: undefined },
};
/** Functions that need the records themselves. */
const ofSamples = ["first_over_time", "last_over_time", "stddev_over_time", "stdvar_over_time"];
const ofRecords = ["count_over_time", "rate", "absent_over_time"];
const ofBytes = ["bytes_over_time", "bytes_rate"];

function functionOf(
  name: string,
  unwrapped: Unwrapped,
  number: string | undefined,
  logs: LogQuery,
): Pick<Range, "aggregate" | "joins" | "isPerSecond" | "sampled"> {
  const numeric = [...Object.keys(ofNumbers), ...ofSamples];
  const plain = [...ofRecords, ...ofBytes];
  if (!(unwrapped === undefined ? plain : numeric).includes(name)) {
    const how = unwrapped === undefined ? " without unwrap" : " with unwrap";
    refuse(`${name} is not supported${[...numeric, ...plain].includes(name) ? how : ""}`);
  }
  const isQuantile = name === "quantile_over_time";
  if (!isQuantile && number !== undefined) refuse(`${name}: no number is needed`);
  const percentile = isQuantile ? percentileOf(number) : undefined;
  const shared = {
    sampled: { name, number: Number(number), unwrapped },
    isPerSecond: name === "rate" || name === "bytes_rate",
  };
  const byRecords = { ...shared, aggregate: undefined, joins: undefined };
  if (unwrapped === undefined) {
    return ofBytes.includes(name) ? byRecords : { ...shared, aggregate: "count()", joins: "sum" };
  }
  if (unwrapped.conversion !== undefined || logs.makes(unwrapped.name)) return byRecords;
  const field = logs.field(unwrapped.name);
  if (field === undefined) return byRecords;
  if (!field.startsWith("attrs.")) refuse(`unwrap ${field}: only attributes hold numbers`);
  if (!Object.hasOwn(ofNumbers, name)) return byRecords;
  const { aggregate, joins } = ofNumbers[name];
  // A record without a number is no sample. Our aggregates also count texts such as `2h`.
  logs.requireNumber(field);
  return {
    ...shared,
    aggregate: aggregate.endsWith(")") ? aggregate : `${percentile ?? aggregate}(${field})`,
    joins,
  };
}

/** `0.99` is p99. */
function percentileOf(number: string | undefined): string {
  const percent = Math.round(Number(number) * 1e6) / 1e4;
  return percent >= 0 && percent <= 100
    ? `p${percent}`
    : refuse(`quantile_over_time needs a number from 0 to 1, not ${number}`);
}
