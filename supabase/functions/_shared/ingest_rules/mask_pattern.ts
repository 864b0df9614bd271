import { folded } from "../linear_regex/regex_characters.ts";
import { LinearRegex } from "../linear_regex/regex_match.ts";
import { type Part, requiredText, writtenForExtract } from "../linear_regex/regex_syntax.ts";
import type { Budget } from "./budget.ts";
import type { Found } from "./detectors.ts";

/** In longer texts, the time of JavaScript's engine may grow too much. */
const maxNative = 2048;
/** The most ways that the engine may try at a place, beside the length of one repeat without an end. */
const maxWays = 8;

/**
 * Finds a pattern as the query language has it; `.` is also a line break. JavaScript's engine is faster than the linear
 * expression, and is used where it has few ways to try.
 */
export function maskPattern(pattern: string) {
  const linear = new LinearRegex(`(?s)${pattern}`);
  const required = requiredText(linear.syntax);
  // JSON writes other texts with escapes.
  const trigger = new RegExp(/^[\w @:=-]+$/.test(required) ? inAnyCase(required) : "");
  const root = linear.syntax.isFolded ? foldedPart(linear.syntax.root) : linear.syntax.root;
  const syntax = { ...linear.syntax, root, isFolded: false };
  // The first match is then the longest, too.
  const hasOneWay = writtenForExtract(syntax) !== undefined;
  const native = hasOneWay || waysOf(root) <= maxWays ? new RegExp(written(root), "u") : undefined;
  const finder = hasOneWay ? new RegExp(native!, "gu") : undefined;
  return {
    trigger,
    /** Whether a text may have a match. */
    test: (text: string) => (text.length <= maxNative && native || trigger).test(text),
    /** False if that takes too long. */
    find(text: string, { check }: Budget, found: Found): boolean {
      const spans = finder !== undefined && text.length <= maxNative
        ? Array.from(text.matchAll(finder), ({ index, 0: { length } }) => [index, index + length])
          .filter(([from, to]) => to > from).flat()
        : linear.spans(text, () => check(Infinity));
      for (let n = 0; n < (spans?.length ?? 0); n += 2) found(spans![n], spans![n + 1]);
      return spans !== undefined;
    },
  };
}

function inAnyCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}

/** A part that ignores letter case, with all letters. */
function foldedPart(part: Part): Part {
  if (part.kind === "one") return { ...part, set: folded(part.set) };
  if ("parts" in part) return { ...part, parts: part.parts.map(foldedPart) };
  return "part" in part ? { ...part, part: foldedPart(part.part) } : part;
}

/** How many ways an engine that goes back may try at one place. */
function waysOf(part: Part): number {
  if (part.kind === "any") return part.parts.reduce((ways, one) => ways + waysOf(one), 0);
  if (part.kind === "group") return waysOf(part.part);
  if (part.kind === "repeat") {
    if (part.part.kind !== "one") return Infinity;
    return part.most === Infinity ? 1 : part.most - part.least + 1;
  }
  if (part.kind !== "all") return 1;
  const endless = part.parts.filter((one) => JSON.stringify(one).includes('"most":null'));
  return endless.length > 1 ? Infinity : part.parts.reduce((ways, one) => ways * waysOf(one), 1);
}

/** Writes a part for JavaScript's engine. */
function written(part: Part): string {
  switch (part.kind) {
    case "one": {
      const codes = part.set.map((range) => range.map((code) => `\\u{${code.toString(16)}}`));
      return `[${codes.map((range) => range.join("-")).join("")}]`;
    }
    case "at":
      return part.sign.replace(/^b$/i, "\\$&");
    case "all":
      return part.parts.map(written).join("");
    case "any":
      return `(?:${part.parts.map(written).join("|")})`;
    case "group":
      return `(?:${written(part.part)})`;
    case "repeat": {
      const { least, most, isLazy } = part;
      const times = `{${least},${most === Infinity ? "" : most}}${isLazy ? "?" : ""}`;
      return `(?:${written(part.part)})${times}`;
    }
  }
}
