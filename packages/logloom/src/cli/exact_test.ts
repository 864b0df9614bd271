import assert from "node:assert/strict";
import { jsonOf, parseExactly, textOf } from "./exact.ts";

Deno.test("numbers that JavaScript would round keep their text, here and on Node 20", () => {
  const json =
    '{"a":12345678901234567890,"b":[0.1,1.10,-0.30000000000000004],"c":"12345678901234567890 \\"1e400","d":1e400,"e":null}';
  const value = parseExactly(json) as Record<string, unknown>;
  assert.equal(jsonOf(value), json);
  assert.deepEqual([value.c, value.e], ['12345678901234567890 "1e400', null]);
  assert.deepEqual(
    ["a", "b", "c"].map((name) => textOf(value[name])),
    ["12345678901234567890", "[0.1,1.10,-0.30000000000000004]", '12345678901234567890 "1e400'],
  );
});
