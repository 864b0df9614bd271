import { Buffer } from "node:buffer";
import type { Ask } from "./call_operation.ts";
import { bytesOf } from "./matchers.ts";
import type { Range, Sampled } from "./metric_tree.ts";
import { refuse } from "./loki_error.ts";
import { labelOf } from "./pipeline_stages.ts";
import { type Found, pagesOf, passed } from "./loki_streams.ts";
import {
  goSecondsOf,
  nanosecondsOfSeconds,
  nanosecondsOfTs,
  numberOf,
} from "./times_and_durations.ts";
import { type Evaluated, joins } from "./vector_arithmetic.ts";

/** The most records that one query reads. They take some seconds and some tens of megabytes. */
const maxRecords = 20_000;
/** The most values that all steps together may look at. */
const maxWork = 5_000_000;

interface Samples {
  readonly labels: Record<string, string>;
  /** Seconds since 1970, the oldest first. */
  readonly times: number[];
  readonly values: number[];
}

/** Computes a metric from the records themselves: for functions without an aggregate in the database. */
export async function sampledOver(
  range: Range,
  steps: readonly number[],
  ask: Ask,
): Promise<Evaluated> {
  const { seconds, offset, sampled, isPerSecond } = range;
  const series = await samplesOf(range, {
    from: steps[0] - seconds - offset,
    to: steps[steps.length - 1] - offset,
  }, ask);
  const step = steps.length > 1 ? steps[1] - steps[0] : seconds;
  const count = series.reduce((sum, { times }) => sum + times.length, 0);
  if (count * Math.ceil(seconds / step) > maxWork) {
    refuse(`a range of [${seconds}s] with a step of ${step}s: take a longer step`);
  }
  return {
    series: series.map(({ labels, times, values }) => {
      const points = new Map<number, number>();
      let first = 0;
      let last = 0;
      for (const at of steps) {
        const end = at - offset;
        while (last < times.length && times[last] < end) last += 1;
        while (first < last && times[first] < end - seconds) first += 1;
        if (first === last) continue;
        const value = overTime[sampled.name](values.slice(first, last), sampled.number);
        points.set(at, isPerSecond ? value / seconds : value);
      }
      return { labels, points };
    }).filter(({ points }) => points.size > 0),
    isCut: false,
  };
}

async function samplesOf(
  range: Range,
  { from, to }: { from: number; to: number },
  ask: Ask,
): Promise<Samples[]> {
  const found = new Map<string, Samples>();
  let records = 0;
  const times = { start: nanosecondsOfSeconds(from), end: nanosecondsOfSeconds(to) };
  const pages = pagesOf(range.logs, times, { limit: maxRecords + 1, order: "asc" }, ask);
  let isWhole = false;
  for await (const { logs, isLast } of pages) {
    isWhole = isLast;
    records += logs.length;
    if (records > maxRecords) break;
    for (const record of passed(logs, range.logs)) {
      const value = sampleOf(range.sampled, record);
      if (value === undefined) continue;
      const labels = Object.fromEntries(
        range.by.map((name) => [name, labelOf(record.entry, name)])
          .filter(([, text]) => text !== ""),
      );
      const key = JSON.stringify(labels);
      const samples: Samples = found.get(key) ?? { labels, times: [], values: [] };
      found.set(key, samples);
      samples.times.push(Number(nanosecondsOfTs(record.ts)) / 1e9);
      samples.values.push(value);
    }
  }
  if (records > maxRecords || !isWhole) {
    refuse(
      `${range.sampled.name} is computed record by record, for at most ${maxRecords} records: ` +
        "narrow the selector or the time range",
    );
  }
  return [...found.values()];
}

/** The number that a record adds; undefined if it has none. */
function sampleOf({ name, unwrapped }: Sampled, { entry }: Found): number | undefined {
  if (unwrapped === undefined) {
    return name.startsWith("bytes_") ? Buffer.byteLength(entry.line) : 1;
  }
  const text = labelOf(entry, unwrapped.name);
  if (unwrapped.conversion === undefined) return numberOf(text);
  return unwrapped.conversion === "bytes"
    ? numberOf(bytesOf(text) ?? text.replaceAll(",", ""))
    : goSecondsOf(text);
}

type OverTime = (values: readonly number[], number: number) => number;

const overTime: Record<string, OverTime> = {
  ...Object.fromEntries(Object.entries(joins).map(([name, join]) => [`${name}_over_time`, join])),
  absent_over_time: joins.count,
  rate: joins.sum,
  bytes_rate: joins.sum,
  bytes_over_time: joins.sum,
  first_over_time: ([first]) => first,
  last_over_time: (values) => values[values.length - 1],
  quantile_over_time: (values, number) => {
    const sorted = [...values].sort((a, b) => a - b);
    const rank = number * (sorted.length - 1);
    const below = Math.floor(rank);
    const above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (sorted[above] - sorted[below]) * (rank - below);
  },
};
