import assert from "node:assert/strict";
import fc from "fast-check";
import { jsonFault } from "./json_fault.ts";

Deno.test("the place of a fault, and what it is", () => {
  const cases: [string, number, number, string][] = [
    ['[{"a":1},\n {"a":NaN}]', 2, 7, "NaN is no JSON value, null is"],
    ['{"a":-Infinity}', 1, 6, "-Infinity is no JSON value, null is"],
    ['{"a":True}', 1, 6, "True is no JSON value, true is"],
    ["{'a':1}", 1, 2, "names of members are in double quotes"],
    ["{\"a\":'x'}", 1, 6, "texts are in double quotes"],
    ['[{"a":1},]', 1, 10, "a comma stands before ]"],
    ['{"a":1,}', 1, 8, "a comma stands before }"],
    ['{"a" 1}', 1, 6, "expected : after a name"],
    ['{"a":1 "b":2}', 1, 8, "expected , or }"],
    ["[1 2]", 1, 4, "expected , or ]"],
    ['{"日本":"👍", x}', 1, 12, "names of members are in double quotes"],
    ["// a\n1", 1, 1, "JSON has no comments"],
    ["{} {}", 1, 4, "something follows the end"],
    ['["a', 1, 2, "a text is not closed"],
    ["", 1, 1, "it ends early"],
  ];
  for (const [text, line, column, why] of cases) {
    assert.deepEqual(jsonFault(text), { line, column, why }, text);
  }
});

Deno.test("a text has a fault where JSON.parse refuses it, and nowhere else", () => {
  const pieces = fc.constantFrom(
    ...["{", "}", "[", "]", ",", ":", '"', '"a"', "1", "-", "0", "1e5", ".5", "true", "null"],
    ...["NaN", " ", "\n", "\\", "\\u00e9", "\t", "x"],
  );
  const mutated = fc.tuple(fc.jsonValue(), fc.nat(), fc.string({ maxLength: 2 })).map(
    ([value, at, put]) => {
      const text = JSON.stringify(value);
      return text.slice(0, at % (text.length + 1)) + put + text.slice(at % (text.length + 1));
    },
  );
  fc.assert(
    fc.property(fc.oneof(fc.array(pieces).map((parts) => parts.join("")), mutated), (text) => {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      assert.equal(jsonFault(text) === undefined, isJson, text);
    }),
    { numRuns: 2000 },
  );
});
