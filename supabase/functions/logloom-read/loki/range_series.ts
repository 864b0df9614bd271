import type { Ask, Row } from "./call_operation.ts";
import type { Range } from "./metric_tree.ts";
import { textOf } from "./label_names.ts";
import { refuse } from "./loki_error.ts";
import { nanosecondsOfSeconds, parametersOfRange } from "./times_and_durations.ts";
import type { Evaluated } from "./vector_arithmetic.ts";

/** The most buckets of a query: as many as Loki has steps. */
const maxBuckets = 11_001;
/** The most points of a series in one call of log_series. */
const bucketsOfCall = 1000;

/** Writes the query in our language. If several labels stand for the same field, it is grouped by only once. */
function seriesDsl({ logs, aggregate, by }: Range, width?: number, also = ""): string {
  const keys = [...new Set(by.flatMap((name) => logs.fields(name)))];
  if (width !== undefined) keys.unshift(`(${widthOf(width)})`);
  const grouped = keys.length === 0 ? "" : ` by ${keys.join(", ")}`;
  return `${logs.dsl} | ${aggregate}${also}${grouped}`;
}

/** A width in our query language, which allows five digits and a unit. */
function widthOf(seconds: number): string {
  if (seconds <= 99_999) return `${seconds}s`;
  return seconds % 3600 === 0
    ? `${seconds / 3600}h`
    : refuse(`${seconds}s is too long, or not a whole number of hours`);
}

type Group = Row["group"];

type Buckets = Map<number, number>;

/** Series by their labels. If two attributes have the same label, two groups may be one series. */
class Found {
  readonly #series = new Map<string, { labels: Record<string, string>; buckets: Buckets }>();

  /** Each label with its fields. */
  readonly #labels: readonly (readonly [string, readonly string[]])[];

  constructor(readonly range: Range) {
    this.#labels = range.by.map((name) => [name, range.logs.fields(name)]);
  }

  add(group: Group, at: number, value: number | null): void {
    if (value === null || isNothing(this.range, value)) return;
    const labels = this.#labelsOf(group);
    const key = JSON.stringify(labels);
    const series = this.#series.get(key) ?? { labels, buckets: new Map() };
    this.#series.set(key, series);
    const known = series.buckets.get(at);
    series.buckets.set(at, known === undefined ? value : joined(this.range, known, value));
  }

  #labelsOf(group: Group): Record<string, string> {
    const labels: Record<string, string> = {};
    for (const [name, fields] of this.#labels) {
      const field = fields.find((field) => group[field] != null);
      const text = textOf(name, field && group[field]);
      // Loki has no empty labels.
      if (text !== "") labels[name] = text;
    }
    return labels;
  }

  get all() {
    return [...this.#series.values()];
  }
}

function joined({ joins, aggregate, by }: Range, a: number, b: number): number {
  if (joins === undefined) {
    return refuse(
      `${aggregate} by ${
        by.join(", ")
      }: one of these labels is the name of several attributes, or ` +
        "empty in some records and missing in others",
    );
  }
  return joins === "sum" ? a + b : Math[joins](a, b);
}

function between(from: number, to: number) {
  return parametersOfRange({ start: nanosecondsOfSeconds(from), end: nanosecondsOfSeconds(to) });
}

/** The most rows that log_stats answers. */
const rowsAtOnce = 1000;

export async function atOnce(range: Range, at: number, ask: Ask): Promise<Evaluated> {
  const end = at - range.offset;
  // Our sum of no records is 0; Loki has no sample then.
  const isSum = range.aggregate?.startsWith("sum(");
  const rows = await ask<Row[]>("log_stats", {
    p_query_dsl: seriesDsl(range, undefined, isSum ? " as s, count() as n" : ""),
    ...between(end - range.seconds, end),
    p_limit: rowsAtOnce,
  });
  const found = new Found(range);
  for (const { group, value, values } of rows) {
    if (values?.n !== 0) found.add(group, at, value);
  }
  const series = found.all.map(({ labels, buckets }) => ({
    labels,
    points: mapOf(buckets, (value) => range.isPerSecond ? value / range.seconds : value),
  }));
  return { series, isCut: (rows[0]?.total_groups ?? 0) > rows.length };
}

function mapOf(buckets: Buckets, made: (value: number) => number): Buckets {
  return new Map([...buckets].map(([at, value]) => [at, made(value)]));
}

interface LogSeries {
  readonly series: readonly {
    readonly group: Group | null;
    readonly points: readonly (readonly [string, number | null])[];
  }[];
}

