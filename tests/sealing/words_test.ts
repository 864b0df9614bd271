import { equal } from "node:assert/strict";
import fc from "fast-check";
import { openDatabase } from "../support/database.ts";

// The words of a run exclude it from a search only if none of its texts can match. Repeat a run by
// its seed: SEALING_SEED=…

const seed = Number(Deno.env.get("SEALING_SEED") ?? Math.floor(Math.random() * 2 ** 31));

const piece = fc.oneof(
  fc.constantFrom(
    "failed",
    "Password",
    "für",
    "ÀB",
    "İstanbul",
    "K",
    "ǅ",
    "ΣΑΣ",
    "0",
    "日本",
    "🚀",
  ),
  fc.constantFrom(
    " ",
    "  ",
    "-",
    "_",
    "%",
    "\\",
    "'",
    '"',
    "=",
    "[",
    "\t",
    "\n",
    "\u007f",
    "\u001e",
  ),
  fc.constantFrom("a", "A", "z", "Z", "\u00a0", "…"),
);
const text = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(""));

/** The compiler's leaf that searches messages for a text. */
const leaf = String.raw`
  create function pg_temp.leaf(p_literal text) returns jsonb language sql
  return logloom_private.query_leaf('{"field": "msg"}', jsonb_build_object(
    'test', 'contains',
    'values', array['%' || logloom_private.query_like_text(p_literal) || '%']
  ))`;

Deno.test(`a search for any part of a text, in any letter case, reads the text, seed ${seed}`, async () => {
  await using sql = openDatabase(undefined, 1);
  await sql.unsafe(leaf);
  await sql.unsafe(`
    create function pg_temp.passes(p_text text, p_literal text) returns boolean language plpgsql as $$
    declare
      v_passes boolean;
    begin
      execute 'select ' || logloom_private.words_sql(pg_temp.leaf(p_literal))
        || ' from (select logloom_private.words_of($1)) l (words)'
      into v_passes using p_text;
      return v_passes;
    end $$`);
  await fc.assert(
    fc.asyncProperty(text, fc.nat(), fc.nat(), async (text, from, length) => {
      const letters = [...text];
      const start = from % letters.length;
      const part = letters.slice(start, start + 1 + length % (letters.length - start)).join("");
      // Texts that repeat have few different words.
      const [{ words, upper, lower, raw }] = await sql`
        select
          logloom_private.words_of(repeat(${text} || chr(31), 9)) is not null as words,
          pg_temp.passes(repeat(${text} || chr(31), 9), upper(${part} collate pg_c_utf8)) as upper,
          pg_temp.passes(repeat(${text} || chr(31), 9), lower(${part} collate pg_c_utf8)) as lower,
          pg_temp.passes(repeat(${text} || chr(31), 9), ${part}) as raw`;
      equal(words, true);
      equal(lower, true, part);
      equal(raw, true, part);
      // Some capitals map to a small letter whose capital is different.
      if (!/[^ -~]/.test(part)) equal(upper, true, part);
    }),
    { seed, numRuns: 500 },
  );
});

Deno.test("words exclude texts that are absent", async () => {
  await using sql = openDatabase(undefined, 1);
  await sql.unsafe(leaf);
  const line = "Failed password for invalid_user from 00.0.0.0\u001e".repeat(9);
  const tests = async (literal: string) => {
    const [{ words }] = await sql`select logloom_private.words_of(${line}) as words`;
    const [{ test }] =
      await sql`select logloom_private.words_sql(pg_temp.leaf(${literal})) as test`;
    const [{ passes }] = await sql.unsafe(
      `select ${test} as passes from (select $1::text) l (words)`,
      [words],
    );
    return passes;
  };
  for (const held of ["failed", "led PASS", "word for", "d_us", "0.0", "-", "user from 0"]) {
    equal(await tests(held), true, held);
  }
  for (const absent of ["refused", "led ass", "word or", "a_user", "0.0.x"]) {
    equal(await tests(absent), false, absent);
  }
  // Words do not say which character follows them; templates do.
  equal(await tests("failed."), true);
});
