import assert from "node:assert/strict";
import { localBucket } from "../../local/bucket.ts";
import { dumpInto, restoreFrom } from "../../local/restore.ts";
import {
  addRecords,
  archiveHealth,
  archivingTenant,
  daysAgo,
  forgetArchive,
  hurry,
  isAllThere,
  isArchived,
  partsOf,
  recordsOf,
  runRetention,
  storedRecords,
} from "../archive/archive.ts";
import { bucketAt } from "../support/s3_server.ts";
import type { Tenant } from "../support/client.ts";
import { type Database, openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { stack, system } from "../support/second_server.ts";
import { asUser } from "../support/users.ts";
import { beginAnew } from "./begin_anew.ts";

/** Returns the finished erasures of a tenant, newest first. */
async function isErased(sql: Database, tenant: Tenant) {
  return await eventually("the erasure is done", async () => {
    await hurry(sql, tenant);
    const runs = await asUser(tenant).client.call("list_log_retention_runs", { p_kind: "erasure" });
    return runs.length > 0 && runs.every(({ status }) => status === "done") && runs;
  });
}

Deno.test("erasures after the dump are repeated, in the database and in the bucket", async () => {
  const before = openDatabase();
  const bucket = bucketAt(`http://127.0.0.1:${stack.ports.bucket}/${localBucket}`);
  const tenant = await archivingTenant(before);
  const gone = await archivingTenant(before, {}, "gone");
  const later = await archivingTenant(before, {}, "later");
  const [mixed, full, here] = [daysAgo(50), daysAgo(51), daysAgo(0)];
  await addRecords(before, tenant, [
    ...recordsOf(mixed, 1200, 2).map((row, n) => ({ ...row, user_id: n % 3 ? "u-2" : "u-1" })),
    ...recordsOf(full, 1100, 3).map((row) => ({ ...row, user_id: "u-1" })),
  ]);
  await addRecords(before, gone, recordsOf(mixed, 1100, 4));
  await isArchived(before, tenant);
  await isArchived(before, gone);
  const left = (await storedRecords(before, tenant))
    .filter((text) => JSON.parse(text).user_id !== "u-1");
  await runRetention(before);
  // These records are not archived yet, so the dump has them.
  const recent = recordsOf(here, 30, 5).map((row, n) => ({
    ...row,
    ts: new Date().toISOString(),
    user_id: n % 3 ? "u-2" : "u-1",
  }));
  await addRecords(before, tenant, recent);
  const kept = (await storedRecords(before, tenant))
    .filter((text) => JSON.parse(text).user_id !== "u-1");
  const folder = `${system.folder(stack)}/dump_with_archive`;
  await dumpInto(system, stack.databaseUrl, folder);

  await asUser(tenant).client.call("delete_logs", {
    p_query_dsl: "user_id:u-1",
    p_ts_from: "1970-01-01T00:00:00Z",
    p_ts_to: "now",
    p_dry_run: false,
  });
  const [erased] = await isErased(before, tenant);
  assert.deepEqual(
    { records: erased.records, archived: erased.archive_records, files: erased.archive_files },
    { records: 10, archived: 1500, files: 2 },
  );
  await asUser(gone).client.call("delete_tenant", { p_tenant_id: gone.id });
  await eventually("the deletion reaches the archive", async () => {
    await hurry(before, gone);
    return (await partsOf(before, gone)).length === 0;
  });
  await addRecords(before, later, recordsOf(mixed, 1100, 6));
  const [file] = await isArchived(before, later);
  const after = await partsOf(before, tenant);
  await before.end();

  await beginAnew(stack);
  await restoreFrom(system, folder, stack.databaseUrl, `${stack.folder}/logs/restore_archive`);
  await using sql = openDatabase();
  await sql`notify pgrst, 'reload schema'`;
  assert.equal((await partsOf(sql, tenant)).length, 2, "the dump has the files of before");
  await using owner = openDatabase(stack.databaseUrl, 1);
  await owner`select logloom_private.repair()`;
  await eventually("what the bucket notes is known", async () => {
    const [{ is_known }] = await sql`
      select count(*) >= 2 and bool_and(is_read and to_repeat is null) as is_known
      from logloom_private.archive_notes`;
    return is_known;
  });
  const [again] = await isErased(sql, tenant);
  assert.deepEqual(
    { run_id: again.run_id, records: again.records, archived: again.archive_records },
    { run_id: erased.run_id, records: 10, archived: 0 },
  );
  assert.deepEqual(await storedRecords(sql, tenant), kept);
  assert.deepEqual(await partsOf(sql, tenant), after);
  assert.deepEqual(
    await isAllThere(sql, bucket, tenant, [...left, ...kept]),
    { archived: 800, kept: 20 },
  );
  const [{ ends }] = await sql`
    select not exists (select from logloom.tenants where tenant_id = ${gone.id})
      or logloom_private.is_being_deleted(${gone.id}) as ends`;
  assert.ok(ends, "a tenant that was deleted is deleted again");
  await eventually("nothing of it is in the bucket", async () => {
    await hurry(sql, gone);
    return (await partsOf(sql, gone)).length === 0;
  });

  // Files from after the dump may be the only copy of their records.
  const { status, reason } = await archiveHealth(sql);
  assert.equal(status, "degraded");
  assert.equal(
    reason,
    "The bucket has 1 files that are newer than the restored database: " +
      "see logloom_private.archive_garbage",
  );
  assert.ok((await bucket.keys()).includes(file.object_key));
  await sql`
    update logloom_private.archive_garbage set next_attempt_at = now() where reason = 'later'`;
  await eventually(
    "it goes when it is told to",
    async () => !(await bucket.keys()).includes(file.object_key),
  );
  await forgetArchive(sql);
});
