import assert from "node:assert/strict";
import fc from "fast-check";
import { jsonFault } from "./json_fault.ts";

Deno.test("a fault has its place and reason", () => {
  const cases: [string, number, number, string][] = [
    ['[{"a":1},\n {"a":NaN}]', 2, 7, "NaN is not JSON: use null"],
    ['{"a":-Infinity}', 1, 6, "-Infinity is not JSON: use null"],
    ['{"a":True}', 1, 6, "True is not JSON: use true"],
    ["{'a':1}", 1, 2, "names need double quotes"],
    ["{\"a\":'x'}", 1, 6, "strings need double quotes"],
    ['[{"a":1},]', 1, 10, "a comma before ]"],
    ['{"a":1,}', 1, 8, "a comma before }"],
    ['{"a" 1}', 1, 6, "expected : after a name"],
    ['{"a":1 "b":2}', 1, 8, "expected , or }"],
    ["[1 2]", 1, 4, "expected , or ]"],
    ['{"日本":"👍", x}', 1, 12, "names need double quotes"],
    ["// a\n1", 1, 1, "JSON has no comments"],
    ["{} {}", 1, 4, "text after the end"],
    ['["a', 1, 2, "a string is not closed"],
    ["", 1, 1, "it ends early"],
  ];
  for (const [text, line, column, why] of cases) {
    assert.deepEqual(jsonFault(text), { line, column, why }, text);
  }
});

Deno.test("a fault is found exactly if JSON.parse refuses the text", () => {
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
