import assert from "node:assert/strict";
import { compileRegex } from "./regex.ts";

const matches = (source: string, text: string) => compileRegex([...source], 0)(text);

Deno.test("the evaluator's sets match characters beyond the basic plane, also at the end", () => {
  for (const source of ["[\\S]$", "\\S$", "\\D$", "\\W$", "[a-\u{1f44d}]$", "^[^a]$"]) {
    assert.ok(matches(source, "👍"), source);
  }
  assert.ok(matches("[!!&&~~]$", "👍!"));
});
