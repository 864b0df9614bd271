import { evaluated, type Times, timesOf } from "./evaluate_metric.ts";
import type { LogQuery } from "./logql_query.ts";
import type { Range } from "./metric_tree.ts";
import { isInternal, streamFields } from "./label_names.ts";
import { answered, limitOf, type Request, stepOf } from "./query_endpoints.ts";
import { refuse } from "./loki_error.ts";
import { asked, cut, stats } from "./selector_stats.ts";
import { type Evaluated, matrixOf, vectorOf } from "./vector_arithmetic.ts";

type Answer = Promise<unknown>;

/** The number of entries and streams. Chunks and bytes exist only in Loki's own store. */
export async function indexStats(request: Request): Answer {
  const { p, logs } = await asked(request);
  const [row] = await stats(logs, "count()", p, request.ask);
  return { streams: 0, chunks: 0, entries: row?.value ?? 0, bytes: 0 };
}

/** Returns the labels of a volume: the labels that the request names, or else those in its selector. */
async function volumeOf(request: Request) {
  const found = await asked(request);
  const { parameters } = request;
  const aggregateBy = parameters.get("aggregateBy") || "series";
  if (!["series", "labels"].includes(aggregateBy)) {
    refuse(`aggregateBy: series or labels, not ${JSON.stringify(aggregateBy)}`);
  }
  const isByLabel = aggregateBy === "labels";
  const targets = (parameters.get("targetLabels") || "").split(",").map((name) => name.trim())
    .filter((name) => name !== "");
  const wanted = (targets.length > 0 ? targets : found.logs.selected)
    .filter((name) => !isInternal(name));
  const isAll = wanted.length === 0 || isByLabel && targets.length === 0;
  const names = [...new Set<string>(isAll ? streamFields : wanted)];
  for (const name of names) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      refuse(`invalid label name ${JSON.stringify(name)}`);
    }
  }
  return { ...found, names, isByLabel };
}

/** Counts records in place of bytes, which are not known by group. */
function countOf(logs: LogQuery, by: readonly string[], seconds: number): Range {
  return {
    kind: "range",
    logs,
    aggregate: "count()",
    joins: "sum",
    sampled: { name: "count_over_time", number: NaN, unwrapped: undefined },
    seconds,
    isPerSecond: false,
    offset: 0,
    by,
    isGrouped: true,
  };
}

async function volumesAt(
  request: Request,
  { logs, names, isByLabel }: Awaited<ReturnType<typeof volumeOf>>,
  seconds: number,
  times: Times,
): Promise<Evaluated> {
  if (!isByLabel) return await evaluated(countOf(logs, names, seconds), times, request.ask);
  const series = [];
  for (const name of names) {
    const { logs } = await asked(request);
    logs.requireLabel(name);
    const { series: [all] } = await evaluated(countOf(logs, [], seconds), times, request.ask);
    if (all !== undefined) series.push({ labels: { [name]: "" }, points: all.points });
  }
  return { series, isCut: false };
}

export async function indexVolume(request: Request): Answer {
  const volume = await volumeOf(request);
  const { start, end } = volume.range;
  const limit = limitOf(request.parameters, 100);
  const at = Number(end / 1_000_000n) / 1000;
  const times = { steps: [at], step: undefined };
  const seconds = Number((end - start) / 1000n) / 1e6;
  const { series, isCut } = await volumesAt(request, volume, seconds, times);
  const found = series.filter(({ labels }) => Object.keys(labels).length > 0)
    .sort((a, b) => b.points.get(at)! - a.points.get(at)!);
  return answered(vectorOf(found.slice(0, limit), at), isCut || found.length > limit);
}

export async function indexVolumeRange(request: Request): Answer {
  const volume = await volumeOf(request);
  const step = stepOf(request.parameters, volume.range);
  const times = timesOf(volume.range.start, volume.range.end, step);
  const { series, isCut } = await volumesAt(request, volume, step, times);
  return answered(matrixOf(series), isCut);
}

/** Patterns. Each has one sample: the count of its records, at the time of the last one. */
export async function patterns(request: Request): Answer {
  const { p, logs } = await asked(request);
  const rows = await stats(logs, "patterns", { ...p, p_limit: 300 }, request.ask);
  return {
    status: "success",
    ...cut(rows, "patterns, the most frequent ones"),
    data: rows.flatMap(({ group, value, values }) => {
      const last = Date.parse(String(values?.last));
      if (group.pattern === null || Number.isNaN(last)) return [];
      const pattern = group.pattern.replaceAll("<*>", "<_>");
      return [{ pattern, samples: [[Math.floor(last / 1000), value]] }];
    }),
  };
}
