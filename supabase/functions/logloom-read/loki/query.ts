import type { Ask } from "./ask.ts";
import { evaluated, timesOf } from "./evaluate.ts";
import { namesFor } from "./found_names.ts";
import { LogQuery } from "./logs.ts";
import { metricOf } from "./metrics.ts";
import { refuse } from "./refusal.ts";
import { recordsOf, streamsOf } from "./streams.ts";
import { rangeOf, timeOf, type TimeRange, wholeSeconds } from "./times.ts";
import { type Node, parseLogql } from "./tree.ts";
import { isNumber, textOfValue } from "./vectors.ts";

export interface Request {
  readonly parameters: URLSearchParams;
  readonly headers: Headers;
  readonly now: bigint;
  readonly ask: Ask;
}

function success(data: unknown, isCut: boolean): unknown {
  return {
    status: "success",
    ...isCut && { warnings: ["There is more than this answer holds: narrow the query."] },
    data,
  };
}

/** The log query, or the metric, that a whole text is. */
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
    return success({
      resultType: "streams",
      ...isCategorized && { encodingFlags: ["categorize-labels"] },
      result: streamsOf(thinned(found, parameters), isCategorized),
      stats: {},
    }, isCut);
  }
  const metric = metricOf(expression.metric, namesOf);
  const times = timesOf(range.start, range.end, stepOf(parameters, range));
  const { series, isCut } = await evaluated(metric, times, ask);
  return success({
    resultType: "matrix",
    result: series.map(({ labels, points }) => ({
      metric: labels,
      values: [...points].map(([at, value]) => [at, textOfValue(value)]),
    })),
    stats: {},
  }, isCut);
}

/** At least `interval` between two records. */
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

/** As Loki: the range in 250 parts, a second at least. */
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
    : refuse(`limit must be a positive value, and this is ${JSON.stringify(text)}`);
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
  const metric = metricOf(expression.metric, namesOf);
  const at = Number(time / 1_000_000n) / 1000;
  const { series, isCut } = await evaluated(
    metric,
    { steps: [at], step: undefined },
    ask,
  );
  if (isNumber(metric)) {
    return success({
      resultType: "scalar",
      result: [at, textOfValue(series[0]?.points.get(at))],
      stats: {},
    }, false);
  }
  return success({
    resultType: "vector",
    result: series.map(({ labels, points }) => ({
      metric: labels,
      value: [at, textOfValue(points.get(at))],
    })),
    stats: {},
  }, isCut);
}
