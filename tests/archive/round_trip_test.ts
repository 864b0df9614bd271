import assert from "node:assert/strict";
import { openDatabase } from "../support/database.ts";
import { asUser } from "../support/users.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  isArchived,
  lastRestored,
  recordsOf,
  requestRestore,
  runRetention,
  sealDay,
  storedRecords,
} from "./archive.ts";
import { startBucket } from "./failing_bucket.ts";

Deno.test("days are archived, dropped, and restored unchanged", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  await using _into = await archiveInto(sql, "round-trip");
  const tenant = await archivingTenant(sql, {}, "Ümläut / archive %41");
  const [sealed, rows] = [daysAgo(40), daysAgo(41)];
  await addRecords(sql, tenant, recordsOf(sealed, 2400, 1));
  await sealDay(sql, tenant, sealed);
  await addRecords(sql, tenant, recordsOf(rows, 1200, 2));
  const before = await storedRecords(sql, tenant);
  assert.equal(before.length, 3600);

  const parts = await isArchived(sql, tenant);
  assert.deepEqual(
    parts.map(({ first_day, last_day, status, records }) => [first_day, last_day, status, records]),
    [[rows, rows, "verified", 1200], [sealed, sealed, "verified", 2400]],
  );
  assert.deepEqual(
    (await bucket.keys()).filter((key) => key.endsWith(".parquet")),
    parts.map(({ object_key }) => object_key),
  );
  assert.match(
    parts[0].object_key,
    new RegExp(
      `^round-trip/v1/tenant=!C3!9Cml!C3!A4ut!20!2F!20archive!20!2541-[0-9a-f-]{36}/` +
        `month=${rows.slice(0, 7)}/${rows}_${rows}_[0-9a-f-]{36}_1\\.parquet$`,
    ),
  );
  await runRetention(sql);
  assert.deepEqual(await storedRecords(sql, tenant), []);

  const { client } = asUser(tenant);
  assert.equal((await requestRestore(tenant, rows, sealed)).status, "queued");
  assert.equal(await lastRestored(sql, tenant), 3600);
  assert.deepEqual(await storedRecords(sql, tenant), before);
  const found = await client.call("search_logs", {
    p_query_dsl: "msg:took",
    p_ts_from: `${rows}T00:00:00Z`,
    p_ts_to: `${daysAgo(39)}T00:00:00Z`,
    p_limit: 1,
  });
  assert.equal(found.logs.length, 1);
  await runRetention(sql);
  assert.deepEqual(await storedRecords(sql, tenant), before, "they stay for the requested time");
});
