import type { Grouping, Metric } from "./metrics.ts";
import { refuse } from "./refusal.ts";

/** Labels, and the value at each step, by seconds. */
export interface Series {
  readonly labels: Record<string, string>;
  readonly points: Map<number, number>;
}

export interface Evaluated {
  readonly series: Series[];
  /** Without what other groups there were. */
  readonly isCut: boolean;
}

/** sum, avg, topk … of series, step by step. */
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

function joined(operator: string, members: readonly Series[], steps: readonly number[]) {
  const points = new Map<number, number>();
  for (const step of steps) {
    const values = members.flatMap(({ points }) => points.get(step) ?? []);
    if (values.length === 0) continue;
    const sum = values.reduce((a, b) => a + b, 0);
    const results: Record<string, number> = {
      sum,
      avg: sum / values.length,
      count: values.length,
      min: Math.min(...values),
      max: Math.max(...values),
    };
    points.set(step, results[operator]);
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
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
  "^": (a, b) => a ** b,
};

const comparisons: Record<string, (a: number, b: number) => boolean> = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
};

type Operand = readonly Series[] | number;

/** With a number, or between series of the same labels. A comparison keeps what it is true of. */
export function arithmetic(operator: string, left: Operand, right: Operand): Series[] | number {
  const comparison = comparisons[operator];
  const one = (a: number, b: number, kept: number) => {
    if (comparison === undefined) return operations[operator](a, b);
    return comparison(a, b) ? kept : undefined;
  };
  if (typeof left === "number") {
    if (typeof right !== "number") return mapped(right, (value) => one(left, value, value));
    return comparison === undefined
      ? operations[operator](left, right)
      : refuse(`${operator} between two numbers is not supported`);
  }
  if (typeof right === "number") return mapped(left, (value) => one(value, right, value));
  // Of series with the same labels the first one.
  const others = new Map(right.toReversed().map(({ labels, points }) => [keyOf(labels), points]));
  return left.flatMap((member) => {
    const other = others.get(keyOf(member.labels));
    return mapped([member], (value, step) => {
      const otherValue = other?.get(step);
      return otherValue === undefined ? undefined : one(value, otherValue, value);
    });
  });
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

/** The same of the same labels, in whatever order. */
function keyOf(labels: Record<string, string>): string {
  return JSON.stringify(Object.entries(labels).sort());
}

export function isNumber(metric: Metric): boolean {
  return metric.kind === "number" ||
    metric.kind === "binary" && isNumber(metric.left) && isNumber(metric.right);
}
