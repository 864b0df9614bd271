import assert from "node:assert/strict";
import { DuckDBInstance } from "@duckdb/node-api";
import { nameInKeys } from "../../supabase/functions/_shared/s3.ts";
import { openDatabase, stopJob } from "../support/database.ts";
import {
  addRecords,
  archiveInto,
  archivingTenant,
  daysAgo,
  isArchived,
  monthsAgo,
  recordsOf,
} from "./archive.ts";
import { startBucket } from "./failing_bucket.ts";
import { tempFolder } from "../support/temp_folder.ts";

/** Numbers that fit in a column of 8 bytes, and one that does not. */
const numbers = [
  '{"n":9007199254740993}',
  '{"n":12345678901234567890.25}',
  '{"n":1.0000152587890625}',
];

Deno.test("DuckDB reads every file, and counts as the database does", async () => {
  await using sql = openDatabase();
  await using bucket = await startBucket();
  const large = await archivingTenant(sql);
  const small = await archivingTenant(sql);
  const odd = await archivingTenant(sql, {}, "Ümläut / duckdb %41");
  const month = monthsAgo(3);
  const sealing = await stopJob(sql, "seal_logs");
  for (const [n, day] of [daysAgo(40), daysAgo(70), daysAgo(71)].entries()) {
    await addRecords(sql, large, recordsOf(day, 1300, n));
  }
  for (const n of [1, 2, 3]) {
    await addRecords(sql, small, recordsOf(month, 20, 10 + n));
    await addRecords(sql, small, recordsOf(month.replace(/01$/, "09"), 20, 20 + n));
  }
  await addRecords(sql, odd, recordsOf(daysAgo(40), 1100, 9));
  const exact = await archivingTenant(sql);
  // Each number is in its own file, because DuckDB gives a column the widest type of all files.
  for (const [n, attrs] of numbers.entries()) {
    await addRecords(
      sql,
      exact,
      recordsOf(daysAgo(80 + n), 1000, 30 + n).map((row) => ({ ...row, attrs })),
    );
  }
  // The archive is switched on only now, because later records would get another file.
  await using _into = await archiveInto(sql, "duckdb");
  const counts = async (tenantId: string) =>
    JSON.stringify(
      await sql`
        select level, service, count(*)::integer as count,
          min(ts)::text as first, max(ts)::text as last
        from logloom.logs where tenant_id = ${tenantId}
        group by 1, 2 order by level nulls first, service collate "C" nulls first`,
    );
  const wanted = [await counts(large.id), await counts(small.id), await counts(odd.id)];
  await sealing[Symbol.asyncDispose]();
  await isArchived(sql, large);
  await isArchived(sql, odd);
  await isArchived(sql, exact);
  const files = await isArchived(sql, small);
  assert.deepEqual(
    files.map(({ first_day, records }) => [first_day, records]),
    [[month, 120]],
    "a small tenant has a file for a month",
  );

  await using temp = await tempFolder();
  const folder = temp.path;
  for (const key of (await bucket.keys()).filter((key) => key.endsWith(".parquet"))) {
    await Deno.mkdir(`${folder}/${key.slice(0, key.lastIndexOf("/"))}`, { recursive: true });
    await Deno.writeFile(`${folder}/${key}`, await bucket.get(key));
  }
  const instance = await DuckDBInstance.create(":memory:");
  const duck = await instance.connect();
  await duck.run("set timezone = 'UTC'");
  const rows = async (question: string) => (await duck.runAndReadAll(question)).getRowObjectsJson();
  const source = `read_parquet('${folder}/duckdb/v1/*/*/*.parquet',
    hive_partitioning = true, hive_types = {'tenant': varchar, 'month': varchar},
    union_by_name = true)`;
  const found = await Promise.all([large, small, odd].map(async ({ id }) =>
    JSON.stringify(
      await rows(`
        select level, service, count(*)::integer as count,
          rtrim(rtrim(strftime(min(ts), '%Y-%m-%d %H:%M:%S.%f'), '0'), '.') || '+00' as first,
          rtrim(rtrim(strftime(max(ts), '%Y-%m-%d %H:%M:%S.%f'), '0'), '.') || '+00' as last
        from ${source} where tenant = '${nameInKeys(id)}'
        group by 1, 2 order by 1 nulls first, 2 nulls first`),
    )
  ));
  assert.deepEqual(found, wanted);
  const [types] = await rows(`
    select typeof(id) as id, typeof(ts) as ts, typeof(month) as month, typeof(msg) as msg
    from ${source} limit 1`);
  assert.deepEqual(types, {
    id: "UUID",
    ts: "TIMESTAMP WITH TIME ZONE",
    month: "VARCHAR",
    msg: "VARCHAR",
  });
  const sums = await Promise.all(numbers.map((_, n) =>
    rows(`
      select typeof("attrs.n") as type, sum("attrs.n")::varchar as sum
      from read_parquet('${folder}/duckdb/v1/tenant=${exact.id}/*/${daysAgo(80 + n)}_*.parquet')
      group by 1`)
  ));
  assert.deepEqual(sums.flat(), [
    { type: "BIGINT", sum: "9007199254740993000" },
    { type: "DECIMAL(38,2)", sum: "12345678901234567890250.00" },
    { type: "DOUBLE", sum: "1000.0152587890625" },
  ]);
  const [whole] = await rows(`
    select typeof("attrs.n") as type, count("attrs.n")::integer as count,
      round(sum("attrs.n") / 1e22, 6) as sum
    from read_parquet('${folder}/duckdb/v1/tenant=${exact.id}/*/*.parquet', union_by_name = true)
    group by 1`);
  assert.deepEqual(whole, { type: "DOUBLE", count: 3000, sum: 1.235469 });
  duck.closeSync();
});
