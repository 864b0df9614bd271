import assert from "node:assert/strict";
import { stackNamed } from "../../local/stack.ts";
import { createDatabase } from "../../supabase/functions/_shared/database.ts";
import { createOwnTraffic } from "../../supabase/functions/ingest/own_drain_events.ts";
import { createPlatformHandler } from "../../supabase/functions/logloom-platform/handler.ts";
import { ingest, newTenant } from "../support/client.ts";
import { changeSettings, openDatabase, recordsOf, stopJob } from "../support/database.ts";
import { stackState } from "../support/processes.ts";
import { stack } from "../support/stack.ts";

const ref = "abcdefghijklmnopqrst";
const token = "sbp_0123456789";

const logAt = (msAgo: number, event_message: string, more: object = {}) => ({
  id: crypto.randomUUID(),
  timestamp: `${new Date(Date.now() - msAgo).toISOString().slice(0, -1)}000`,
  event_message,
  source: "postgres_logs",
  log_attributes: { "parsed.error_severity": "ERROR" },
  ...more,
});

/** A fake of the Management API's endpoint for logs, by what Supabase publishes about it. */
function startFakeApi(rows: ReturnType<typeof logAt>[], refusals: Response[]) {
  const order = ({ timestamp, id }: typeof rows[0]) => `${timestamp} ${id}`;
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url, headers }) => {
    const { pathname, searchParams } = new URL(url);
    assert.equal(pathname, `/v1/projects/${ref}/analytics/endpoints/logs`);
    assert.deepEqual([headers.get("Authorization"), url.includes(token)], [
      `Bearer ${token}`,
      false,
    ]);
    const [sql, start, end] = ["sql", "iso_timestamp_start", "iso_timestamp_end"].map((name) =>
      searchParams.get(name)!
    );
    const result = rows.filter(({ timestamp, source }) =>
      `${timestamp}Z` > start && `${timestamp}Z` < end && sql.includes(`'${source}'`)
    ).sort((a, b) => order(a) < order(b) ? -1 : 1);
    const page = result.slice(0, Number(/limit (\d+)$/.exec(sql)![1]));
    const log_attributes = { left_out: "attributes and the end of the text" };
    const cut = page.map((row) => ({
      ...row,
      event_message: row.event_message.slice(0, 1000),
      log_attributes,
    }));
    return refusals.shift() ??
      Response.json({ result: sql.includes("left_out") ? cut : page, error: null });
  });
}

Deno.test("the platform's logs are stored once: full pages, late rows, refusals", async () => {
  await using sql = openDatabase();
  const tenant = await newTenant("platform");
  await ingest(tenant.headers, [{ msg: "first" }]);
  await using _job = await stopJob(sql, "collect");
  await using _settings = await changeSettings(sql, { project_tenant_id: tenant.id });
  await sql`update logloom_private.collectors
    set is_on = true, cursor = '{}', read_to = now() - interval '30 seconds'
    where name = 'platform'`;
  const state = async () => {
    const [row] = await sql`select *, next_at - now() > interval '100 seconds' as is_late
      from logloom_private.collectors where name = 'platform'`;
    assert.ok(!JSON.stringify(row).includes(token));
    return row;
  };

  const own = { "request.pathname": "/functions/v1/ingest", "function_id": "1" };
  const rows = [
    ...Array.from({ length: 2300 }, (_, i) => logAt(100_000 - i, `line ${i}`)),
    logAt(5000, "Logloom's", { source: "function_edge_logs", log_attributes: own }),
    logAt(5000, "another source", { source: "supavisor_logs" }),
  ];
  const refusals: Response[] = [];
  await using api = startFakeApi(rows, refusals);
  const url = `http://127.0.0.1:${api.addr.port}`;
  let work = Promise.resolve();
  const handle = createPlatformHandler({
    secret: "s",
    callDatabase: createDatabase({
      // The address that functions call.
      url: stackNamed((await stackState()).name).internalUrl,
      serviceKey: stack.serviceRoleKey,
      timeoutMs: 20_000,
    }),
    api: url,
    ref,
    token,
    isOwn: createOwnTraffic()("").isOwn,
    maxPageLength: 1_000_000,
    keepAlive: (promise) => void (work = promise),
  });
  const wake = async () => {
    const headers = { "X-Logloom-Notify-Secret": "s" };
    assert.equal((await handle(new Request(url, { method: "POST", headers }))).status, 202);
    await work;
  };

  await wake();
  const stored = await recordsOf(sql, tenant.id, 2301);
  const { level, service, attrs } = stored.find(({ msg }) => msg === "line 2299")!;
  assert.deepEqual([level, service, stored.length], ["error", "postgres", 2301]);
  assert.equal(attrs?.["metadata.parsed.error_severity"], "ERROR");

  // A row becomes visible late, while the API refuses: nothing is lost, and nothing is doubled.
  rows.push(logAt(80_000, "late"));
  refusals.push(
    new Response("{}", { status: 429, headers: { "Retry-After": "120" } }),
    new Response("{}", { status: 500 }),
    Response.json({ result: null, error: `Backend error ${token}` }),
    new Response(null, { status: 302, headers: { Location: "https://example.com" } }),
    new Response("<html></html>"),
  );
  for (
    const [error, waits] of [
      ["answered 429", true],
      ["answered 500"],
      ["refused the query"],
      ["answered 302"],
      ["answered 200 without logs"],
    ]
  ) {
    await wake();
    const { last_error, is_late } = await state();
    assert.equal(last_error, `The Management API ${error}`);
    if (waits) assert.ok(is_late);
  }
  await wake();
  await wake();
  assert.equal((await recordsOf(sql, tenant.id, 2302)).length, 2302);
  const { failures, last_error } = await state();
  assert.deepEqual([failures, last_error], [0, null]);

  // A millisecond that no page can hold is passed, and a record says so.
  const { timestamp } = logAt(1000, "");
  rows.push(...Array.from({ length: 1500 }, () => logAt(0, "burst", { timestamp })));
  rows.push(logAt(0, "after it"));
  await wake();
  const last = (await recordsOf(sql, tenant.id, 3304)).map(({ msg }) => msg);
  assert.deepEqual([last.length, last.includes("after it")], [3304, true]);
  assert.ok(last.some((msg) => /the others were left out$/.test(msg ?? "")));

  // A page that is too large is read in parts. What no part can hold is cut, and says so.
  rows.splice(
    0,
    Infinity,
    ...Array.from({ length: 12 }, (_, i) => logAt(50 - i, `part ${i} `.padEnd(50_000, "x"))),
    logAt(0, "large".padEnd(1_100_000, "x")),
  );
  await wake();
  const cut = (await recordsOf(sql, tenant.id, 3317)).filter(({ attrs }) =>
    attrs?.["metadata.left_out"] === "attributes and the end of the text"
  ).map(({ msg }) => [msg?.slice(0, 7), msg?.length]);
  assert.deepEqual(cut.sort(), [["largexx", 1000], ["part 10", 1000], ["part 11", 1000]]);
  await sql`update logloom_private.collectors set is_on = false where name = 'platform'`;
});
