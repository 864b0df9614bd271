import assert from "node:assert/strict";
import { openDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { killProcess } from "../../support/processes.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  hurry,
  isArchived,
  recordsOf,
  restored,
  runRetention,
  storedRecords,
} from "../archive.ts";
import { type Fault, startBucket } from "../bucket.ts";

const isFile = (key: string) => key.endsWith(".parquet");

/** Each happens to the first file that is written, and what it leaves as the error of the pass. */
const faults: { name: string; fault: (times: () => number) => Fault; error: RegExp }[] = [
  {
    name: "a bucket that answers 503",
    fault: (times) => ({ method, key }) =>
      method === "PUT" && isFile(key) && times() < 2
        ? Promise.resolve(new Response("slow down", { status: 503 }))
        : undefined,
    error: /did not take an object: it answered 503/,
  },
  {
    name: "a key that is refused, as it is with a clock that is ahead",
    fault: (times) => ({ method, key }) =>
      method === "PUT" && isFile(key) && times() < 1
        ? Promise.resolve(
          new Response("<Error><Code>RequestTimeTooSkewed</Code></Error>", { status: 403 }),
        )
        : undefined,
    error: /may not have the bucket take an object/,
  },
  {
    name: "another body than was written",
    fault: (times) => ({ method, key }, pass) =>
      method === "GET" && isFile(key) && times() < 1
        ? pass().then(async (answer) => {
          const bytes = new Uint8Array(await answer.arrayBuffer());
          bytes[bytes.length >> 1] ^= 1;
          return new Response(bytes, { status: 200 });
        })
        : undefined,
    error: /came back as another one/,
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
    error: /came back as another one/,
  },
  {
    name: "an object that is not there after all",
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
    await eventually("nothing else is left in the bucket", async () => {
      await hurry(sql, tenant);
      const keys = (await bucket.keys()).filter(isFile);
      return keys.length === 1 && keys[0] === parts[0].object_key;
    });
    await runRetention(sql);
    assert.deepEqual(await storedRecords(sql, tenant), []);
    assert.equal(await restored(sql, tenant, day, day), 1100);
    assert.deepEqual(await storedRecords(sql, tenant), before);
  });
}

/** The function is killed when it asks for this. */
const kills: { name: string; at: (method: string, times: number) => boolean }[] = [
  { name: "before a file is written", at: (method) => method === "PUT" },
  { name: "before it is read back", at: (method) => method === "GET" },
];

for (const { name, at } of kills) {
  Deno.test(`a function that is killed ${name} loses no record and leaves no object`, async () => {
    await using sql = openDatabase();
    await using bucket = await startBucket();
    await using _into = await archiveInto(sql, `kill-${crypto.randomUUID()}`);
    const tenant = await archivingTenant(sql);
    const day = daysAgo(45);
    await addRecords(sql, tenant, recordsOf(day, 1100, 8));
    const before = await storedRecords(sql, tenant);
    let killed = 0;
    bucket.fault = ({ method, key }, pass) => {
      if (!isFile(key) || killed > 0 || !at(method, killed)) return undefined;
      killed += 1;
      return (async () => {
        const answer = await pass();
        await killProcess("logloom-archive");
        return answer;
      })();
    };
    await sql`
      update logloom_private.archive_bucket set planned_at = null, planned_through = null`;
    await eventually("the function is killed", () => Promise.resolve(killed > 0));
    // What it had taken up is given out again when its time is over.
    await eventually("the claim is there", async () => {
      const { count } = await sql`
        update logloom_private.archive_claims set expires_at = now() - interval '1 second'
        where tenant_id = ${tenant.id}`;
      return count > 0;
    });
    const parts = await isArchived(sql, tenant);
    assert.deepEqual(parts.map(({ records }) => records), [1100]);
    await eventually("nothing else is left in the bucket", async () => {
      await hurry(sql, tenant);
      const keys = (await bucket.keys()).filter(isFile);
      return keys.length === 1 && keys[0] === parts[0].object_key;
    });
    await runRetention(sql);
    assert.deepEqual(await storedRecords(sql, tenant), []);
    assert.equal(await restored(sql, tenant, day, day), 1100);
    assert.deepEqual(await storedRecords(sql, tenant), before);
  });
}

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
