import assert from "node:assert/strict";
import type { ProcessIdentity } from "../../local/process_identity.ts";
import { type Database, openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { isBack, killProcess, type ProcessName } from "../support/processes.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  endClaims,
  isAllThere,
  isArchived,
  lastErased,
  lastRestored,
  partsOf,
  planAgain,
  recordsOf,
  requestErasure,
  requestRestore,
  restored,
  runRetention,
  storedRecords,
} from "./archive.ts";
import { type Asked, startBucket, type TestBucket } from "./failing_bucket.ts";

const generation = (key: string) => Number(/_(\d+)\.parquet$/.exec(key)?.[1] ?? 0);

/**
 * Describes a kill at a request to the bucket. passes: whether the bucket still gets the request.
 */
interface Kill {
  readonly name: string;
  readonly at: (asked: Asked) => boolean;
  readonly passes: boolean;
  readonly process?: ProcessName;
}

/** Kills the process at the first matching request. isOver waits until the process is back, and expires its claims. */
function kill(
  sql: Database,
  bucket: TestBucket,
  { name, at, passes, process = "logloom-archive" }: Kill,
): { isOver: () => Promise<void> } {
  let begun = false;
  let killed: ProcessIdentity | undefined;
  bucket.fault = (asked, pass) => {
    if (begun || !at(asked)) return undefined;
    begun = true;
    return (async () => {
      const answer = passes ? await pass() : null;
      killed = await killProcess(process);
      return answer;
    })();
  };
  return {
    isOver: async () => {
      // Waits until the process is back first, because a database client may wait for a missing server for ever.
      await isBack(process, await eventually(name, () => Promise.resolve(killed)));
      await endClaims(sql);
    },
  };
}

function databaseFor({ process }: Kill): Database {
  return openDatabase(undefined, 2, { isCut: process === "postgres" });
}

const archiving: Kill[] = [
  {
    name: "the function is killed before a file is written",
    at: ({ method, key }) => method === "PUT" && generation(key) === 1,
    passes: false,
  },
  {
    name: "the function is killed when a file is written",
    at: ({ method, key }) => method === "PUT" && generation(key) === 1,
    passes: true,
  },
  {
    name: "the function is killed before a file is read back",
    at: ({ method, key }) => method === "GET" && generation(key) === 1,
    passes: true,
  },
  {
    name: "the database is killed while a file is written",
    at: ({ method, key }) => method === "PUT" && generation(key) === 1,
    passes: true,
    process: "postgres",
  },
];

for (const one of archiving) {
  Deno.test(`archiving: ${one.name}`, async () => {
    await using sql = databaseFor(one);
    await using bucket = await startBucket();
    await using _into = await archiveInto(sql, `kill-${crypto.randomUUID()}`);
    const tenant = await archivingTenant(sql);
    const day = daysAgo(45);
    await addRecords(sql, tenant, recordsOf(day, 1100, 8));
    const accepted = await storedRecords(sql, tenant);
    const killed = kill(sql, bucket, one);
    await planAgain(sql);
    await killed.isOver();
    const parts = await isArchived(sql, tenant);
    assert.deepEqual(parts.map(({ records }) => records), [1100]);
    assert.deepEqual(
      await isAllThere(sql, bucket, tenant, accepted),
      { archived: 1100, kept: 1100 },
    );
    await runRetention(sql);
    assert.deepEqual(await isAllThere(sql, bucket, tenant, accepted), { archived: 1100, kept: 0 });
    assert.equal(await restored(sql, tenant, day, day), 1100);
    assert.deepEqual(await storedRecords(sql, tenant), accepted);
  });
}

