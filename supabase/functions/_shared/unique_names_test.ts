import assert from "node:assert/strict";
import fc from "fast-check";
import { hasUniqueNames } from "./unique_names.ts";

Deno.test("two members of one name are found, wherever they are and however they are escaped", () => {
  for (
    const json of [
      '{"a":1,"a":1}',
      '{"a":1, "b":{"a":[]}, "a" :2}',
      '{"a":[{"b":{"c":1,"c":2}}]}',
      '{"tenant_id":"x","tenant\\u005fid":"y"}',
      '{"":1,"":2}',
      '[{"__proto__":1,"__proto__":2}]',
      '{"\\"":1,"\\u0022":2}',
    ]
  ) {
    assert.equal(hasUniqueNames(json), false, json);
  }
});

Deno.test("JSON.stringify writes unique names", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => hasUniqueNames(JSON.stringify(value, null, 1))));
  for (
    const json of [
      '{"a":"a","b":"a","c":["a","a"]}',
      '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}',
      '{"a":"\\":\\"a\\":","b":"{\\"b\\":1}"}',
      '"a"',
      "[]",
    ]
  ) {
    assert.equal(hasUniqueNames(json), true, json);
  }
});
