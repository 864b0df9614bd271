import assert from "node:assert/strict";
import { openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { asUser } from "../support/users.ts";
import {
  addRecords,
  archiveHealth,
  archiveInto,
  archivingTenant,
  daysAgo,
  endClaims,
  hurry,
  isAllThere,
  isArchived,
  recordsOf,
  restored,
  runRetention,
  storedRecords,
} from "./archive.ts";
import { type Fault, startBucket } from "./bucket.ts";

const isFile = (key: string) => key.endsWith(".parquet");

/** Each fault hits the first file that is written. error: what the pass notes. */
const faults: { name: string; fault: (times: () => number) => Fault; error: RegExp }[] = [
  {
    name: "a bucket that answers 503",
    fault: (times) => ({ method, key }) =>
      method === "PUT" && isFile(key) && times() < 2
        ? Promise.resolve(new Response("slow down", { status: 503 }))
        : undefined,
    error: /did not store an object: it answered 503/,
  },
  {
    name: "a key that is refused because of a wrong clock",
    fault: (times) => ({ method, key }) =>
      method === "PUT" && isFile(key) && times() < 1
        ? Promise.resolve(
          new Response("<Error><Code>RequestTimeTooSkewed</Code></Error>", { status: 403 }),
        )
        : undefined,
    error: /^The function's clock differs too much from the bucket's$/,
  },
  {
    name: "a key that may not write",
    fault: (times) => ({ method, key }) =>
      method === "PUT" && isFile(key) && times() < 1
        ? Promise.resolve(new Response("<Error><Code>AccessDenied</Code></Error>", { status: 403 }))
        : undefined,
    error: /has no permission to store an object/,
  },
  {
    name: "a full disk, which takes half of a file and answers 507",
    fault: (times) => ({ method, key }, pass) =>
      method === "PUT" && isFile(key) && times() < 1
        ? pass(1000).then(async (answer) => {
          await answer.body?.cancel();
          return new Response("", { status: 507 });
        })
        : undefined,
    error: /did not store an object: it answered 507/,
  },
  {
    name: "an answer that breaks off",
    fault: (times) => ({ method, key }, pass) =>
      method === "GET" && isFile(key) && times() < 1
        ? pass().then(async (answer) => {
          const bytes = new Uint8Array(await answer.arrayBuffer());
          return new Response(
            new ReadableStream({
              start(controller) {
                controller.enqueue(bytes.subarray(0, bytes.length >> 1));
                controller.error(new Error("cut"));
              },
            }),
          );
        })
        : undefined,
    error: /The bucket does not answer/,
  },
  {
    name: "a changed body",
    fault: (times) => ({ method, key }, pass) =>
      method === "GET" && isFile(key) && times() < 1
        ? pass().then(async (answer) => {
          const bytes = new Uint8Array(await answer.arrayBuffer());
          bytes[bytes.length >> 1] ^= 1;
          return new Response(bytes, { status: 200 });
        })
        : undefined,
    error: /returned the file with other content/,
  },
  {
    name: "half an object",
    fault: (times) => ({ method, key }, pass) =>
      method === "GET" && isFile(key) && times() < 1
        ? pass().then(async (answer) => {
          const bytes = new Uint8Array(await answer.arrayBuffer());
          return new Response(bytes.subarray(0, bytes.length >> 1), { status: 200 });
        })
        : undefined,
    error: /returned the file with other content/,
  },
  {
    name: "an object that disappears",
    fault: (times) => ({ method, key }) =>
      method === "PUT" && isFile(key) && times() < 1
        ? Promise.resolve(new Response("", { status: 200 }))
        : undefined,
    error: /lost the file at once/,
  },
];

for (const { name, fault, error } of faults) {
  Deno.test(`${name} loses no record and leaves no object`, async () => {
    await using sql = openDatabase();
    await using bucket = await startBucket();
    await using _into = await archiveInto(sql, `fault-${crypto.randomUUID()}`);
    const tenant = await archivingTenant(sql);
    const day = daysAgo(45);
    await addRecords(sql, tenant, recordsOf(day, 1100, 7));
    const before = await storedRecords(sql, tenant);
    let times = 0;
    let met = 0;
    const meant = fault(() => times);
    bucket.fault = (asked, pass) => {
      const answer = meant(asked, pass);
      if (answer !== undefined) {
        times += 1;
        met += 1;
      }
      return answer;
    };
    const errors = new Set<string>();
    await sql`
      update logloom_private.archive_bucket set planned_at = null, planned_through = null`;
    await eventually("the fault is noted", async () => {
      const [pass] = await sql`
        select error from logloom_private.archive_passes where tenant_id = ${tenant.id}`;
      if (pass?.error) errors.add(pass.error);
      return errors.size > 0;
    });
    assert.match([...errors][0], error);
    await runRetention(sql);
    assert.deepEqual(await storedRecords(sql, tenant), before, "retention waits");
    const parts = await isArchived(sql, tenant);
    assert.ok(met > 0);
    assert.deepEqual(parts.map(({ records }) => records), [1100]);
    assert.deepEqual(await isAllThere(sql, bucket, tenant, before), { archived: 1100, kept: 1100 });
    assert.equal((await archiveHealth(sql)).status, "healthy");
    await runRetention(sql);
    assert.deepEqual(await storedRecords(sql, tenant), []);
    assert.equal(await restored(sql, tenant, day, day), 1100);
    assert.deepEqual(await storedRecords(sql, tenant), before);
  });
}

Deno.test("without a bucket days and erasures wait, and health reports it", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await using _into = await archiveInto(sql, `away-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql);
  const [early, late] = [daysAgo(50), daysAgo(45)];
  const rowsOf = (day: string, seed: number) =>
    recordsOf(day, 1100, seed).map((row, n) => ({ ...row, user_id: n < 100 ? "u-1" : "u-2" }));
  await addRecords(sql, tenant, rowsOf(early, 1));
  const archived = await storedRecords(sql, tenant);
  await isArchived(sql, tenant);
  await runRetention(sql);
  await bucket.goAway();
  await addRecords(sql, tenant, rowsOf(late, 2));
  const kept = await storedRecords(sql, tenant);
  assert.equal(kept.length, 1100);
  const told = await eventually("health says that the bucket is away", async () => {
    await sql`
      update logloom_private.archive_bucket set planned_at = null, planned_through = null`;
    await hurry(sql, tenant);
    const health = await archiveHealth(sql);
    return /The bucket cannot be used/.test(health.reason ?? "") && health;
  });
  assert.equal(told.status, "degraded");
  const [pass] = await sql`
    select error from logloom_private.archive_passes where tenant_id = ${tenant.id}`;
  assert.equal(pass.error, "The bucket does not answer");
  await runRetention(sql);
  assert.deepEqual(await storedRecords(sql, tenant), kept, "retention waits");

  const { client } = asUser(tenant);
  await client.call("delete_logs", {
    p_query_dsl: "user_id:u-1",
    p_ts_from: "1970-01-01T00:00:00Z",
    p_ts_to: "now",
    p_dry_run: false,
  });
  const erasure = async () =>
    (await client.call("list_log_retention_runs", { p_kind: "erasure" }))[0];
  await eventually("the erasure waits for the archive alone", async () => {
    await hurry(sql, tenant);
    const [run] = await sql`
      select parts_through is not null and finished_at is null as waits
      from logloom_private.archive_erasures where tenant_id = ${tenant.id}`;
    return run?.waits;
  });
  assert.equal((await erasure()).status, "running");

  bucket.comeBack();
  await sql`update logloom_private.archive_bucket set checked_at = null`;
  const run = await eventually("the erasure is done", async () => {
    await hurry(sql, tenant);
    const run = await erasure();
    return run.status === "done" && run;
  });
  assert.deepEqual(
    { here: run.records, archive: run.archive_records, files: run.archive_files },
    { here: 100, archive: 100, files: 1 },
  );
  await isArchived(sql, tenant);
  const left = [...archived, ...kept].filter((text) => JSON.parse(text).user_id !== "u-1");
  assert.deepEqual(await isAllThere(sql, bucket, tenant, left), { archived: 2000, kept: 1000 });
  assert.equal((await archiveHealth(sql)).status, "healthy");
});

Deno.test("a slow bucket only delays", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await using _into = await archiveInto(sql, `slow-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql);
  const day = daysAgo(45);
  await addRecords(sql, tenant, recordsOf(day, 1100, 3));
  const accepted = await storedRecords(sql, tenant);
  bucket.fault = (_, pass) => new Promise((resolve) => setTimeout(() => resolve(pass()), 1500));
  await isArchived(sql, tenant);
  await runRetention(sql);
  assert.deepEqual(await isAllThere(sql, bucket, tenant, accepted), { archived: 1100, kept: 0 });
});

