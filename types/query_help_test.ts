import assert from "node:assert/strict";
import { checkout } from "../local/stack.ts";
import { module, queryHelp, queryLanguageModule } from "./query_help.ts";

Deno.test("the query language for assistants equals the docs", async () => {
  assert.equal(
    await Deno.readTextFile(`${checkout}/${module}`),
    await queryLanguageModule(),
    "run deno run -A types/query_help.ts",
  );
});

Deno.test("a table becomes a list of queries, without the events that they find", () => {
  const page = "# Language\n\nSee [it](it.md).\n\n## Terms\n\nWords.\n\n" +
    "| query | finds | |\n| --- | --- | --- |\n| `a` | 1, 2 | a word |\n| `\\| b` | 3 | |\n\n" +
    "## Grammar\n\nlong\n\n## Errors\n\n| query | position | error |\n| - | - | - |\n| `c` | 4 | `No c` |\n";
  assert.equal(
    queryHelp(page),
    "# Language\n\nSee it.\n\n## Terms\n\nWords.\n\n- `a`: a word\n- `| b`\n\n" +
      "## Errors\n\n- `c`: `No c`",
  );
});
