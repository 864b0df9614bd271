import assert from "node:assert/strict";
import { bareDatabase, cloneDatabase } from "../../local/migrations/clone_database.ts";
import { migrations, migrationsFolder } from "../../local/migrations/released.ts";
import { stackNamed } from "../../local/stack.ts";
import { openDatabase } from "../support/database.ts";

// The test replaces the catalog of available extensions by a view.

const hint = "pg_partman 5 comes with Supabase's images from late 2025: upgrade the project's " +
  "Postgres (Project Settings, Infrastructure), then install again.";

for (
  const { name, without, changed, message } of [
    {
      name: "missing",
      without: ["pg_partman", "http"],
      changed: {},
      message: "Logloom cannot be installed, extensions are missing: http, pg_partman",
    },
    {
      name: "too old",
      without: [],
      changed: { pg_partman: "4.7.4", pg_cron: "1.4-1" },
      message: "Logloom cannot be installed, extensions are missing: " +
        "pg_cron 1.5 or newer (1.4-1 is there), pg_partman 5.0 or newer (4.7.4 is there)",
    },
  ]
) {
  Deno.test(`extensions that are ${name} are named before anything is created`, async () => {
    const url = await cloneDatabase(stackNamed("scratch"), bareDatabase, "without_extensions");
    await using sql = openDatabase(url, 1);
    const objects = () =>
      sql`select
        (select count(*) from pg_namespace where nspname !~ '^pg_') as schemas,
        (select count(*) from pg_extension) as extensions,
        (select count(*) from pg_proc) as functions`;
    const versions = `'${JSON.stringify(changed)}'::jsonb`;
    const gone = `'${JSON.stringify(without)}'::jsonb`;
    await sql.unsafe(`
      create temp view available as
      select e.name, coalesce(${versions} ->> e.name, e.default_version) as default_version,
        null::text as installed_version
      from pg_available_extensions e
      where not ${gone} ? e.name::text`);
    const before = await objects();
    const text = (await Deno.readTextFile(`${migrationsFolder}/${(await migrations())[0]}`))
      .replace("pg_catalog.pg_available_extensions", "pg_temp.available");
    await assert.rejects(sql.unsafe(text).simple(), { code: "0A000", message, hint });
    assert.deepEqual(await objects(), before);
    const [checked] = text.split(/^create /m);
    assert.match(checked, /pg_temp\.available/, "it is looked at before the first create");
  });
}

Deno.test("a database with an older Logloom stays unchanged, and the error says what to do", async () => {
  const url = await cloneDatabase(stackNamed("scratch"), bareDatabase, "with_logloom");
  await using sql = openDatabase(url, 1);
  await sql.unsafe(`
    create schema logloom_private;
    create table logloom_private.installation ()`);
  const text = await Deno.readTextFile(`${migrationsFolder}/${(await migrations())[0]}`);
  await assert.rejects(sql.unsafe(text).simple(), {
    code: "55000",
    message: "This database already has a Logloom, and 1.0.0 upgrades none: export what you want " +
      "to keep, uninstall it, then install again",
    hint: "Nothing was changed. docs/upgrade.md shows the commands.",
  });
  const [{ schemas }] = await sql`
    select count(*)::integer as schemas from pg_namespace where nspname = 'logloom'`;
  assert.equal(schemas, 0);
});
