import { scalarText } from "../json_values.ts";
import type { Budget } from "./budget.ts";
import type { Test } from "./compiled_rule.ts";
import { columnOf, type Records } from "./records.ts";

export interface Condition {
  /** Means nothing if the time is over afterwards, unless it is cheap. */
  readonly holds: (records: Records, budget: Budget) => boolean;
  /** Whether it takes next to no time, however long the texts are. */
  readonly isCheap: boolean;
}

/** Whether all hold. `otherwise`: whether those that cannot be tested in time do. */
export function allHold(
  conditions: readonly Condition[],
  records: Records,
  budget: Budget,
  otherwise: boolean,
): boolean {
  let areTested = true;
  for (const { holds, isCheap } of conditions) {
    const isHeld = (isCheap || !budget.isOver) && holds(records, budget);
    if (!isCheap && budget.isOver) areTested = false;
    else if (!isHeld) return false;
  }
  return areTested || otherwise;
}

const levels: readonly (string | null)[] = ["debug", "info", "warn", "error"];

/** Makes the test of a condition, which finds what a search finds. A test of a newer database is `otherwise`. */
export function conditionOf(test: Test, otherwise: boolean): Condition {
  const { not = false } = test;
  const value = String(test.value);
  const like = test.op === "~" ? wildcard(value) : (text: string) => text === value;
  // An attribute may be a long array.
  const isCheap = test.op !== "has" && test.op !== "~" && !("a" in test && test.op === "=");
  const condition = (holds: Condition["holds"]): Condition => ({
    holds: not ? (records, budget) => !holds(records, budget) : holds,
    isCheap,
  });
  if (test.op === "has") {
    const has = containing(folded(value));
    const msg = columnOf("msg");
    return condition((records, budget) => {
      const text = records.text(msg);
      return text !== null && !budget.check(text.length) && has(folded(text), budget);
    });
  }
  if ("a" in test && (test.op === "=" || test.op === "~")) {
    const { a, op } = test;
    return condition(({ attrs }, budget) => {
      const matches = (one: unknown, at = 0) => {
        const text = (at & 255) === 255 && budget.check() ? undefined : scalarText(one);
        return text !== undefined && like(text, budget);
      };
      const sent = attrs !== null && Object.hasOwn(attrs, a) ? attrs[a] : null;
      if (sent !== null && op === "~" && value === "*") return true;
      return Array.isArray(sent) ? sent.some(matches) : matches(sent);
    });
  }
  if ("a" in test) {
    const { a, op } = test;
    const bound = Number(value);
    return condition(({ attrs }) => {
      const sent = attrs !== null && Object.hasOwn(attrs, a) ? attrs[a] : null;
      const number = numberOf(sent);
      if (number === bound) return op.endsWith("=");
      return op.startsWith(">") ? number > bound : number < bound;
    });
  }
  const column = "f" in test ? columnOf(test.f) : -1;
  if (column === -1) return { holds: () => otherwise, isCheap };
  if (test.op === "=" || test.op === "~") {
    return condition((records, budget) => {
      const text = records.text(column);
      return text !== null && like(text, budget);
    });
  }
  const accepted = levels.filter((_, at) => {
    const distance = at - levels.indexOf(value);
    return distance === 0 ? test.op.endsWith("=") : (distance > 0) === test.op.startsWith(">");
  });
  return condition((records) => accepted.includes(records.text(column)));
}

/** The number of an attribute, which may be a text; NaN if it is none. */
function numberOf(value: unknown): number {
  const text = typeof value === "boolean" ? "" : scalarText(value) ?? "";
  const isNumber = text.length <= 300 &&
    /^-?\d+(?:\.\d+)?(?:[eE][+-]?0*\d{1,3})?$/.test(text);
  return isNumber ? Number(text) : NaN;
}

/** Folds letter case as the search does: the dotted İ has one small letter, and both small sigmas are one. */
function folded(text: string): string {
  return text.replaceAll("İ", "i").toLowerCase().replaceAll("ς", "σ");
}

type TextTest = (text: string, budget: Budget) => boolean;

function containing(value: string): TextTest {
  return /[*?\\]/.test(value) ? wildcard(`*${value}*`) : (text) => text.includes(value);
}

/**
 * Tests whole texts by a pattern with `*` and `?`. Goes back to the last `*` only, so the time is at most the length of
 * the text times that of the pattern, or what is left of the budget.
 */
function wildcard(value: string): TextTest {
  const [one, many] = [-1, -2];
  const pattern = Array.from(
    value.matchAll(/\\([^])|([^])/gu),
    ([, literal, sign]) =>
      sign === "*" ? many : sign === "?" ? one : (literal ?? sign).codePointAt(0)!,
  );
  return (text, budget) => {
    const after = (at: number) => at + (text.codePointAt(at)! > 0xffff ? 2 : 1);
    let [at, next, star, from] = [0, 0, -1, 0];
    for (let steps = 1; at < text.length; steps++) {
      if ((steps & 4095) === 0 && budget.check()) return false;
      if (next < pattern.length && pattern[next] === many) {
        [star, from] = [next++, at];
      } else if (pattern[next] === one || pattern[next] === text.codePointAt(at)) {
        at = after(at);
        next++;
      } else if (star === -1) {
        return false;
      } else {
        [next, at] = [star + 1, from = after(from)];
      }
    }
    return pattern.slice(next).every((sign) => sign === many);
  };
}
