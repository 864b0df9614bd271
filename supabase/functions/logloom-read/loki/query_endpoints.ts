import type { Ask } from "./call_operation.ts";
import { evaluated, timesOf } from "./evaluate_metric.ts";
import { namesFor } from "./attribute_names.ts";
import { LogQuery } from "./logql_query.ts";
import { metricOf } from "./metric_query.ts";
import { refuse } from "./loki_error.ts";
import { recordsOf, streamsOf } from "./loki_streams.ts";
import { rangeOf, secondsOf, timeOf, type TimeRange, wholeSeconds } from "./times_and_durations.ts";
import { needed, type Node, parseLogql } from "./syntax_tree.ts";
import { isNumber, matrixOf, textOfValue, vectorOf } from "./vector_arithmetic.ts";

export interface Request {
  readonly parameters: URLSearchParams;
  readonly headers: Headers;
  readonly now: bigint;
  readonly ask: Ask;
}

export function answered(data: unknown, isCut: boolean, more: readonly string[] = []): unknown {
  const cut = ["The answer is not complete: narrow the query."];
  const warnings = [...isCut ? cut : [], ...more];
  return { status: "success", ...warnings.length > 0 && { warnings }, data };
}

/** A query's root: a log query or a metric. */
function expressionOf(tree: Node): { log: Node } | { metric: Node } {
  const expression = tree.children[0];
  const inner = expression?.children[0];
  if (inner === undefined) return refuse("parse error: the query is empty");
  return inner.name === "LogExpr" ? { log: inner } : { metric: expression };
}

export async function queryRange({ parameters, headers, now, ask }: Request): Promise<unknown> {
  const tree = parseLogql(parameters.get("query") ?? "");
  const expression = expressionOf(tree);
  const range = rangeOf(parameters, now);
  const namesOf = await namesFor(tree, range, ask);
  if ("log" in expression) {
    const logs = new LogQuery(expression.log, namesOf(expression.log));
    const limit = limitOf(parameters, 100);
    const direction = (parameters.get("direction") || "backward").toLowerCase();
    const { found, isCut } = await recordsOf(logs, range, { limit, direction }, ask);
    const isCategorized = (headers.get("X-Loki-Response-Encoding-Flags") ?? "")
      .split(",").some((flag) => flag.trim() === "categorize-labels");
    return answered({
      resultType: "streams",
      ...isCategorized && { encodingFlags: ["categorize-labels"] },
      result: streamsOf(thinned(found, parameters), isCategorized),
      stats: {},
    }, isCut);
  }
  const metric = metricOf(expression.metric, { namesOf, wanted: [] });
  const times = timesOf(range.start, range.end, stepOf(parameters, range));
  const { series, isCut } = await evaluated(metric, times, ask);
  return answered(matrixOf(series), isCut, roundedIn(tree));
}

/** Keeps records that are at least `interval` apart. */
function thinned<T extends { readonly ts: string }>(
  records: readonly T[],
  parameters: URLSearchParams,
): readonly T[] {
  const text = parameters.get("interval");
  if (!text || /^0+[a-z]*$/.test(text)) return records;
  const interval = wholeSeconds(text) * 1000;
  let last = -Infinity;
  return records.filter(({ ts }) => {
    const at = Date.parse(ts);
    const isKept = Math.abs(at - last) >= interval;
    if (isKept) last = at;
    return isKept;
  });
}

/** Returns the step. The default is the same as Loki's: a 250th of the range, but at least a second. */
export function stepOf(parameters: URLSearchParams, { start, end }: TimeRange): number {
  const text = parameters.get("step");
  if (text) return wholeSeconds(text);
  return Math.max(1, Math.floor(Number((end - start) / 1_000_000_000n) / 250));
}

export function limitOf(parameters: URLSearchParams, otherwise: number): number {
  const text = parameters.get("limit");
  if (!text) return otherwise;
  return /^[1-9][0-9]{0,8}$/.test(text)
    ? Number(text)
    : refuse(`limit must be a positive value, not ${JSON.stringify(text)}`);
}

export async function query({ parameters, now, ask }: Request): Promise<unknown> {
  const tree = parseLogql(parameters.get("query") ?? "");
  const expression = expressionOf(tree);
  if ("log" in expression) {
    return refuse(
      "log queries are not supported as an instant query type, please change your " +
        "query to a range query type",
    );
  }
  const time = timeOf(parameters, "time", now);
  const namesOf = await namesFor(tree, { start: time, end: time }, ask);
  const metric = metricOf(expression.metric, { namesOf, wanted: [] });
  const at = Number(time / 1_000_000n) / 1000;
  const { series, isCut } = await evaluated(metric, { steps: [at], step: undefined }, ask);
  if (isNumber(metric)) {
    const result = [at, textOfValue(series[0]?.points.get(at))];
    return answered({ resultType: "scalar", result, stats: {} }, false);
  }
  return answered(vectorOf(series, at), isCut, roundedIn(tree));
}

/** Warnings for ranges and offsets that are rounded to whole seconds. */
function roundedIn(node: Node): string[] {
  const inner = node.children.flatMap(roundedIn);
  if (node.name !== "Range" && node.name !== "OffsetExpr") return [...new Set(inner)];
  const { text } = needed(node, "Duration");
  const seconds = wholeSeconds(text);
  return seconds === secondsOf(text) ? inner : [`${text} is counted as ${seconds}s.`, ...inner];
}
