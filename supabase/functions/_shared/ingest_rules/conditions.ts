import { scalarText } from "../json_values.ts";
import type { Test } from "./compiled_rule.ts";
import { columnOf, type Records } from "./records.ts";

export interface Condition {
  readonly holds: (records: Records) => boolean;
  /** Whether it takes next to no time, however long the texts are. */
  readonly isCheap: boolean;
}

const levels: readonly (string | null)[] = ["debug", "info", "warn", "error"];

/** Makes the test of a condition, which finds what a search finds. A test of a newer database is `otherwise`. */
export function conditionOf(test: Test, otherwise: boolean): Condition {
  const { not = false } = test;
  const value = String(test.value);
  const like = test.op === "~" ? wildcard(value) : (text: string) => text === value;
  const isCheap = test.op !== "~" && test.op !== "has";
  const condition = (holds: Condition["holds"]): Condition => ({
    holds: not ? (records) => !holds(records) : holds,
    isCheap,
  });
  if (test.op === "has") {
    const has = containing(folded(value));
    const msg = columnOf("msg");
    return condition((records) => {
      const text = records.text(msg);
      return text !== null && has(folded(text));
    });
  }
  if ("a" in test && (test.op === "=" || test.op === "~")) {
    const { a, op } = test;
    const matches = (one: unknown) => {
      const text = scalarText(one);
      return text !== undefined && like(text);
    };
    return condition(({ attrs }) => {
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
    return condition((records) => {
      const text = records.text(column);
      return text !== null && like(text);
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

function containing(value: string): (text: string) => boolean {
  return /[*?\\]/.test(value) ? wildcard(`*${value}*`) : (text) => text.includes(value);
}

/**
 * Tests whole texts by a pattern with `*` and `?`. Goes back to the last `*` only, so the time is at most the length of
 * the text times that of the pattern.
 */
function wildcard(value: string): (text: string) => boolean {
  const [one, many] = [null, undefined];
  const pattern = Array.from(
    value.matchAll(/\\([^])|([^])/gu),
    ([, literal, sign]) => literal ?? (sign === "*" ? many : sign === "?" ? one : sign),
  );
  return (text) => {
    const characters = /[\ud800-\udfff]/.test(text) ? [...text] : text;
    let [at, next, star, from] = [0, 0, -1, 0];
    while (at < characters.length) {
      if (next < pattern.length && pattern[next] === many) {
        [star, from] = [next++, at];
      } else if (pattern[next] === one || pattern[next] === characters[at]) {
        at++;
        next++;
      } else if (star === -1) {
        return false;
      } else {
        [next, at] = [star + 1, ++from];
      }
    }
    return pattern.slice(next).every((sign) => sign === many);
  };
}
