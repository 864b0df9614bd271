import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { clientOf, ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";

const day = 86_400_000;

/** The page with its dates replaced by recent ones. */
const page = (await Deno.readTextFile(`${checkout}/docs/reference/query-language.md`))
  .replaceAll("2026-11-20", date(day))
  .replaceAll("2026-11-19", date(2 * day));

function date(ago: number): string {
  return new Date(Date.now() - ago).toISOString().slice(0, 10);
}

/** Returns the rows of every table under a heading, cells without their backticks and escapes. */
function rows(heading: string): string[][] {
  const section = page.split(/^## /m).find((one) => one.startsWith(`${heading}\n`));
  assert.ok(section, `no section ${heading}`);
  const lines = section.split("\n").filter((line) => line.startsWith("|")).slice(2);
  assert.ok(lines.length > 0, `no examples under ${heading}`);
  return lines.map((line) =>
    line.slice(1, -1).split(/(?<!\\)\|/).map((cell) =>
      cell.trim().replace(/^`(.*)`$/, "$1").replaceAll("\\|", "|")
    )
  );
}

/** Two whole days from the page's first day on, so that a rate is the same every day. */
const range = { p_ts_from: `${date(2 * day)}T00:00:00Z`, p_ts_to: `${date(0)}T00:00:00Z` };

async function tenantWithEvents(): Promise<Tenant> {
  const tenant = await newTenant();
  const text = /^```json events\n([\s\S]*?)^```/m.exec(page)?.[1] ?? "";
  const events = text.trim().split("\n").map((line) => JSON.parse(line));
  const { body } = await ingest(tenant.headers, events);
  assert.deepEqual(body, { success: true, ingested: 6, rejected: 0 });
  await using db = openDatabase();
  await recordsOf(db, tenant.id, events.length);
  return tenant;
}

Deno.test("the examples of docs/reference/query-language.md find the events that it lists", async () => {
  const tenant = await tenantWithEvents();
  const headings = [
    "Terms",
    "Any text",
    "Exact, case-insensitive and whole-word matches",
    "Fields",
    "Levels",
    "And, or, not",
    "Time",
    "Attributes",
    "Quantities and networks",
    "Regular expressions",
  ];
  for (const [query, finds] of headings.flatMap(rows)) {
    const body = await clientOf(tenant.token).call("search_logs", { p_query_dsl: query, ...range });
    // An id ends in the event's index.
    const found = body.logs.map(({ id }) => parseInt(id.slice(-4), 16) + 1).toSorted();
    assert.equal(found.join(", "), finds, query);
    if (found.length > 0) assert.deepEqual(body.warnings, [], query);
  }
});

Deno.test("the aggregates of docs/reference/query-language.md have the values that it lists", async () => {
  const tenant = await tenantWithEvents();
  for (const [query, answer] of rows("Aggregates")) {
    const body = await clientOf(tenant.token).call("log_stats", { p_query_dsl: query, ...range });
    const expected: Record<string, unknown>[] = JSON.parse(answer);
    // The page leaves out some members.
    const said = body.map((row, i) =>
      Object.fromEntries(
        Object.keys(expected[i] ?? {}).map((name) => [name, Reflect.get(row, name)]),
      )
    );
    assert.deepEqual(said, expected, query);
  }
});

Deno.test("the queries of docs/reference/query-language.md have the warnings that it lists", async () => {
  const tenant = await newTenant();
  for (const [query, position, suggestion] of rows("Probable mistakes")) {
    const body = await clientOf(tenant.token).call("search_logs", { p_query_dsl: query });
    const { position: found, suggestion: suggested } = body.warnings[0] ?? {};
    assert.deepEqual([found, suggested], [Number(position), suggestion], query);
    const { status } = await rpc(tenant.token, "create_alert_rule", {
      ...{ p_name: "n", p_query_dsl: query, p_threshold: 1, p_comparison: "gt" },
      ...{ p_window_minutes: 5, p_cooldown_minutes: 5, p_enabled: false },
    });
    assert.equal(status, 400, `a rule: ${query}`);
  }
});

Deno.test("each query of docs/guides/coming-from.md is valid and has no warning", async () => {
  const tenant = await newTenant();
  const other = await Deno.readTextFile(`${checkout}/docs/guides/coming-from.md`);
  const lines = other.split("\n").filter((line) => /^\| (?!to find|---)/.test(line));
  assert.ok(lines.length >= 40, `${lines.length} queries`);
  for (const line of lines) {
    const query = line.slice(1, -1).split(/(?<!\\)\|/).at(-1)?.trim()
      .replace(/^`(.*)`$/, "$1").replaceAll("\\|", "|") ?? "";
    const validity = await clientOf(tenant.token).call("validate_query", { p_query_dsl: query });
    assert.deepEqual(validity.warnings, [], query);
    const page = await rpc(tenant.token, "search_logs", { p_query_dsl: query });
    const isRows = `${page.body.message}`.startsWith(
      "Invalid p_query_dsl: this operation returns records",
    );
    const { status, body } = isRows
      ? await rpc(tenant.token, "log_stats", { p_query_dsl: query })
      : page;
    assert.equal(status, 200, `${query}: ${JSON.stringify(body)}`);
  }
});

Deno.test("the queries of docs/reference/query-language.md have the errors that it lists", async () => {
  const tenant = await newTenant();
  for (const [query, position, error] of rows("Query errors")) {
    const { status, body } = await rpc(tenant.token, "search_logs", { p_query_dsl: query });
    const validity = await clientOf(tenant.token).call("validate_query", { p_query_dsl: query });
    assert.deepEqual(
      { status, message: body.message, position: JSON.parse(`${body.details}`).position },
      { status: 400, message: error, position: Number(position) },
      query,
    );
    assert.deepEqual(
      { valid: validity.valid, error: validity.error, position: validity.position },
      { valid: false, error, position: Number(position) },
      query,
    );
  }
});
