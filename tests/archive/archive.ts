import assert from "node:assert/strict";
import fc from "fast-check";
import { localBucket } from "../../local/bucket.ts";
import { decodeFile } from "../../supabase/functions/logloom-archive/parquet.ts";
import { newTenant, type Tenant } from "../support/client.ts";
import { callAsOwner, changeSettings, type Database } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { putOnPlan } from "../support/plans.ts";
import { asUser } from "../support/users.ts";
import { type Row, row } from "../sealing/arbitrary.ts";
import type { Bucket } from "../support/s3_server.ts";

/** Makes a tenant whose plan has an archive. */
export async function archivingTenant(
  sql: Database,
  limits: Record<string, number> = {},
  name = "archive",
): Promise<Tenant> {
  const tenant = await newTenant(name);
  await putOnPlan(sql, tenant, {
    archive_days: 3650,
    max_restored_days: 1000,
    retention_days_default: 30,
    retention_days_max: 90,
    ...limits,
  });
  return tenant;
}

/** Points the service to the bucket, until the test ends. */
export async function archiveInto(sql: Database, prefix: string): Promise<AsyncDisposable> {
  const undo = new AsyncDisposableStack();
  undo.use(await changeSettings(sql, { archive_bucket: localBucket, archive_prefix: prefix }));
  undo.defer(() => forgetArchive(sql));
  return undo;
}

/** Removes what would make later health checks fail: files whose bucket is gone, and plans with an archive. */
export async function forgetArchive(sql: Database): Promise<void> {
  await sql`delete from logloom.archive_parts`;
  await sql`update logloom.plans set archive_days = default where archive_days > 0`;
}

/** The time at which this test file began. Days are counted from it, so that they stay the same over midnight. */
const began = new Date();

/** Returns the UTC day that many days before the tests began, as YYYY-MM-DD. */
export function daysAgo(days: number): string {
  return new Date(began.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}

/** Returns the first day of the month that many months ago. */
export function monthsAgo(months: number): string {
  return new Date(Date.UTC(began.getUTCFullYear(), began.getUTCMonth() - months, 1))
    .toISOString().slice(0, 10);
}

/** Makes records of a day: half of them arbitrary, half like records of real services. */
export function recordsOf(day: string, count: number, seed: number): Row[] {
  const odd = fc.sample(row, { seed, numRuns: Math.ceil(count / 2) });
  return Array.from({ length: count }, (_, n): Row => {
    const micros = (seed * 7919 + n * 9_973_001) % 86_400_000_000;
    const ts = `${
      new Date(Date.parse(day) + Math.floor(micros / 1000)).toISOString().slice(0, -1)
    }${String(micros % 1000).padStart(3, "0")}Z`;
    const id = crypto.randomUUID();
    if (n % 2 === 0) return { ...odd[n / 2], ts, id, received_at: ts };
    return {
      ts,
      id,
      received_at: ts,
      write_seq: 0,
      level: ["debug", "info", "warn", "error"][n % 4],
      service: `service-${n % 5}`,
      msg: `request ${n} took ${n % 997} ms`,
      env: "prod",
      req_id: n % 3 === 0 ? id : null,
      user_id: null,
      route: `/p/${n % 7}`,
      host: `h${n % 11}`,
      attrs: JSON.stringify({ status: 200 + n % 5, took: n % 997 / 8, ok: n % 5 === 0 }),
    };
  });
}

/** Adds records as the writer does. */
export async function addRecords(sql: Database, tenant: Tenant, rows: Row[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local role postgres`;
    await tx`select pg_advisory_xact_lock(logloom_private.lock_key('writer'))`;
    for (const day of new Set(rows.map(({ ts }) => ts.slice(0, 10)))) {
      await tx`select logloom_private.create_partition(${day}::date)`;
    }
    const [{ statement }] = await tx`
      select logloom_private.added_records_sql(${`
        insert into logloom.logs as l
        select p.*
        from jsonb_array_elements($1::text::jsonb) r, nextval('logloom_private.write_seq') w,
          jsonb_populate_record(
            null::logloom.logs,
            r || jsonb_build_object(
              'tenant_id', $2::text, 'write_seq', w, 'attrs', (r ->> 'attrs')::jsonb
            )
          ) p`}) as statement`;
    await tx.unsafe(statement, [JSON.stringify(rows), tenant.id]);
  });
}

/** Returns all records of a tenant in the database, rows and sealed, as answers show them, by id. */
export async function storedRecords(sql: Database, tenant: Tenant): Promise<string[]> {
  const rows = await sql`
    select (to_jsonb(r) - '{write_seq,record_bytes,tenant_id}'::text[])::text as record
    from (
      select l.* from logloom.logs l where l.tenant_id = ${tenant.id}
      union all
      select s.* from logloom_private.blocks c,
        logloom_private.block_records(c.tenant_id, c.block_id, null, null) s
      where c.tenant_id = ${tenant.id}
    ) r
    order by r.id`;
  return rows.map(({ record }) => record);
}

/** Seals a day's rows. */
export async function sealDay(sql: Database, tenant: Tenant, day: string): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local role postgres`;
    await tx`select pg_advisory_xact_lock(logloom_private.lock_key('deletion'))`;
    await tx`select logloom_private.seal_block(${tenant.id}, array[${day}::date])`;
    await tx`select logloom_private.leave_days(array[${tenant.id}], array[${day}::date])`;
  });
}

