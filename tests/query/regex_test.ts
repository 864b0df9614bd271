import assert from "node:assert/strict";
import { compileRegex } from "./regex.ts";

const matches = (source: string, text: string) => compileRegex([...source], 0)(text);

Deno.test("the evaluator's sets have characters beyond the basic plane, at the end too", () => {
  for (const source of ["[\\S]$", "\\S$", "\\D$", "\\W$", "[a-\u{1f44d}]$", "^[^a]$"]) {
    assert.ok(matches(source, "👍"), source);
  }
  assert.ok(matches("[!!&&~~]$", "👍!"));
});
