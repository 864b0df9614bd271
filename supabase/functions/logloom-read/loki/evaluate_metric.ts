import type { Ask } from "./call_operation.ts";
import { replaced } from "./label_replace.ts";
import type { Metric, Range } from "./metric_tree.ts";
import { atOnce, overTime } from "./range_series.ts";
import { refuse } from "./loki_error.ts";
import { sampledOver } from "./record_samples.ts";
import { arithmetic, type Evaluated, type Series, vectorAggregation } from "./vector_arithmetic.ts";

/** The times at which a metric is computed: each step, or one. */
export interface Times {
  /** Seconds since 1970. */
  readonly steps: readonly number[];
  /** Undefined for an instant query. */
  readonly step: number | undefined;
}

/** Loki's own limit. */
const maxSteps = 11_000;
/** How many points all series of one query may have together. This many take a few tenths of a second. */
const maxPoints = 2_000_000;

/**
 * The steps from `start` to `end`, at multiples of the step like Loki's with align_queries_with_step. The last one is
 * at or after the end, so that each record counts.
 */
export function timesOf(start: bigint, end: bigint, step: number): Times {
  const ns = BigInt(step) * 1_000_000_000n;
  const first = Number(start / ns) * step;
  const last = Number((end + ns - 1n) / ns) * step;
  const count = (last - first) / step + 1;
  if (count > maxSteps + 1) {
    refuse(
      `exceeded maximum resolution of ${maxSteps} points per time series. ` +
        "Try increasing the value of the step parameter",
    );
  }
  return { steps: Array.from({ length: count }, (_, n) => first + n * step), step };
}

export async function evaluated(metric: Metric, times: Times, ask: Ask): Promise<Evaluated> {
  const { steps, step } = times;
  // Reads everything before computing, so that a refused reader costs little.
  const read = new Map<Range, Evaluated>();
  for (const range of rangesOf(metric)) {
    read.set(
      range,
      isByRecords(range, step)
        ? await sampledOver(range, steps, ask)
        : step === undefined
        ? await atOnce(range, steps[0], ask)
        // Series may be left out of the answer, but not of a calculation.
        : await overTime(range, steps, step, ask, range !== metric),
    );
  }
  if (read.size > 0) return new Computation(read, steps).seriesOf(metric);
  // A metric that reads no records has the same value at each step.
  const { series } = new Computation(read, steps.slice(0, 1)).seriesOf(metric);
  return {
    series: series.map(({ labels, points }) => ({
      labels,
      points: constant(points.get(steps[0])!, steps),
    })),
    isCut: false,
  };
}

/** Whether the records themselves must be read, because no aggregate has the answer. */
function isByRecords(range: Range, step: number | undefined): boolean {
  const { aggregate, joins, seconds, offset, logs, by } = range;
  return aggregate === undefined || logs.isDecidedByRecord || by.some((name) => logs.makes(name)) ||
    joins === undefined && step !== undefined && (seconds !== step || offset % step !== 0);
}

function rangesOf(metric: Metric): Range[] {
  switch (metric.kind) {
    case "range":
      return [metric];
    case "absent":
      return [metric.of];
    case "aggregate":
    case "label_replace":
      return rangesOf(metric.of);
    case "binary":
      return [...rangesOf(metric.left), ...rangesOf(metric.right)];
    default:
      return [];
  }
}

/** Computes a metric from the series that were read. */
class Computation {
  #points = 0;

  constructor(readonly read: ReadonlyMap<Range, Evaluated>, readonly steps: readonly number[]) {}

  seriesOf(metric: Metric): Evaluated {
    const found = this.#found(metric);
    return typeof found === "number"
      ? { series: [{ labels: {}, points: constant(found, this.steps) }], isCut: false }
      : found;
  }

  /** Computes a metric. A constant stays one number, instead of one point for each step. */
  #found(metric: Metric): Evaluated | number {
    switch (metric.kind) {
      case "number":
        return metric.value;
      case "vector":
        return {
          series: [{ labels: {}, points: constant(metric.value, this.steps) }],
          isCut: false,
        };
      case "range":
        return this.read.get(metric) ?? refuse("a metric that was not read");
      case "aggregate": {
        const { series, isCut } = this.seriesOf(metric.of);
        // The database has already chosen the largest series.
        const isTop = metric.operator === "topk" && metric.of.kind === "range" &&
          metric.grouping.names.length === 0 && metric.count <= series.length;
        if (isCut && !isTop && !metric.operator.startsWith("sort")) {
          refuse(
            `${metric.operator} over more series than can be read at once: ` +
              "group the inner metric by fewer labels, or narrow the selector",
          );
        }
        this.#spend(series);
        return { series: vectorAggregation(metric, series, this.steps), isCut: isCut && !isTop };
      }
      case "absent": {
        const [found] = this.seriesOf(metric.of).series;
        const points = constant(1, this.steps.filter((step) => !found?.points.has(step)));
        return {
          series: points.size === 0 ? [] : [{ labels: metric.labels, points }],
          isCut: false,
        };
      }
      case "label_replace": {
        const { series, isCut } = this.seriesOf(metric.of);
        this.#spend(series);
        return { series: replaced(metric, series), isCut };
      }
      case "binary": {
        const sides = [this.#found(metric.left), this.#found(metric.right)] as const;
        const evaluated = sides.filter((side) => typeof side !== "number");
        evaluated.forEach(({ series }) => this.#spend(series));
        const [left, right] = sides.map((side) => typeof side === "number" ? side : side.series);
        const found = arithmetic(metric.operator, metric.matching, left, right);
        return typeof found === "number"
          ? found
          : { series: found, isCut: evaluated.some(({ isCut }) => isCut) };
      }
    }
  }

  #spend({ length }: readonly Series[]): void {
    this.#points += length * this.steps.length;
    if (this.#points > maxPoints) {
      refuse(
        `query too complex: it computes more than ${maxPoints} points. ` +
          "Try increasing the value of the step parameter, or group by fewer labels",
      );
    }
  }
}

function constant(value: number, steps: readonly number[]): Map<number, number> {
  return new Map(steps.map((step) => [step, value]));
}
