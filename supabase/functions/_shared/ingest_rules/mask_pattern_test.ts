import assert from "node:assert/strict";
import fc from "fast-check";
import { LinearRegex } from "../linear_regex/regex_match.ts";
import { Budget } from "./budget.ts";
import { maskPattern } from "./mask_pattern.ts";

const atoms =
  'a b é 😀 . [ab] [^a] [a-z😀] \\d \\W \\. \\" \\- (?:a|b1) (?:a|ab) (b|[0-9]) \\b ^ $';
const atom = fc.constantFrom(...atoms.split(" "));
const repeat = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "+?");
const parts = fc.array(fc.tuple(atom, repeat), { minLength: 1, maxLength: 5 });
const pattern = fc.tuple(fc.constantFrom("", "(?i)"), parts).map((all) => all.flat(2).join(""));
const sign = fc.constantFrom(...'a b A B 1 é É 😀 . " - \n \ud83d'.split(" "));
const text = fc.array(sign, { maxLength: 12 }).map((signs) => signs.join(""));

Deno.test("a pattern finds the longest matches, as the linear expression does", () => {
  let count = 0;
  fc.assert(
    fc.property(pattern, text, (pattern, text) => {
      const spans = new LinearRegex(`(?s)${pattern}`).spans(text, () => false) ?? [];
      const { test, find } = maskPattern(pattern);
      const found: number[] = [];
      if (test(text)) find(text, new Budget(() => 0), (from, to) => found.push(from, to));
      assert.deepEqual(found, spans);
      count += spans.length;
    }),
    { numRuns: 5000 },
  );
  assert.ok(count > 500, String(count));
});
