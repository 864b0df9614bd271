import { comparisons } from "./comparison_operators.ts";
import type { Matching, Metric } from "./metric_tree.ts";
import { refuse } from "./loki_error.ts";
import type { Grouping } from "./syntax_tree.ts";

/** One labeled series. `points`: from a step's time, in seconds, to its value. */
export interface Series {
  readonly labels: Record<string, string>;
  readonly points: Map<number, number>;
}

export interface Evaluated {
  readonly series: Series[];
  /** Whether series were left out. */
  readonly isCut: boolean;
}

/** Computes sum, avg, topk … of series, step by step. */
export function vectorAggregation(
  { operator, count, grouping }: Metric & { kind: "aggregate" },
  series: readonly Series[],
  steps: readonly number[],
): Series[] {
  const groups = new Map<string, { labels: Record<string, string>; members: Series[] }>();
  for (const member of series) {
    const labels = grouped(member.labels, grouping);
    const key = keyOf(labels);
    const group = groups.get(key) ?? { labels, members: [] };
    group.members.push(member);
    groups.set(key, group);
  }
  if (operator.startsWith("sort")) {
    const sign = operator === "sort" ? 1 : -1;
    const valueOf = ({ points }: Series) => points.get(steps[steps.length - 1]) ?? -sign * Infinity;
    return [...series].sort((a, b) => sign * (valueOf(a) - valueOf(b)));
  }
  return [...groups.values()].flatMap(({ labels, members }) =>
    operator.endsWith("k")
      ? firstOf(members, operator, count, steps)
      : [{ labels, points: joined(operator, members, steps) }]
  );
}

function grouped(labels: Record<string, string>, { isWithout, names }: Grouping) {
  return Object.fromEntries(
    Object.entries(labels).filter(([name]) => names.includes(name) !== isWithout),
  );
}

function varianceOf(values: readonly number[]): number {
  const avg = values.reduce((a, b) => a + b, 0) / values.length;
  return values.reduce((all, value) => all + (value - avg) ** 2, 0) / values.length;
}

export const joins: Record<string, (values: readonly number[]) => number> = {
  sum: (values) => values.reduce((a, b) => a + b, 0),
  avg: (values) => values.reduce((a, b) => a + b, 0) / values.length,
  min: (values) => values.reduce((a, b) => Math.min(a, b)),
  max: (values) => values.reduce((a, b) => Math.max(a, b)),
  count: ({ length }) => length,
  stdvar: varianceOf,
  stddev: (values) => Math.sqrt(varianceOf(values)),
};

export const aggregations = [...Object.keys(joins), "topk", "bottomk", "sort", "sort_desc"];

function joined(operator: string, members: readonly Series[], steps: readonly number[]) {
  const points = new Map<number, number>();
  for (const step of steps) {
    const values = members.flatMap(({ points }) => points.get(step) ?? []);
    if (values.length > 0) points.set(step, joins[operator](values));
  }
  return points;
}

function firstOf(
  members: readonly Series[],
  operator: string,
  count: number,
  steps: readonly number[],
): Series[] {
  const sign = operator === "topk" ? -1 : 1;
  const kept = new Map<Series, Map<number, number>>();
  for (const step of steps) {
    members.flatMap((member) => {
      const value = member.points.get(step);
      return value === undefined ? [] : [{ member, value }];
    })
      .sort((a, b) => sign * (a.value - b.value))
      .slice(0, count)
      .forEach(({ member, value }) => {
        const points = kept.get(member) ?? new Map<number, number>();
        kept.set(member, points.set(step, value));
      });
  }
  return [...kept].map(([{ labels }, points]) => ({ labels, points }));
}

const operations: Record<string, (a: number, b: number) => number> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  // Like Loki: a division by 0 gives NaN.
  "/": (a, b) => b === 0 ? NaN : a / b,
  "%": (a, b) => b === 0 ? NaN : a % b,
  "^": (a, b) => a ** b,
};

type Operand = readonly Series[] | number;

/**
 * Applies a binary operator with a number, or between series with the same labels. A comparison filters, or gives 1 or
 * 0 with bool.
 */
