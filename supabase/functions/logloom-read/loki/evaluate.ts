import type { Ask } from "./ask.ts";
import { replaced } from "./label_replace.ts";
import type { Metric, Range } from "./metrics.ts";
import { atOnce, overTime } from "./range_series.ts";
import { refuse } from "./refusal.ts";
import { sampledOver } from "./samples.ts";
import { arithmetic, type Evaluated, type Series, vectorAggregation } from "./vectors.ts";

/** When a metric is computed: at each step, or once. */
export interface Times {
  /** Seconds since 1970. */
  readonly steps: readonly number[];
  /** Undefined where it is computed once. */
  readonly step: number | undefined;
}

/** As many steps as Loki takes. */
const maxSteps = 11_000;
/** Of all series that a query computes on its way to the answer: a few tenths of a second. */
const maxPoints = 2_000_000;

/**
 * The steps from `start` to `end`, which begin at multiples of the step, as Loki does with align_queries_with_step. The
 * last one is not before the end, so that each record is counted.
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
  // All of it first: nothing is computed for a reader who is refused.
  const read = new Map<Range, Evaluated>();
  for (const range of rangesOf(metric)) {
    read.set(
      range,
      isByRecords(range, step)
        ? await sampledOver(range, steps, ask)
        : step === undefined
        ? await atOnce(range, steps[0], ask)
        // What is shown may be cut; what is computed with may not.
        : await overTime(range, steps, step, ask, range !== metric),
    );
  }
  if (read.size > 0) return new Computation(read, steps).seriesOf(metric);
  // Without records it is the same at each step.
  const { series } = new Computation(read, steps.slice(0, 1)).seriesOf(metric);
  return {
    series: series.map(({ labels, points }) => ({
      labels,
      points: constant(points.get(steps[0])!, steps),
    })),
    isCut: false,
  };
}

/** Whether only the records themselves tell. */
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

/** What a metric is by what was read. */
class Computation {
  #points = 0;

  constructor(readonly read: ReadonlyMap<Range, Evaluated>, readonly steps: readonly number[]) {}

  seriesOf(metric: Metric): Evaluated {
    const found = this.#found(metric);
    return typeof found === "number"
      ? { series: [{ labels: {}, points: constant(found, this.steps) }], isCut: false }
      : found;
  }

  /** A number is not spread over the steps, of which each has the same. */
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
        // The database gives the largest ones.
        const isTop = metric.operator === "topk" && metric.of.kind === "range" &&
          metric.grouping.names.length === 0 && metric.count <= series.length;
        if (isCut && !isTop && !metric.operator.startsWith("sort")) {
          refuse(
            `${metric.operator} over more series than can be read at once: ` +
              "group what is inside by fewer labels, or narrow the selector",
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
