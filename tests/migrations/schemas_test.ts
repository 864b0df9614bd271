import assert from "node:assert/strict";
import {
  applySql,
  bareDatabase,
  cloneDatabase,
  difference,
} from "../../local/migrations/databases.ts";
import { migrations, migrationsFolder } from "../../local/migrations/released.ts";
import { rowDifferences } from "../../local/migrations/rows.ts";
import { schemaTexts } from "../../local/migrations/schemas.ts";
import { stackNamed } from "../../local/stack.ts";

const stack = stackNamed("scratch");

function texts(paths: string[]): Promise<{ path: string; text: string }[]> {
  return Promise.all(paths.map(async (path) => ({ path, text: await Deno.readTextFile(path) })));
}

Deno.test("the schemas make the same database as the migrations", async () => {
  const from = await cloneDatabase(stack, bareDatabase, "from_migrations");
  const to = await cloneDatabase(stack, bareDatabase, "from_schemas");
  // One after the other: some of it belongs to the cluster.
  await applySql(
    from,
    await texts((await migrations()).map((name) => `${migrationsFolder}/${name}`)),
  );
  await applySql(to, await schemaTexts());
  assert.equal(await difference(from, to), "");
  assert.deepEqual(await rowDifferences(from, to), []);

  // That the comparison sees something at all.
  await applySql(to, [{
    path: "a change",
    text: `
      create or replace function logloom_private.is_service_role() returns boolean
      language plpgsql stable security invoker set search_path = pg_catalog, pg_temp as $$begin return false; end;$$;
      update logloom.plans set monthly_events_limit = 7 where plan_id = 'free';
      select cron.schedule('one_more', '* * * * *', 'select 1');
    `,
  }]);
  assert.match(await difference(from, to), /FUNCTION logloom_private\.is_service_role\(\)/);
  assert.deepEqual((await rowDifferences(from, to)).map((line) => line.split(",")[0]), [
    "logloom.plans free: monthly_events_limit is 7",
    'cron.job one_more is new: {"active":true',
  ]);
});