export function arithmetic(
  operator: string,
  { isBool, labels: matched }: Matching,
  left: Operand,
  right: Operand,
): Series[] | number {
  if (["and", "or", "unless"].includes(operator)) {
    return typeof left === "number" || typeof right === "number"
      ? refuse(`${operator} needs series on both sides`)
      : setOf(operator, matched, left, right);
  }
  const comparison = comparisons[operator];
  const one = (a: number, b: number, kept: number) => {
    if (comparison === undefined) return operations[operator](a, b);
    if (isBool) return Number(comparison(a, b));
    return comparison(a, b) ? kept : undefined;
  };
  if (typeof left === "number") {
    if (typeof right !== "number") return mapped(right, (value) => one(left, value, value));
    return comparison === undefined
      ? operations[operator](left, right)
      : Number(comparison(left, right));
  }
  if (typeof right === "number") return mapped(left, (value) => one(value, right, value));
  const others = new Map<string, Series["points"]>();
  for (const { labels, points } of right) addOnce(others, matchedBy(labels, matched), points);
  const own = new Map<string, Series["points"]>();
  return left.flatMap(({ labels, points }) => {
    const common = matchedBy(labels, matched);
    addOnce(own, common, points);
    const other = others.get(keyOf(common));
    return mapped([{ labels: common, points }], (value, step) => {
      const otherValue = other?.get(step);
      return otherValue === undefined ? undefined : one(value, otherValue, value);
    });
  });
}

function matchedBy(labels: Record<string, string>, matched: Matching["labels"]) {
  if (matched === undefined) return labels;
  return grouped(labels, { isWithout: !matched.isOn, names: matched.names });
}

function addOnce(
  known: Map<string, Series["points"]>,
  labels: Record<string, string>,
  points: Series["points"],
): void {
  const key = keyOf(labels);
  if (known.has(key)) {
    refuse(
      `multiple matches for labels ${JSON.stringify(labels)}: group one side by the labels in on()`,
    );
  }
  known.set(key, points);
}

/** Computes `and`, `or` and `unless`, step by step, by the labels of the series. */
function setOf(
  operator: string,
  matched: Matching["labels"],
  left: readonly Series[],
  right: readonly Series[],
): Series[] {
  const others = new Map<string, Set<number>>();
  for (const { labels, points } of operator === "or" ? left : right) {
    const key = keyOf(matchedBy(labels, matched));
    others.set(key, new Set([...others.get(key) ?? [], ...points.keys()]));
  }
  const kept = (series: readonly Series[], isThere: boolean) =>
    series.flatMap((member) => {
      const steps = others.get(keyOf(matchedBy(member.labels, matched))) ?? new Set();
      return mapped([member], (value, step) => steps.has(step) === isThere ? value : undefined);
    });
  if (operator !== "or") return kept(left, operator === "and");
  return merged([...left, ...kept(right, false)]);
}

/** Joins series with the same labels at different steps. */
function merged(series: readonly Series[]): Series[] {
  const found = new Map<string, Series>();
  for (const { labels, points } of series) {
    const known = found.get(keyOf(labels));
    if (known === undefined) found.set(keyOf(labels), { labels, points });
    else {
      const all = [...known.points, ...points].sort(([a], [b]) => a - b);
      found.set(keyOf(labels), { labels, points: new Map(all) });
    }
  }
  return [...found.values()];
}

function mapped(
  series: readonly Series[],
  made: (value: number, step: number) => number | undefined,
): Series[] {
  return series.flatMap(({ labels, points }) => {
    const found = new Map<number, number>();
    for (const [step, value] of points) {
      const result = made(value, step);
      if (result !== undefined) found.set(step, result);
    }
    return found.size === 0 ? [] : [{ labels, points: found }];
  });
}

/** A key for labels that does not depend on their order. */
export function keyOf(labels: Record<string, string>): string {
  return JSON.stringify(Object.entries(labels).sort());
}

/** A value in Go's notation. */
export function textOfValue(value: number | undefined): string {
  return value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);
}

export function vectorOf(series: readonly Series[], at: number) {
  const result = series.map(({ labels, points }) => ({
    metric: labels,
    value: [at, textOfValue(points.get(at))],
  }));
  return { resultType: "vector", result, stats: {} };
}

export function matrixOf(series: readonly Series[]) {
  const result = series.map(({ labels, points }) => ({
    metric: labels,
    values: [...points].map(([at, value]) => [at, textOfValue(value)]),
  }));
  return { resultType: "matrix", result, stats: {} };
}

export function isNumber(metric: Metric): boolean {
  return metric.kind === "number" ||
    metric.kind === "binary" && isNumber(metric.left) && isNumber(metric.right);
}
