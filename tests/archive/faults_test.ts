import assert from "node:assert/strict";
import { type Database, openDatabase } from "../support/database.ts";
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
  lastErased,
  lastRestored,
  planAgain,
  recordsOf,
  requestErasure,
  requestRestore,
  restored,
  runRetention,
  storedRecords,
} from "./archive.ts";
import { type Pass, startBucket } from "./failing_bucket.ts";

const isFile = (key: string) => key.endsWith(".parquet");

const answering = (status: number, code = "") => () =>
  Promise.resolve(new Response(`<Error><Code>${code}</Code></Error>`, { status }));
const changed = (change: (bytes: Uint8Array<ArrayBuffer>) => BodyInit) => async (pass: Pass) =>
  new Response(change(new Uint8Array(await (await pass()).arrayBuffer())), { status: 200 });
const half = (bytes: Uint8Array<ArrayBuffer>) => bytes.subarray(0, bytes.length >> 1);

/** A fault affects the first requests for a file. error: the error that the archive pass stores. */
const faults: {
  name: string;
  method: "GET" | "PUT";
  requests?: number;
  answer: (pass: Pass) => Promise<Response>;
  error: RegExp;
}[] = [
  {
    name: "a bucket that answers 503",
    method: "PUT",
    requests: 2,
    answer: answering(503),
    error: /did not store an object: it answered 503/,
  },
  {
    name: "a key that is refused because of a wrong clock",
    method: "PUT",
    answer: answering(403, "RequestTimeTooSkewed"),
    error: /^The function's clock differs too much from the bucket's$/,
  },
  {
    name: "a key that may not write",
    method: "PUT",
    answer: answering(403, "AccessDenied"),
    error: /has no permission to store an object/,
  },
  {
    name: "a full disk, which takes half of a file and answers 507",
    method: "PUT",
    answer: async (pass) => {
      await (await pass(1000)).body?.cancel();
      return new Response("", { status: 507 });
    },
    error: /did not store an object: it answered 507/,
  },
  {
    name: "an answer that breaks off",
    method: "GET",
    answer: changed((bytes) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(half(bytes));
          controller.error(new Error("cut"));
        },
      })
    ),
    error: /The bucket does not answer/,
  },
  {
    name: "a changed body",
    method: "GET",
    answer: changed((bytes) => {
      bytes[bytes.length >> 1] ^= 1;
      return bytes;
    }),
    error: /returned the file with other content/,
  },
  {
    name: "half an object",
    method: "GET",
    answer: changed(half),
    error: /returned the file with other content/,
  },
  {
    name: "an object that disappears",
    method: "PUT",
    answer: () => Promise.resolve(new Response("", { status: 200 })),
    error: /lost the file at once/,
  },
];

for (const { name, method, requests = 1, answer, error } of faults) {
  Deno.test(`${name} loses no record and leaves no object`, async () => {
    await using sql = openDatabase();
    await using bucket = await startBucket();
    await using _into = await archiveInto(sql, `fault-${crypto.randomUUID()}`);
    const tenant = await archivingTenant(sql);
    const day = daysAgo(45);
    await addRecords(sql, tenant, recordsOf(day, 1100, 7));
    const before = await storedRecords(sql, tenant);
    let met = 0;
    bucket.fault = (asked, pass) =>
      asked.method === method && isFile(asked.key) && met < requests && ++met
        ? answer(pass)
        : undefined;
    const errors = new Set<string>();
    await planAgain(sql);
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
    await planAgain(sql);
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

  await requestErasure(tenant);
  await eventually("the erasure waits for the archive alone", async () => {
    await hurry(sql, tenant);
    const [run] = await sql`
      select parts_through is not null and finished_at is null as waits
      from logloom_private.archive_erasures where tenant_id = ${tenant.id}`;
    return run?.waits;
  });
  const [running] = await asUser(tenant).client.call("list_log_retention_runs", {
    p_kind: "erasure",
  });
  assert.equal(running.status, "running");

  bucket.comeBack();
  await sql`update logloom_private.archive_bucket set checked_at = null`;
  const run = await lastErased(sql, tenant);
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
  // Makes each insert or update of the table fail during the work.
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
  // A file's row exists as a draft before its claim is settled.
  await sql`
    alter table logloom.archive_parts
    add constraint no_room check (status <> 'verified') not valid`;
  try {
    await planAgain(sql);
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
  await full("logloom_private.blocks", async () => {
    await requestRestore(tenant, day, day);
    await eventually("what was read is not kept", () => failures("logloom.archive_restores"));
  });
  await endClaims(sql);
  assert.equal(await lastRestored(sql, tenant), 1100);
  assert.deepEqual(await isAllThere(sql, bucket, tenant, accepted), { archived: 1100, kept: 1100 });
});

/** Returns what the check of the current bucket found. */
async function problemOfBucket(sql: Database): Promise<string> {
  const { problem } = await eventually("the bucket is checked", async () => {
    const [state] = await sql`
      select b.problem, b.prefix = s.archive_prefix as is_checked
      from logloom_private.archive_bucket b, logloom_private.settings s`;
    return state.is_checked && state;
  });
  return problem;
}

Deno.test("a bucket that keeps versions is refused", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await bucket.versioning("Enabled");
  await using _into = await archiveInto(sql, `versions-${crypto.randomUUID()}`);
  const tenant = await archivingTenant(sql);
  await addRecords(sql, tenant, recordsOf(daysAgo(45), 1100, 9));
  assert.equal(await problemOfBucket(sql), "The bucket keeps versions: switch versioning off");
  const { status, reason } = await archiveHealth(sql);
  assert.equal(status, "degraded");
  assert.match(`${reason}`, /The bucket cannot be used/);
  assert.deepEqual((await bucket.keys()).filter(isFile), []);
});

Deno.test("two installations share no prefix", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  const prefix = `shared-${crypto.randomUUID()}`;
  const theirs = new TextEncoder().encode('{"installation_id":"somebody else"}');
  await bucket.put(`${prefix}/logloom.json`, theirs);
  await using _into = await archiveInto(sql, prefix);
  assert.match(await problemOfBucket(sql), /belongs to another installation/);
  assert.deepEqual(await bucket.get(`${prefix}/logloom.json`), theirs);
});
