import assert from "node:assert/strict";
import { assemble } from "./unreleased.ts";

const [comment, path] = assemble("select 1;", "", "")?.split("\n\n") ?? [];
const header = `${comment}\n\n${path}`;
const end = "select logloom_private.finish_migration();\n";

Deno.test("a migration has renames first, then the difference, then rows", () => {
  assert.equal(
    assemble("alter table a rename to b;", "create table c ();", "update d set e = 1;"),
    `${header}\n\nalter table a rename to b;\n\ncreate table c ();\n\nupdate d set e = 1;\n\n${end}`,
  );
});

Deno.test("without a change there is no migration", () => {
  assert.equal(assemble("", "", ""), null);
});

Deno.test("a migration that changes logloom.logs in any part holds the writers first", () => {
  const change = "alter table logloom.logs add column x int;";
  const hold = "select logloom_private.hold_writers();";
  for (
    const text of [assemble(change, "", ""), assemble("", change, ""), assemble("", "", change)]
  ) {
    assert.equal(text, `${header}\n\n${hold}\n\n${change}\n\n${end}`);
  }
});
