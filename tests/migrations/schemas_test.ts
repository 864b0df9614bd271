import assert from "node:assert/strict";
import { applySql, difference } from "../../local/migrations/clone_database.ts";
import { rowDifferences } from "../../local/migrations/migrated_rows.ts";
import { unreleasedFile, unreleasedMigration } from "../../local/migrations/unreleased.ts";
import { exists } from "../../local/files.ts";
import { stackNamed } from "../../local/stack.ts";
import { openDatabase } from "../support/database.ts";

Deno.test("the schemas make the same database as the migrations", async () => {
  const { text, from, to, rows } = await unreleasedMigration(stackNamed("scratch"));
  const file = await unreleasedFile();
  const written = await exists(file) ? await Deno.readTextFile(file) : null;
  assert.equal(written, text, "npm run migration writes it");
  assert.deepEqual(rows, []);
  // If there is no unreleased migration, the function above has found no difference already.
  if (text !== null) assert.equal(await difference(from, to), "");

  await assertDaysComeByJobs(from);

  // Checks that the comparison of rows finds a change.
  await applySql(to, [{
    path: "a change",
    text: `
      update logloom.plans set monthly_events_limit = 7 where plan_id = 'free';
      select cron.schedule('one_more', '* * * * *', 'select 1');
    `,
  }]);
  assert.deepEqual((await rowDifferences(from, to)).map((line) => line.split(",")[0]), [
    "logloom.plans free: monthly_events_limit is 7",
    'cron.job one_more is new: {"active":true',
  ]);
});

/** Asserts that no migration creates partitions: they would be differences in `db diff` on every other day. */
async function assertDaysComeByJobs(url: string): Promise<void> {
  await using sql = openDatabase(url, 1);
  const days = async () => {
    const [{ ahead }] = await sql`
      select array(
        select to_date(c.relname, '"logs_"YYYY_MM_DD') - logloom_private.utc_day(now())
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'logloom.logs'::regclass
        order by 1
      ) as ahead`;
    return ahead;
  };
  assert.deepEqual(await days(), []);
  for (let run = 0; run < 2; run++) {
    await sql`call logloom_private.run_job('maintain_partitions')`;
    assert.deepEqual((await days()).slice(0, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
  }
}