const erasing: Kill[] = [
  {
    name: "the function is killed when it has written the note",
    at: ({ method, key }) => method === "PUT" && key.includes("/erasures/"),
    passes: true,
  },
  {
    name: "the function is killed when it reads a file",
    at: ({ method, key }) => method === "GET" && generation(key) === 1,
    passes: true,
  },
  {
    name: "the function is killed before it rewrites a file",
    at: ({ method, key }) => method === "PUT" && generation(key) === 2,
    passes: false,
  },
  {
    name: "the function is killed when it has rewritten a file",
    at: ({ method, key }) => method === "PUT" && generation(key) === 2,
    passes: true,
  },
  {
    name: "the function is killed before it deletes the old file",
    at: ({ method, key }) => method === "DELETE" && generation(key) === 1,
    passes: false,
  },
  {
    name: "the function is killed when it has deleted the old file",
    at: ({ method, key }) => method === "DELETE" && generation(key) === 1,
    passes: true,
  },
  {
    name: "the database is killed while a file is rewritten",
    at: ({ method, key }) => method === "PUT" && generation(key) === 2,
    passes: true,
    process: "postgres",
  },
];

for (const one of erasing) {
  Deno.test(`erasing: ${one.name}`, async () => {
    await using sql = databaseFor(one);
    await using bucket = await startBucket();
    await using _into = await archiveInto(sql, `kill-${crypto.randomUUID()}`);
    const tenant = await archivingTenant(sql);
    const [mixed, full] = [daysAgo(50), daysAgo(51)];
    await addRecords(sql, tenant, [
      ...recordsOf(mixed, 1200, 2).map((row, n) => ({ ...row, user_id: n % 3 ? "u-2" : "u-1" })),
      ...recordsOf(full, 1100, 3).map((row) => ({ ...row, user_id: "u-1" })),
    ]);
    const left = (await storedRecords(sql, tenant))
      .filter((text) => JSON.parse(text).user_id !== "u-1");
    assert.equal(left.length, 800);
    await isArchived(sql, tenant);
    await runRetention(sql);
    const killed = kill(sql, bucket, one);
    await requestErasure(tenant);
    await killed.isOver();
    const run = await lastErased(sql, tenant);
    assert.deepEqual(
      { records: run.archive_records, files: run.archive_files },
      { records: 1500, files: 2 },
    );
    assert.deepEqual(
      (await partsOf(sql, tenant)).map(({ first_day, records, generation }) => [
        first_day,
        records,
        generation,
      ]),
      [[mixed, 800, 2]],
    );
    assert.deepEqual(await isAllThere(sql, bucket, tenant, left), { archived: 800, kept: 0 });
    assert.equal(await restored(sql, tenant, full, mixed), 800);
    assert.deepEqual(await storedRecords(sql, tenant), left);
  });
}

const restoring: Kill[] = [
  {
    name: "the function is killed when it reads a file",
    at: ({ method, key }) => method === "GET" && generation(key) === 1,
    passes: true,
  },
  {
    name: "the database is killed when the function reads a file",
    at: ({ method, key }) => method === "GET" && generation(key) === 1,
    passes: true,
    process: "postgres",
  },
];

for (const one of restoring) {
  Deno.test(`restoring: ${one.name}`, async () => {
    await using sql = databaseFor(one);
    await using bucket = await startBucket();
    await using _into = await archiveInto(sql, `kill-${crypto.randomUUID()}`);
    const tenant = await archivingTenant(sql);
    const days = [daysAgo(50), daysAgo(51)];
    for (const [n, day] of days.entries()) {
      await addRecords(sql, tenant, recordsOf(day, 1100, n));
    }
    const accepted = await storedRecords(sql, tenant);
    await isArchived(sql, tenant);
    await runRetention(sql);
    const killed = kill(sql, bucket, one);
    await requestRestore(tenant, days[1], days[0]);
    await killed.isOver();
    assert.equal(await lastRestored(sql, tenant), 2200);
    assert.deepEqual(await storedRecords(sql, tenant), accepted);
    assert.deepEqual(
      await isAllThere(sql, bucket, tenant, accepted),
      { archived: 2200, kept: 2200 },
    );
  });
}
