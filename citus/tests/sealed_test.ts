import assert from "node:assert/strict";
import { ingest } from "../../tests/support/client.ts";
import { openDatabase, recordsOf } from "../../tests/support/database.ts";
import {
  answersTo,
  noon,
  orders,
  type Question,
  sealRecordsOf,
  tenantWithDay,
} from "./sealed_day.ts";

const filters = ["*", "level:error", '"order 7"', "any:r-1234", "NOT attrs.took:<900", "took"];
const stages = [
  "count()",
  "count() by service, level",
  "count() by attrs.shelf",
  "avg(attrs.took), max(attrs.took) by level",
  "p95(attrs.took)",
  "sum(attrs.took) by (10m)",
  "count_distinct(req_id)",
  "count_distinct(attrs.took) if (level:error) as n, count() as all by service",
  "count() if (attrs.took:<900) as quick, count() as all by (10m) | math quick / all * 100 as share",
  'extract "order <n> took" | max(@n), count_distinct(@n) as n',
  'extract_regexp "(?P<n>[0-9]) ms$" | count() by @n | sort by @n',
  "patterns",
];

/** Every kind of question, and filters and stages that use different ways of reading. */
const questions: Question[] = [
  ...filters.flatMap((query): Question[] => [
    ["search_logs", { p_query_dsl: query }],
    ["search_logs", { p_query_dsl: query, p_order: "asc", p_limit: 7 }],
    ["log_histogram", { p_query_dsl: query }],
    ...stages.map((stage): Question => ["log_stats", { p_query_dsl: `${query} | ${stage}` }]),
  ]),
  ["log_series", { p_query_dsl: "level:error | count() by service" }],
  ["log_series", { p_query_dsl: "* | avg(attrs.took)" }],
];

/** The ends of a range with only sealed records, and of one that reaches to now. */
const ends = [noon.getTime() + 3_600_000, Date.now() + 60_000].map((end) => new Date(end));

Deno.test("over nodes a sealed day gives the same answers as its rows", async () => {
  await using db = openDatabase();
  const tenant = await tenantWithDay(db);
  const today = { msg: "order of today", service: "shop", level: "error", took: 7 };
  assert.equal((await ingest(tenant.headers, [today])).status, 200);
  await recordsOf(db, tenant.id, orders + 1);
  const answers = async () => {
    const all = [];
    for (const end of ends) all.push(...await answersTo(questions, tenant, end));
    return all;
  };
  const rows = await answers();
  await sealRecordsOf(db, tenant.id, orders);
  const sealed = await answers();
  for (const [n, answer] of rows.entries()) {
    assert.deepEqual(withoutExamples(sealed[n]), withoutExamples(answer));
  }
});

/** Leaves out examples of patterns, because rows and blocks choose different messages. */
function withoutExamples(answer: unknown): unknown {
  const text = JSON.stringify(answer, (key, value) => key === "example" ? typeof value : value);
  return JSON.parse(text);
}
