import assert from "node:assert/strict";
import { ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { noon, sealRecordsOf } from "./sealed_day.ts";

const filters = ["*", "level:error", '"order 7"', "any:r-1234", "NOT attrs.took:<900", "took"];
const stages = [
  "count()",
  "count() by service, level",
  "count() by attrs.shelf",
  "avg(attrs.took), max(attrs.took) by level",
  "p95(attrs.took)",
  "sum(attrs.took) by (10m)",
  "count_distinct(req_id)",
  "patterns",
];

/** Every kind of question, with parts of them that only some ways of reading can answer. */
const questions: [operation: string, parameters: Record<string, unknown>][] = [
  ...filters.flatMap((query): typeof questions => [
    ["search_logs", { p_query_dsl: query }],
    ["search_logs", { p_query_dsl: query, p_order: "asc", p_limit: 7 }],
    ["log_histogram", { p_query_dsl: query }],
    ...stages.map((stage): typeof questions[number] => [
      "log_stats",
      { p_query_dsl: `${query} | ${stage}` },
    ]),
  ]),
  ["log_series", { p_query_dsl: "level:error | count() by service" }],
  ["log_series", { p_query_dsl: "* | avg(attrs.took)" }],
];

/** A range of sealed days alone, and one that reaches to now. */
const ends = [noon.getTime() + 3_600_000, Date.now() + 60_000].map((end) => new Date(end));

async function answers(tenant: Tenant): Promise<[question: string, answer: unknown][]> {
  const all: [string, unknown][] = [];
  const p_ts_from = noon.toISOString();
  for (const [n, end] of ends.entries()) {
    for (const [operation, parameters] of questions) {
      const question = `${operation} ${JSON.stringify(parameters)}, range ${n}`;
      const { status, body } = await rpc(tenant.token, operation, {
        ...parameters,
        p_ts_from,
        p_ts_to: end.toISOString(),
      });
      assert.equal(status, 200, `${question}: ${JSON.stringify(body)}`);
      // A cursor has the moment in which it was made.
      const { next_cursor: _, ...answer } = Object(body);
      all.push([question, answer]);
    }
  }
  return all;
}

Deno.test("over nodes a sealed day answers every question as its rows did", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  const events = Array.from({ length: 2000 }, (_, n) => ({
    ts: new Date(noon.getTime() + n * 1000).toISOString(),
    level: ["info", "warn", "error"][n % 3],
    service: ["shop", "mail"][n % 2],
    msg: `order ${n} took ${n % 1000} ms`,
    req_id: `r-${n}`,
    took: n % 1000,
    shelf: `s${n % 5}`,
    nested: { list: [n, null, "x"] },
  }));
  for (let n = 0; n < events.length; n += 1000) {
    assert.equal((await ingest(tenant.headers, events.slice(n, n + 1000))).status, 200);
  }
  const today = { msg: "order of today", service: "shop", level: "error", took: 7 };
  assert.equal((await ingest(tenant.headers, [today])).status, 200);
  await recordsOf(db, tenant.id, events.length + 1);
  const rows = await answers(tenant);
  await sealRecordsOf(db, tenant.id, events.length);
  const sealed = await answers(tenant);
  for (const [n, answer] of rows.entries()) assert.deepEqual(sealed[n], answer);
});
