import assert from "node:assert/strict";
import { openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { asUser, refused } from "../support/users.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  hurry,
  isArchived,
  partsOf,
  recordsOf,
  requestErasure,
  restored,
  runRetention,
  storedRecords,
} from "./archive.ts";
import { startBucket } from "./failing_bucket.ts";

Deno.test("a database that is restored to a time before an erasure adopts the files that the erasure wrote", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await using _into = await archiveInto(sql, `repair-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql);
  const day = daysAgo(50);
  await addRecords(
    sql,
    tenant,
    recordsOf(day, 1100, 1).map((row, n) => ({ ...row, user_id: n < 100 ? "u-1" : "u-2" })),
  );
  await isArchived(sql, tenant);
  await runRetention(sql);
  const [before] = await sql`
    select to_jsonb(p) as part from logloom.archive_parts p where p.tenant_id = ${tenant.id}`;
  await requestErasure(tenant);
  const [after] = await eventually("the erasure is done", async () => {
    await hurry(sql, tenant);
    const parts = await partsOf(sql, tenant);
    const [{ open }] = await sql`
      select exists (
        select from logloom.retention_runs r
        where r.tenant_id = ${tenant.id} and r.kind = 'erasure' and r.status <> 'done'
      ) as open`;
    return !open && parts[0].generation === 2 && parts;
  });

  // Simulates that a dump from before the erasure was restored.
  await sql`delete from logloom.archive_parts where tenant_id = ${tenant.id}`;
  await sql`
    insert into logloom.archive_parts overriding system value
    select p.* from jsonb_populate_record(
      null::logloom.archive_parts, ${JSON.stringify(before.part)}::text::jsonb
    ) p`;
  await sql`delete from logloom_private.archive_erasures where tenant_id = ${tenant.id}`;
  await sql`select logloom_private.compare_archive_anew()`;
  const [adopted] = await eventually("the later file is adopted", async () => {
    const parts = await partsOf(sql, tenant);
    return parts[0].generation === 2 && parts;
  });
  assert.deepEqual(adopted, after);
  assert.equal(await restored(sql, tenant, day, day), 1000);
  await eventually("nothing else is in the bucket", async () => {
    await hurry(sql, tenant);
    // Files of other tests' tenants may have been added.
    const keys = (await bucket.keys()).filter((key) =>
      key.includes(`/tenant=${tenant.id}/`) && key.endsWith(".parquet")
    );
    return keys.length === 1 && keys[0] === after.object_key;
  });
});

Deno.test("restored days are deleted when their time is over, and a plan limits them", async () => {
  await using sql = openDatabase();
  await using _bucket = await startBucket();
  await using _into = await archiveInto(sql, `back-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql, { max_restored_days: 2 });
  const { client } = asUser(tenant);
  const days = [daysAgo(50), daysAgo(51), daysAgo(52)];
  const after = new Date(Date.parse(days[0]) + 86_400_000).toISOString();
  for (const [n, day] of days.entries()) {
    await addRecords(sql, tenant, recordsOf(day, 1050, n));
  }
  await isArchived(sql, tenant);
  await runRetention(sql);
  await refused(
    client.call("restore_log_archive", { p_from: `${days[2]}T00:00:00Z`, p_to: after }),
    400,
    "Plan limit exceeded: restored days (max 2, would be 3)",
  );
  assert.equal(await restored(sql, tenant, days[1], days[0], "service:service-1"), 210);
  assert.equal(
    await restored(sql, tenant, days[1], days[1]).catch((error) => error.message),
    "Plan limit exceeded: restored days (max 2, would be 3)",
  );
  const usage = await client.call("get_tenant_usage", {});
  assert.equal(usage.restored_records, 210);
  await runRetention(sql);
  assert.equal((await storedRecords(sql, tenant)).length, 210);
  await sql`
    update logloom_private.kept_longer set kept_until = now() where tenant_id = ${tenant.id}`;
  await runRetention(sql);
  assert.deepEqual(await storedRecords(sql, tenant), []);
  const parts = await partsOf(sql, tenant);
  assert.deepEqual(parts.map(({ status }) => status), ["verified", "verified", "verified"]);
});
