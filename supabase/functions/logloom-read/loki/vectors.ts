import type { Grouping, Matching, Metric } from "./metrics.ts";
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

function joined(operator: string, members: readonly Series[], steps: readonly number[]) {
  const points = new Map<number, number>();
  for (const step of steps) {
    const values = members.flatMap(({ points }) => points.get(step) ?? []);
    if (values.length === 0) continue;
    const sum = values.reduce((a, b) => a + b, 0);
    const avg = sum / values.length;
    const variance = values.reduce((all, value) => all + (value - avg) ** 2, 0) / values.length;
    const results: Record<string, number> = {
      sum,
      avg,
      stdvar: variance,
      stddev: Math.sqrt(variance),
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
  // As Loki: by 0 there is no number.
  "/": (a, b) => b === 0 ? NaN : a / b,
  "%": (a, b) => b === 0 ? NaN : a % b,
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

/** With a number, or between series of the same labels. A comparison keeps what it is true of, or says 1 or 0. */
export function arithmetic(
  operator: string,
  { isBool, labels: matched }: Matching,
  left: Operand,
  right: Operand,
  steps: readonly number[],
): Series[] | number {
  const isSet = ["and", "or", "unless"].includes(operator);
  if (isSet) {
    return typeof left === "number" || typeof right === "number"
      ? refuse(`${operator} needs series on both sides`)
      : setOf(operator, matched, left, right, steps);
  }
  const comparison = comparisons[operator];
  const one = (a: number, b: number, kept: number) => {
    if (comparison === undefined) return operations[operator](a, b);
    if (isBool) return Number(comparison(a, b));
    return comparison(a, b) ? kept : undefined;
  };
  if (typeof left === "number") {
    if (typeof right !== "number") return mapped(right, (value) => one(left, value, value));
    return one(left, right, left) ?? refuse(`${operator} between two numbers needs bool`);
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
      `multiple matches for labels ${JSON.stringify(labels)}: group one side by what on() names`,
    );
  }
  known.set(key, points);
}

/** and, or, unless: by which series there are at a step. */
function setOf(
  operator: string,
  matched: Matching["labels"],
  left: readonly Series[],
  right: readonly Series[],
  steps: readonly number[],
): Series[] {
  const keysAt = (series: readonly Series[]) => {
    const keyed = series.map(({ labels, points }) => ({
      key: keyOf(matchedBy(labels, matched)),
      points,
    }));
    return new Map(steps.map((step) => [
      step,
      new Set(keyed.flatMap(({ key, points }) => points.has(step) ? [key] : [])),
    ]));
  };
  const others = keysAt(operator === "or" ? left : right);
  const kept = (series: readonly Series[], isThere: boolean) =>
    series.flatMap((member) => {
      const key = keyOf(matchedBy(member.labels, matched));
      return mapped(
        [member],
        (value, step) => others.get(step)?.has(key) === isThere ? value : undefined,
      );
    });
  if (operator !== "or") return kept(left, operator === "and");
  return merged([...left, ...kept(right, false)]);
}

/** One series for what has the same labels at different steps. */
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

/** The characters of a label's value that an expression is tried at. */
const maxReplaced = 300;

/** label_replace, with expressions that cannot take long. */
export function replaced(
  { target, replacement, source, pattern }: Metric & { kind: "label_replace" },
  series: readonly Series[],
): Series[] {
  const regex = quickRegex(pattern);
  const found = series.map(({ labels, points }) => {
    const value = labels[source] ?? "";
    if (value.length > maxReplaced) refuse(`label_replace: a value of ${source} is too long`);
    const match = regex.exec(value);
    if (match === null) return { labels, points };
    const { [target]: _, ...others } = labels;
    const text = replacement.replace(
      /\$(?:(\$)|(\w+)|\{(\w+)\})/g,
      (_all, dollar?: string, plain?: string, braced?: string) =>
        dollar ?? match[Number(plain ?? braced)] ?? match.groups?.[plain ?? braced ?? ""] ?? "",
    );
    return { labels: text === "" ? others : { ...others, [target]: text }, points };
  });
  if (new Set(found.map(({ labels }) => keyOf(labels))).size < found.length) {
    refuse("label_replace: two series would have the same labels");
  }
  return found;
}

/** Two repetitions, and none of a group: JavaScript tries the square of a value's length at most. */
function quickRegex(pattern: string): RegExp {
  const plain = pattern.replace(/\\[\s\S]|\[\^?\]?[^\]]*\]/g, "x")
    .replace(/\(\?(?::|P?<\w+>)/g, "(").replace(/([*+?}])\?/g, "$1");
  const count = (sign: RegExp) => (plain.match(sign) ?? []).length;
  const isQuick = pattern.length <= 256 && count(/[*+?{]/g) <= 2 && count(/\|/g) <= 8 &&
    !/\)[*+?{]|\(\?/.test(plain) && !/\\[1-9k]/.test(pattern);
  try {
    if (isQuick) return new RegExp(`^(?:${pattern.replaceAll("(?P<", "(?<")})$`, "s");
  } catch {
    // Refused below.
  }
  return refuse(
    `label_replace: ${
      JSON.stringify(pattern)
    } is not supported: at most two of * + ? {}, none of a group`,
  );
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

/** As Go writes it. */
export function textOfValue(value: number | undefined): string {
  return value === Infinity ? "+Inf" : value === -Infinity ? "-Inf" : String(value);
}

export function isNumber(metric: Metric): boolean {
  return metric.kind === "number" ||
    metric.kind === "binary" && isNumber(metric.left) && isNumber(metric.right);
}
