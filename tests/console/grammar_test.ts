import assert from "node:assert/strict";
import fc from "fast-check";
import { checkout } from "../../local/stack.ts";
import { mangled, query } from "../query/random_queries.ts";
import { readGrammar } from "../query/ebnf.ts";
import { rpc } from "../support/client.ts";
import { newUser } from "../support/users.ts";
import { editorAccepts } from "./grammar.ts";

// The documented grammar and the editor's grammar must accept what the service's compiler accepts.

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));

const page = await Deno.readTextFile(`${checkout}/docs/reference/query-language.md`);
const grammarAccepts = readGrammar(page);

/** Errors of the service that the grammar does not express: the meaning of terms, and limits. */
const beyond = [
  /^Unknown level /,
  /^Not a (UUID|time|network): /,
  /^A shift from now is longer than 100 years$/,
  /^(A|The) number is out of range$/,
  /^An attribute is compared with a number, but this is not one: /,
  /^The bounds of a range have different units$/,
  /^A comparison takes no wildcard$/,
  /^A word to look for is empty$/,
  /^any only takes a text$/,
  / cannot be compared$/,
  / takes no (regular expression|i=|w=)$/,
  / takes an attribute$/,
  / takes a field that holds a text$/,
  /^Regular expression: /,
  / is not allowed after /,
  /^(Two columns are called|Invalid name between < and >:) /,
  /^No (column to sort by|number to compare|number to compute with): /,
  /^The pattern of |^Two names have no text between them$/,
  /^Records are sorted by ts only$/,
  /^"by" has two widths of time$/,
  /^More than 8 aggregates$/,
  /^More than 50 fields$/,
  /^Brackets and NOTs nest deeper than 16$/,
  /^The query (has more than|is longer than|is too complex)/,
];

interface Verdict {
  valid: boolean;
  error: string | null;
}

async function compare(queries: string[]): Promise<string[]> {
  const wrong: string[] = [];
  let next = 0;
  const work = async () => {
    // A tenant may validate two queries at once, so each worker has its own tenant.
    const { token } = await newUser();
    while (next < queries.length) {
      const text = queries[next++];
      const { status, body } = await rpc<Verdict>(token, "validate_query", { p_query_dsl: text });
      assert.equal(status, 200, JSON.stringify(body));
      // Only the compiler limits the complexity of a regular expression.
      if (body.error?.startsWith("Regular expression: it is too complex")) continue;
      const says = `${JSON.stringify(text)}: the service says ${body.error ?? "it is valid"}`;
      if (body.valid !== editorAccepts(text)) wrong.push(`${says}, the editor does not`);
      const isBeyond = beyond.some((message) => message.test(body.error ?? ""));
      if (!isBeyond && body.valid !== grammarAccepts(text)) {
        wrong.push(`${says}, the documented grammar does not`);
      }
    }
  };
  await Promise.all(Array.from({ length: 6 }, work));
  return wrong;
}

/** The code in the first column of the documentation's tables, where a bar is written \|. */
function documented(): string[] {
  const cells = [...page.matchAll(/^\| (`+)(.*?)\1 +\|/gm)];
  return cells.map((cell) => cell[2].replaceAll("\\|", "|"));
}

Deno.test("grammar, editor and service accept the documented examples", async () => {
  const queries = documented();
  assert.ok(queries.length > 100, `${queries.length} examples`);
  assert.deepEqual(await compare(queries), []);
});

Deno.test(`grammar, editor and service accept the same 2,000 random queries, seed ${seed}`, async () => {
  const queries = [
    ...fc.sample(query, { numRuns: 1000, seed }),
    ...fc.sample(mangled, { numRuns: 1000, seed }),
  ].filter((text) => !text.includes("\0"));
  for (const accepts of [editorAccepts, grammarAccepts]) {
    const accepted = queries.filter(accepts).length;
    assert.ok(accepted > 500 && accepted < queries.length - 100, `${accepted} are accepted`);
  }
  assert.deepEqual(await compare(queries), []);
});

Deno.test("every error beyond the grammar is documented", async () => {
  const errors = await Deno.readTextFile(`${checkout}/docs/reference/errors.md`);
  const messages = [...errors.matchAll(/^\| `PT400` +\| `[\w.]+` +\| `(.*?)` +\|/gm)].map((
    [, text],
  ) => text);
  const missing = beyond.filter((one) =>
    !messages.some((message) => one.test(`${message} `.trim()))
  );
  assert.deepEqual(missing, []);
});