export interface Part {
  part_id: string;
  first_day: string;
  last_day: string;
  object_key: string;
  status: string;
  records: number;
  bytes: number;
  generation: number;
}

export async function partsOf(sql: Database, tenant: Tenant): Promise<Part[]> {
  return [
    ...await sql<Part[]>`
      select part_id, first_day::text, last_day::text, object_key, status, records,
        bytes::integer, generation
      from logloom.archive_parts where tenant_id = ${tenant.id} order by first_day, number`,
  ];
}

/** Waits until a tenant has nothing more to archive. */
export async function isArchived(sql: Database, tenant: Tenant): Promise<Part[]> {
  await eventually("the tenant is archived", async () => {
    await planAgain(sql);
    await hurry(sql, tenant);
    const [{ open }] = await sql`
      select exists (
        select from logloom_private.archive_passes where tenant_id = ${tenant.id}
      ) or exists (
        select from logloom_private.days_to_archive(${tenant.id}, now()) d
        where not logloom_private.is_archived(${tenant.id}, d)
      ) or exists (
        select from logloom.archive_parts where tenant_id = ${tenant.id} and status = 'draft'
      ) as open`;
    return !open;
  }, { every: 500 });
  assert.deepEqual(await differencesOf(sql, tenant), []);
  return await partsOf(sql, tenant);
}

/** Returns the differences between files and archived records, as a verification describes them. */
async function differencesOf(sql: Database, tenant: Tenant): Promise<string[]> {
  const rows = await sql`
    select distinct d.detail
    from logloom_private.archived_days a,
      logloom_private.verify_archived(0, a.tenant_id, a.day) v,
      unnest(v.details) d (detail)
    where a.tenant_id = ${tenant.id}`;
  return rows.map(({ detail }) => detail);
}

/** Makes everything due now: retries, and the job of erasures. */
export async function hurry(sql: Database, tenant: Tenant): Promise<void> {
  await callAsOwner(sql, "call logloom_private.run_job('run_deletions')");
  await sql`
    update logloom_private.archive_passes set next_attempt_at = now()
    where tenant_id = ${tenant.id} and next_attempt_at > now()`;
  await sql`
    update logloom_private.archive_erasures set next_attempt_at = now()
    where tenant_id = ${tenant.id} and next_attempt_at > now()`;
  await sql`
    update logloom.archive_restores set next_attempt_at = now()
    where tenant_id = ${tenant.id} and next_attempt_at > now()`;
  await sql`
    update logloom_private.archive_garbage set next_attempt_at = now()
    where tenant_id = ${tenant.id} and next_attempt_at > now()`;
}

/** Lets the job plan passes in its next step, not in an hour. */
export async function planAgain(sql: Database): Promise<void> {
  await sql`
    update logloom_private.archive_bucket set planned_at = null, planned_through = null`;
}

/** Expires the function's claims, so that their work is given out again. */
export async function endClaims(sql: Database): Promise<void> {
  await sql`
    update logloom_private.archive_claims set expires_at = now() - interval '1 second'
    where expires_at > now()`;
}