/** A step's value is joined from the buckets before it, as many as fill the range. */
export async function overTime(
  range: Range,
  steps: readonly number[],
  step: number,
  ask: Ask,
  isWhole: boolean,
): Promise<Evaluated> {
  const { seconds, offset } = range;
  const width = range.joins === undefined ? seconds : divisor(divisor(seconds, step), offset);
  const times = {
    first: steps[0] - seconds - offset,
    last: steps[steps.length - 1] - offset,
    width,
  };
  if ((times.last - times.first) / width > maxBuckets) {
    refuse(
      `a range of [${seconds}s] with a step of ${step}s: take a longer step, of which the range is a ` +
        "multiple",
    );
  }
  // log_series has 0 for a sum of no numbers.
  const isSum = range.aggregate?.startsWith("sum(");
  const largest = isSum ? undefined : await largestOf(range, times, ask);
  const isCut = largest?.isCut ?? false;
  const found = largest === undefined || isCut && isWhole
    ? await allOf(range, times, ask)
    : largest.found;
  return {
    series: found.all.map(({ labels, buckets }) => ({
      labels,
      points: slid(range, buckets, steps, width),
    })).filter(({ points }) => points.size > 0),
    isCut: isCut && !isWhole,
  };
}

/** The first and last bucket in seconds since 1970, and the seconds of a bucket. */
interface Cut {
  readonly first: number;
  readonly last: number;
  readonly width: number;
}

/** The series of the largest groups, which costs one call for each thousand buckets. */
async function largestOf(range: Range, { first, last, width }: Cut, ask: Ask) {
  const found = new Found(range);
  let isCut = false;
  for (let from = first; from < last; from += width * bucketsOfCall) {
    const { series } = await ask<LogSeries>("log_series", {
      p_query_dsl: seriesDsl(range, width),
      ...between(from, Math.min(last, from + width * bucketsOfCall)),
    });
    for (const { group, points } of series) {
      if (group === null) isCut = true;
      else for (const [ts, value] of points) found.add(group, Date.parse(ts) / 1000, value);
    }
  }
  return { found, isCut };
}

/** All groups, in as many calls as their rows need. */
async function allOf(range: Range, { first, last, width }: Cut, ask: Ask): Promise<Found> {
  const found = new Found(range);
  let buckets = bucketsOfCall;
  for (let from = first; from < last;) {
    const to = Math.min(last, from + width * buckets);
    const rows = await ask<Row[]>("log_stats", {
      p_query_dsl: seriesDsl(range, width),
      ...between(from, to),
      p_limit: rowsAtOnce,
    });
    const total = rows[0]?.total_groups ?? 0;
    if (total > rows.length) {
      if (buckets === 1) {
        refuse(
          `more than ${rowsAtOnce} series at one step: ` +
            "group the inner metric by fewer labels, or narrow the selector",
        );
      }
      buckets = Math.max(1, Math.min(buckets >> 1, Math.floor(buckets * rows.length / total)));
      continue;
    }
    for (const { group, value } of rows) {
      found.add(group, Date.parse(String(group.ts)) / 1000, value);
    }
    from = to;
    if (total * 2 <= rowsAtOnce) buckets = Math.min(bucketsOfCall, buckets * 2);
  }
  return found;
}

/**
 * Joins the n buckets of each range in constant time. Buckets are cut into blocks of n. Each range is the end of one
 * block and the beginning of the next, and both parts are computed beforehand.
 */
function slid(
  { seconds, offset, joins, isPerSecond }: Range,
  buckets: Map<number, number>,
  steps: readonly number[],
  width: number,
): Map<number, number> {
  const join = (a: number | undefined, b: number | undefined) => {
    if (a === undefined || b === undefined) return a ?? b;
    return joins === "sum" ? a + b : Math[joins ?? "max"](a, b);
  };
  const first = steps[0] - offset - seconds;
  const inRange = seconds / width;
  const values = Array.from(
    { length: (steps[steps.length - 1] - steps[0]) / width + inRange },
    (_, n) => buckets.get(first + n * width),
  );
  const toEnd = [...values];
  for (let n = values.length - 2; n >= 0; n--) {
    if ((n + 1) % inRange !== 0) toEnd[n] = join(values[n], toEnd[n + 1]);
  }
  const fromBegin = [...values];
  for (let n = 1; n < values.length; n++) {
    if (n % inRange !== 0) fromBegin[n] = join(fromBegin[n - 1], values[n]);
  }
  const points = new Map<number, number>();
  for (const step of steps) {
    const n = (step - steps[0]) / width;
    const joined = n % inRange === 0 ? toEnd[n] : join(toEnd[n], fromBegin[n + inRange - 1]);
    if (joined !== undefined) points.set(step, isPerSecond ? joined / seconds : joined);
  }
  return points;
}

/** Whether a value means "no record". Loki has no sample then. */
function isNothing({ aggregate }: Range, value: number): boolean {
  return value === 0 && aggregate === "count()";
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
