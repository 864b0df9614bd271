import assert from "node:assert/strict";
import fc from "fast-check";
import { checkout } from "../../local/stack.ts";
import { mangled, query } from "../query/arbitrary.ts";
import { rpc } from "../support/client.ts";
import { newUser } from "../support/users.ts";
import { editorAccepts } from "./grammar.ts";

// The editor's grammar must not part from the service's compiler: both accept the same texts.

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));

interface Verdict {
  valid: boolean;
  error: string | null;
}

async function compare(queries: string[]): Promise<string[]> {
  const wrong: string[] = [];
  let next = 0;
  const work = async () => {
    // A tenant has two queries validated at once.
    const { token } = await newUser();
    while (next < queries.length) {
      const text = queries[next++];
      const { status, body } = await rpc<Verdict>(token, "validate_query", { p_query_dsl: text });
      assert.equal(status, 200, JSON.stringify(body));
      // How much work a regular expression may be is the compiler's business alone.
      if (body.error?.endsWith("it is too complex")) continue;
      if (body.valid !== editorAccepts(text)) {
        wrong.push(`${JSON.stringify(text)}: the service says ${body.error ?? "it is valid"}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return wrong;
}

/** What stands in code in the first column of the tables, with \| for a bar. */
async function documented(): Promise<string[]> {
  const text = await Deno.readTextFile(`${checkout}/docs/query-language.md`);
  const cells = [...text.matchAll(/^\| (`+)(.*?)\1 +\|/gm)];
  return cells.map((cell) => cell[2].replaceAll("\\|", "|"));
}

Deno.test("the editor accepts what the documentation shows, as the service does", async () => {
  const queries = await documented();
  assert.ok(queries.length > 100, `${queries.length} examples`);
  assert.deepEqual(await compare(queries), []);
});

Deno.test(`the editor and the service accept the same 2,000 random queries, seed ${seed}`, async () => {
  const queries = [
    ...fc.sample(query, { numRuns: 1000, seed }),
    ...fc.sample(mangled, { numRuns: 1000, seed }),
  ].filter((text) => !text.includes("\0"));
  const accepted = queries.filter(editorAccepts).length;
  assert.ok(accepted > 500 && accepted < queries.length, `${accepted} are accepted`);
  assert.deepEqual(await compare(queries), []);
});