/**
 * Waits until the tenant's objects in the bucket are those that list_log_archive lists. Then each
 * accepted record must be in exactly one file or in the database. Returns how many records are in
 * files, and how many in the database.
 */
export async function isAllThere(
  sql: Database,
  bucket: Bucket,
  tenant: Tenant,
  accepted: string[],
): Promise<{ archived: number; kept: number }> {
  const { client } = asUser(tenant);
  const files = await eventually("the bucket has what is listed, and no more", async () => {
    await hurry(sql, tenant);
    const listed = await client.call("list_log_archive", { p_limit: 1000 });
    const keys = (await bucket.keys()).filter((key) => key.includes(`/tenant=${tenant.id}/`));
    return JSON.stringify(listed.map(({ key }) => key).sort()) === JSON.stringify(keys.sort()) &&
      listed;
  });
  const archived = new Set<string>();
  for (const { key, records, status } of files) {
    assert.equal(status, "verified");
    const { id } = await decodeFile(await bucket.get(key));
    assert.equal(id.length, records);
    for (const one of id) {
      assert.ok(!archived.has(one), `${one} is in two files`);
      archived.add(one);
    }
  }
  const idsOf = (records: string[]) => records.map((text) => JSON.parse(text).id as string);
  const kept = new Set(idsOf(await storedRecords(sql, tenant)));
  assert.deepEqual([...archived.union(kept)].sort(), idsOf(accepted).sort());
  assert.deepEqual(await differencesOf(sql, tenant), []);
  return { archived: archived.size, kept: kept.size };
}

/** Returns the health check of the archive. */
export async function archiveHealth(
  sql: Database,
): Promise<{ status: string; reason: string | null; garbage: number; passes: number }> {
  const [{ check }] = await sql`select logloom_private.archive_health(now()) as check`;
  return check;
}

/** Runs today's retention, even if it has already run. */
export async function runRetention(sql: Database): Promise<void> {
  await eventually("retention has run", async () => {
    await callAsOwner(
      sql,
      "update logloom_private.retention_place set finished_at = now() - interval '2 days', " +
        "today = today - 1 where singleton and finished_at is not null",
    );
    await callAsOwner(sql, "call logloom_private.run_job('run_retention')");
    const [place] = await sql`
      select finished_at is not null as is_finished, error
      from logloom_private.retention_place`;
    if (place.error) throw new Error(place.error);
    return place.is_finished;
  });
}

/** Requests that a tenant's days are restored. */
export async function requestRestore(tenant: Tenant, first: string, last: string, query?: string) {
  return await asUser(tenant).client.call("restore_log_archive", {
    p_from: `${first}T00:00:00Z`,
    p_to: new Date(Date.parse(last) + 86_400_000).toISOString(),
    p_query_dsl: query,
  });
}

/** Waits until the tenant's last restore is done. Returns how many records it restored. */
export async function lastRestored(sql: Database, tenant: Tenant): Promise<number> {
  const { records } = await eventually("the records are restored", async () => {
    await hurry(sql, tenant);
    const [restore] = await asUser(tenant).client.call("list_log_archive_restores", {});
    if (restore.status === "failed") throw new Error(`${restore.error}`);
    return restore.status === "done" && restore;
  });
  assert.deepEqual(await differencesOf(sql, tenant), []);
  return records;
}

/** Restores days and returns how many records were restored. */
export async function restored(
  sql: Database,
  tenant: Tenant,
  first: string,
  last: string,
  query?: string,
): Promise<number> {
  await requestRestore(tenant, first, last, query);
  return await lastRestored(sql, tenant);
}

/** Requests the erasure of the tenant's records of the user u-1. */
export async function requestErasure(tenant: Tenant) {
  return await asUser(tenant).client.call("delete_logs", {
    p_query_dsl: "user_id:u-1",
    p_ts_from: "1970-01-01T00:00:00Z",
    p_ts_to: "now",
    p_dry_run: false,
  });
}

/** Waits until the tenant's last erasure is done. */
export async function lastErased(sql: Database, tenant: Tenant) {
  return await eventually("the erasure is done", async () => {
    await hurry(sql, tenant);
    const [run] = await asUser(tenant).client.call("list_log_retention_runs", {
      p_kind: "erasure",
    });
    return run.status === "done" && run;
  });
}
