import assert from "node:assert/strict";
import { callsIn, functionsOf, schemaTexts } from "../../local/migrations/schema_functions.ts";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";

const texts = await schemaTexts();
const functions = functionsOf(texts);

Deno.test("no file of the schemas is longer than 300 lines", () => {
  assert.ok(texts.length > 100);
  const long = texts.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
    .filter(({ lines }) => lines > 300);
  assert.deepEqual(long, []);
});

Deno.test("a function is parsed with its body, a text or standard SQL", () => {
  const text = `create function a.one(p integer)
returns integer
language sql
return case
  when p > 0 then b.x(p)
end;

create or replace function a.two()
returns setof a.t
language sql
begin atomic
  select 1; select b.y();
end;

create function a.three()
returns void
language plpgsql
as $$
begin
  return;
end;
$$;
`;
  assert.deepEqual(functionsOf([{ path: "f.sql", text }]).map(({ name, body }) => [name, body]), [
    ["a.one", "return case\n  when p > 0 then b.x(p)\nend;"],
    ["a.two", "begin atomic\n  select 1; select b.y();\nend;"],
    ["a.three", "\nbegin\n  return;\nend;\n"],
  ]);
});

Deno.test("no function of the schemas is longer than 120 lines", () => {
  assert.ok(functions.length > 500);
  const long = functions.map(({ name, body }) => ({ name, lines: body.split("\n").length - 2 }))
    .filter(({ lines }) => lines > 120);
  assert.deepEqual(long, []);
});

Deno.test("every private function is called: by another, a table, a job, code or an operator", async () => {
  const names = new Set(functions.map(({ name }) => name));
  const called = new Set<string>();
  for (const { name, head, body } of functions) {
    for (const call of callsIn(head + body, names)) if (call !== name) called.add(call);
  }
  // The rest of the schemas has triggers, policies, defaults and constraints.
  for (const { text } of texts) {
    const rest = functions.reduce((left, { body }) => left.replace(body, ""), text)
      .replace(/^create (?:or replace )?(?:function|procedure) [\w.]+/gm, "")
      .replace(/^(?:grant|revoke) [^;]*;/gm, "")
      .replace(/^comment on [^;']*?\bis\s+(?:'(?:[^']|'')*'\s*)+;/gm, "");
    for (const call of callsIn(rest, names)) called.add(call);
  }
  for (const { path, text } of texts) {
    if (!path.startsWith("supabase/schemas/schedules/")) continue;
    for (const [, job] of text.matchAll(/'(\w+)'/g)) called.add(`logloom_private.${job}`);
  }
  // Documents name the functions for operators with their schema.
  for (const file of await walk(["supabase/functions", "local", "cli", "citus", "docs"])) {
    if (!/\.(?:ts|mjs|sql|psql|md)$/.test(file)) continue;
    const text = await Deno.readTextFile(`${checkout}/${file}`);
    for (const call of callsIn(text, names)) called.add(call);
  }
  assert.deepEqual(
    [...names].filter((name) => name.startsWith("logloom_private.") && !called.has(name)),
    [],
  );
});
