import assert from "node:assert/strict";
import { openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { asUser } from "../support/users.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  hurry,
  isArchived,
  lastErased,
  partsOf,
  recordsOf,
  requestErasure,
  restored,
  runRetention,
  storedRecords,
} from "./archive.ts";
import { startBucket } from "./failing_bucket.ts";

Deno.test("an erasure reaches the archive, and its receipt says so", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await using _into = await archiveInto(sql, "erasure");
  const tenant = await archivingTenant(sql);
  const other = await archivingTenant(sql);
  const [full, mixed, without] = [daysAgo(50), daysAgo(51), daysAgo(52)];
  const rows = (day: string, seed: number) => recordsOf(day, 1200, seed);
  const named = rows(full, 1).map((row) => ({ ...row, user_id: "u-1" }));
  const some = rows(mixed, 2).map((row, n) => ({ ...row, user_id: n % 3 ? "u-2" : "u-1" }));
  const none = rows(without, 3).map((row) => ({ ...row, user_id: "u-2" }));
  await addRecords(sql, tenant, [...named, ...some, ...none]);
  await addRecords(sql, other, rows(full, 4).map((row) => ({ ...row, user_id: "u-1" })));
  const kept = (await storedRecords(sql, tenant)).filter((text) =>
    JSON.parse(text).user_id !== "u-1"
  );
  assert.equal(kept.length, 2000);
  await isArchived(sql, tenant);
  const before = await isArchived(sql, other);
  await runRetention(sql);

  const { run_id } = await requestErasure(tenant);
  const run = await lastErased(sql, tenant);
  assert.equal(run.run_id, run_id);
  assert.deepEqual(
    {
      records: run.records,
      archive_records: run.archive_records,
      archive_files: run.archive_files,
      not_reached: run.not_reached?.map(({ kind }) => kind),
    },
    { records: 0, archive_records: 1600, archive_files: 2, not_reached: ["exports"] },
  );
  const parts = await partsOf(sql, tenant);
  assert.deepEqual(
    parts.map(({ first_day, records, generation }) => [first_day, records, generation]),
    [[without, 1200, 1], [mixed, 800, 2]],
  );
  assert.deepEqual(
    (await bucket.keys()).filter((key) => key.endsWith(".parquet")).sort(),
    [...parts, ...before].map(({ object_key }) => object_key).sort(),
    "erased records are in no object, and another tenant's objects are unchanged",
  );
  await restored(sql, tenant, without, full);
  assert.deepEqual(await storedRecords(sql, tenant), kept);
});

Deno.test("a tenant that is deleted leaves no object", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await using _into = await archiveInto(sql, "deleted");
  const tenant = await archivingTenant(sql);
  await addRecords(sql, tenant, recordsOf(daysAgo(50), 1100, 1));
  const [part] = await isArchived(sql, tenant);
  assert.ok((await bucket.keys()).includes(part.object_key));
  await asUser(tenant).client.call("delete_tenant", { p_tenant_id: tenant.id });
  await eventually("no object is left", async () => {
    await hurry(sql, tenant);
    return !(await bucket.keys()).includes(part.object_key);
  });
  // The rest is deleted a minute later, when running requests have ended.
  await sql`
    update logloom_private.tenant_deletions set requested_at = now() - interval '3 minutes'
    where tenant_id = ${tenant.id}`;
  await eventually("the tenant is gone", async () => {
    const [{ is_gone }] = await sql`
      select not exists (
        select from logloom_private.tenant_deletions
        where tenant_id = ${tenant.id} and finished_at is null
      ) as is_gone`;
    return is_gone;
  });
  const [left] = await sql`
    select
      (select count(*) from logloom.archive_parts where tenant_id = ${tenant.id})::integer as parts,
      (
        select count(*) from logloom_private.archived_days where tenant_id = ${tenant.id}
      )::integer as days`;
  assert.deepEqual({ ...left }, { parts: 0, days: 0 });
});
