import assert from "node:assert/strict";
import { patternsIn } from "./find_patterns.ts";
import { mostForDouble, worstCost } from "./worst_cost.ts";

Deno.test("texts are found for known slow patterns", () => {
  const slow: [string, string][] = [
    ["[\\w.:-]*=", ""],
    ["\\s+$", "g"],
    ["(a+)+$", ""],
    ["^(?:\\w+\\s?)*$", ""],
    ['([A-Za-z_][\\w.:-]*)\\s*=\\s*"([^"\\\\]*(?:\\\\.[^"\\\\]*)*)"', "gs"],
    ['"(?:[^"\\\\]|\\\\.)*"', "g"],
    ["<script[^>]*>[^]*</script>", "i"],
    ["^[^@]+@[^@]+\\.[^@]+$", ""],
    ["(?=.*a)(?=.*b)", ""],
    // Linear, but exceeds the memory for backtracking.
    ['([A-Za-z_@][\\w.@/-]*)=("[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|[^\\s"]*)(?:\\s+|$)', "y"],
    ["key-\\d{3}[^;]*;", ""],
  ];
  const missed = slow.filter(([source, flags]) =>
    worstCost(source, flags).doubling <= mostForDouble
  );
  assert.deepEqual(missed, []);
});

Deno.test("regular expressions are found anywhere in a file", () => {
  const { found, imports, hasMade } = patternsIn(
    "supabase/functions/a/b.ts",
    [
      'import { c } from "../_shared/c.ts";',
      'import { d } from "d";',
      "const one = 4 / 2 / 1 ? /a[/]\\//gi : `${/b/.test(c)}`;",
      'const two = new RegExp(`"${d}x`, "g");',
      'const three = RegExp("y+");',
    ].join("\n"),
  );
  assert.deepEqual(found, [
    { place: "supabase/functions/a/b.ts:3", source: "a[/]\\/", flags: "gi" },
    { place: "supabase/functions/a/b.ts:3", source: "b", flags: "" },
    { place: "supabase/functions/a/b.ts:4", source: '"interpolatedx', flags: "g" },
    { place: "supabase/functions/a/b.ts:5", source: "y+", flags: "" },
  ]);
  assert.deepEqual(imports, ["supabase/functions/_shared/c.ts"]);
  assert.ok(!hasMade && patternsIn("a.ts", "new RegExp(read())").hasMade);
});
