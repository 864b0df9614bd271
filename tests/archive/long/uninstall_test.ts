import assert from "node:assert/strict";
import { checkout } from "../../../local/stack.ts";
import { uninstallSteps } from "../../../packages/logloom/src/cli/commands/uninstall.ts";
import { openDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { ownDatabase } from "../../support/own_database.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  isArchived,
  recordsOf,
} from "../archive.ts";
import { startBucket } from "../bucket.ts";

Deno.test("uninstalling stops while the archive has files", async () => {
  const steps = await uninstallSteps(`${checkout}/supabase`);
  const step = steps.find(({ title }) => title === "no file of the archive is forgotten");
  assert.ok(step);
  assert.ok(steps.indexOf(step) < steps.findIndex(({ title }) => title === "nothing new begins"));
  await using sql = await ownDatabase("uninstalled");
  await sql.unsafe(step.sql);
  await sql`
    insert into logloom_private.archive_garbage (object_key, tenant_id, reason)
    values ('k', 'acme', 'erased')`;
  await assert.rejects(
    () => sql.unsafe(step.sql),
    { code: "2BP01", message: "Logloom is not removed: its archive has 1 files" },
  );
  await sql`set logloom.archive_is_kept = 'on'`;
  await sql.unsafe(step.sql);
});

Deno.test("before uninstalling, the function deletes all files", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await using _into = await archiveInto(sql, `deleted-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql);
  for (const [n, day] of [daysAgo(50), daysAgo(51)].entries()) {
    await addRecords(sql, tenant, recordsOf(day, 1050, n));
  }
  await isArchived(sql, tenant);
  const files = async () => (await bucket.keys()).filter((key) => key.endsWith(".parquet"));
  assert.equal((await files()).length, 2);
  const plans = await sql`select plan_id, archive_days from logloom.plans`;
  try {
    await sql`select logloom_private.delete_archive()`;
    await eventually("no file is left", async () => {
      const [{ left }] = await sql`
        select count(*)::integer as left from logloom_private.archive_garbage`;
      return left === 0;
    });
    assert.deepEqual(await files(), []);
    const [{ parts }] = await sql`select count(*)::integer as parts from logloom.archive_parts`;
    assert.equal(parts, 0);
  } finally {
    for (const { plan_id, archive_days } of plans) {
      await sql`update logloom.plans set archive_days = ${archive_days} where plan_id = ${plan_id}`;
    }
  }
});