Deno.test("a full database retries, and nothing is lost or stored twice", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await using _into = await archiveInto(sql, `room-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql);
  const day = daysAgo(45);
  await addRecords(sql, tenant, recordsOf(day, 1100, 4));
  const accepted = await storedRecords(sql, tenant);
  // Meanwhile each insert or update of the table fails.
  const full = async (table: string, work: () => Promise<void>) => {
    await sql.unsafe(`alter table ${table} add constraint no_room check (false) not valid`);
    try {
      await work();
    } finally {
      await sql.unsafe(`alter table ${table} drop constraint no_room`);
    }
  };
  const failures = async (table: string) => {
    await endClaims(sql);
    await hurry(sql, tenant);
    const [row] = await sql`
      select failures from ${sql(table)} where tenant_id = ${tenant.id}`;
    return row?.failures > 0;
  };
  // The row exists as a draft before its claim is settled.
  await sql`
    alter table logloom.archive_parts
    add constraint no_room check (status <> 'verified') not valid`;
  try {
    await sql`
      update logloom_private.archive_bucket set planned_at = null, planned_through = null`;
    await eventually(
      "a file is written",
      () =>
        Promise.resolve(bucket.asked.some(({ method, key }) => method === "PUT" && isFile(key))),
    );
    await eventually(
      "what was written is not kept",
      () => failures("logloom_private.archive_passes"),
    );
  } finally {
    await sql`alter table logloom.archive_parts drop constraint no_room`;
  }
  await isArchived(sql, tenant);
  assert.deepEqual(await isAllThere(sql, bucket, tenant, accepted), { archived: 1100, kept: 1100 });
  await runRetention(sql);
  const { client } = asUser(tenant);
  await full("logloom_private.blocks", async () => {
    await client.call("restore_log_archive", {
      p_from: `${day}T00:00:00Z`,
      p_to: `${daysAgo(44)}T00:00:00Z`,
    });
    await eventually("what was read is not kept", () => failures("logloom.archive_restores"));
  });
  await eventually("the records are back", async () => {
    await endClaims(sql);
    await hurry(sql, tenant);
    const [{ status, error }] = await client.call("list_log_archive_restores", {});
    assert.notEqual(status, "failed", `${error}`);
    return status === "done";
  });
  assert.deepEqual(await isAllThere(sql, bucket, tenant, accepted), { archived: 1100, kept: 1100 });
});

Deno.test("a bucket that keeps versions is refused", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await bucket.versioning("Enabled");
  await using _into = await archiveInto(sql, `versions-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql);
  await addRecords(sql, tenant, recordsOf(daysAgo(45), 1100, 9));
  const problem = async () => {
    const [state] = await sql`
      select b.problem, b.prefix = s.archive_prefix as is_checked
      from logloom_private.archive_bucket b, logloom_private.settings s`;
    return state.is_checked && state;
  };
  const refused = await eventually("the bucket is looked at", problem);
  assert.equal(refused.problem, "The bucket keeps versions: switch versioning off");
  const [{ check }] = await sql`
    select logloom_private.archive_health(now()) as check`;
  assert.equal(check.status, "degraded");
  assert.match(check.reason, /The bucket cannot be used/);
  assert.deepEqual((await bucket.keys()).filter(isFile), []);
});

Deno.test("two installations share no prefix", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  const prefix = `shared-${crypto.randomUUID()}`;
  const theirs = new TextEncoder().encode('{"installation_id":"somebody else"}');
  await bucket.put(`${prefix}/logloom.json`, theirs);
  await using _into = await archiveInto(sql, prefix);
  const refused = await eventually("the bucket is looked at", async () => {
    const [state] = await sql`
      select b.problem, b.prefix = s.archive_prefix as is_checked
      from logloom_private.archive_bucket b, logloom_private.settings s`;
    return state.is_checked && state;
  });
  assert.match(refused.problem, /belongs to another installation/);
  assert.deepEqual(await bucket.get(`${prefix}/logloom.json`), theirs);
});
