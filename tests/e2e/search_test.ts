import assert from "node:assert/strict";
import {
  type Answer,
  assertAnswer,
  assertRpcError,
  call,
  ingest,
  newTenant,
  rpc,
} from "../support/client.ts";
import {
  countRecords,
  openDatabase,
  queueIsEmpty,
  recordsOf,
  removeRecords,
} from "../support/database.ts";
import { eventually, pause } from "../support/eventually.ts";
import { keepRecords } from "../support/plans.ts";
import { stack } from "../support/stack.ts";
import { userToken } from "../support/tokens.ts";

interface Log {
  id: string;
  tenant_id: string;
  ts: string;
  received_at: string;
  level: string | null;
  msg: string | null;
  attrs: Record<string, unknown> | null;
}

interface Page {
  logs: Log[];
  next_cursor: string | null;
  ts_from: string;
  ts_to: string;
}

interface Tail {
  logs: Log[];
  next_cursor: string;
  more: boolean;
}

const minute = 60_000;

/** The same time yesterday. */
function yesterday(time: string): string {
  return `${beforeToday}${time}`;
}

// Fixed at the start, because midnight may pass during the tests.
const beforeToday = ago(24 * 60 * minute).slice(0, 11);

function ago(milliseconds: number): string {
  return new Date(Date.now() - milliseconds).toISOString();
}

async function read<Body>(token: string, operation: string, parameters: unknown): Promise<Body> {
  const { status, body } = await rpc<Body>(token, operation, parameters);
  assert.equal(status, 200, `${operation}: ${JSON.stringify(body)}`);
  return body;
}

function messages(logs: Log[]): (string | null)[] {
  return logs.map(({ msg }) => msg);
}

Deno.test("an acknowledged event is found soon after", async () => {
  const tenant = await newTenant();
  const delays: number[] = [];
  for (let n = 0; n < 5; n++) {
    const { status } = await ingest(tenant.headers, { msg: `event ${n}`, level: "warn" });
    assert.equal(status, 200);
    const acknowledged = performance.now();
    await eventually("the event is found", async () => {
      const page = await read<Page>(tenant.token, "search_logs", {
        p_query_dsl: `level:warn "event ${n}"`,
      });
      return page.logs.length === 1;
    }, { every: 10 });
    delays.push(performance.now() - acknowledged);
  }
  console.log(`found after ${delays.map(Math.round).join(", ")} ms`);
});

Deno.test("a search returns its range, and whole records up to its limit", async () => {
  const tenant = await newTenant();
  const event = {
    ts: yesterday("10:00:00.123456Z"),
    level: "error",
    msg: "payment refused",
    service: "shop",
    env: "prod",
    req_id: "r-1",
    user_id: "u-1",
    route: "/pay",
    host: "web-1",
    attrs: { amount: 12.5, tags: ["a", "b"], nested: { ok: false } },
  };
  await ingest(tenant.headers, [event, { ...event, level: "info" }]);
  await using db = openDatabase();
  const [record] = (await recordsOf(db, tenant.id, 2)).filter(({ level }) => level === "error");

  const answer = await rpc(tenant.token, "search_logs", {
    p_query_dsl: "level:error attrs.amount:>12 attrs.tags:b",
    p_ts_from: yesterday("10:00:00Z"),
    p_ts_to: yesterday("11:00:00Z"),
  });
  const { write_seq: _write_seq, ...found } = record;
  assertAnswer(answer, 200, {
    logs: [found],
    next_cursor: null,
    ts_from: yesterday("10:00:00+00:00"),
    ts_to: yesterday("11:00:00+00:00"),
    warnings: [],
  });
  assertAnswer(await rpc(tenant.token, "get_log", { p_id: found.id }), 200, found);
  assertAnswer(await rpc(tenant.token, "get_log", { p_id: found.id, p_ts: found.ts }), 200, found);

  const stranger = await newTenant();
  assertRpcError(
    await rpc(stranger.token, "get_log", { p_id: found.id, p_ts: found.ts }),
    404,
    "Log record not found",
  );
  const page = await read<Page>(stranger.token, "search_logs", {
    p_ts_from: ago(3 * 24 * 60 * minute),
  });
  assert.deepEqual(page.logs, []);
});

Deno.test("pages have each record once, while others are written", async () => {
  const tenant = await newTenant();
  const from = ago(10 * minute);
  const sent = Array.from({ length: 250 }, (_, n) => ({ ts: ago(9 * minute), msg: `${n}` }));
  await ingest(tenant.headers, sent);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 250);

  const seen: (string | null)[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await read(tenant.token, "search_logs", {
      p_ts_from: from,
      p_limit: 60,
      p_cursor: cursor,
    });
    seen.push(...messages(page.logs));
    cursor = page.next_cursor;
    // Newer than the previous page, so not part of the pages.
    await ingest(tenant.headers, { ts: ago(8 * minute), msg: "newer" });
    await queueIsEmpty(db);
  } while (cursor !== null);
  assert.deepEqual(seen.toSorted(), sent.map(({ msg }) => msg).toSorted());
});

/** Returns a row of statistics for count(), without its group. */
function counted(value: number, groups: number) {
  return { value, values: { count: value }, total_groups: groups, warnings: [] };
}

Deno.test("times are UTC, whatever zone a request prefers", async () => {
  const tenant = await newTenant();
  const ts = yesterday("10:00:00Z");
  await ingest(tenant.headers, { ts, msg: "one" });
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 1);
  const parameters = { p_ts_from: yesterday("10:00:00"), p_ts_to: yesterday("10:00:01") };
  const { status, body } = await call<{ logs: { ts: string }[]; ts_from: string }>(
    "/rest/v1/rpc/search_logs",
    {
      method: "POST",
      headers: {
        ...tenant.headers,
        "content-type": "application/json",
        prefer: "timezone=Asia/Kolkata",
      },
      body: JSON.stringify(parameters),
    },
  );
  assert.deepEqual([status, body.ts_from, body.logs.map((log) => log.ts)], [
    200,
    yesterday("10:00:00+00:00"),
    [yesterday("10:00:00+00:00")],
  ]);
});

Deno.test("statistics and a histogram count what was ingested", async () => {
  const tenant = await newTenant();
  const ten = Date.parse(yesterday("10:00:00Z"));
  const at = (second: number) => new Date(ten + second * 1000).toISOString();
  await ingest(tenant.headers, [
    { ts: at(1), level: "error", service: "api", attrs: { ms: 10 } },
    { ts: at(59), level: "error", service: "api", attrs: { ms: 30 } },
    { ts: at(61), level: "info", service: "web" },
    { ts: at(150) },
  ]);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 4);
  const range = { p_ts_from: at(0), p_ts_to: at(180) };

  assertAnswer(
    await rpc(tenant.token, "log_stats", { p_query_dsl: "| count() by service, level", ...range }),
    200,
    [
      { group: { service: "api", level: "error" }, ...counted(2, 3) },
      { group: { service: "web", level: "info" }, ...counted(1, 3) },
      { group: { service: null, level: null }, ...counted(1, 3) },
    ],
  );
  assertAnswer(
    await rpc(tenant.token, "log_stats", { p_query_dsl: "level:error | rate()", ...range }),
    200,
    [{ group: {}, value: 2 / 3, values: { rate: 2 / 3 }, total_groups: 1, warnings: [] }],
  );
  assertAnswer(
    await rpc(tenant.token, "log_stats", { p_query_dsl: "| avg(attrs.ms)", ...range }),
    200,
    [{ group: {}, value: 20, values: { avg: 20 }, total_groups: 1, warnings: [] }],
  );
  const none = { debug: 0, info: 0, warn: 0, error: 0, none: 0 };
  assertAnswer(await rpc(tenant.token, "log_histogram", { ...range, p_buckets: 3 }), 200, {
    interval_seconds: 60,
    total: 4,
    buckets: [
      { ts: yesterday("10:00:00+00:00"), count: 2, levels: { ...none, error: 2 } },
      { ts: yesterday("10:01:00+00:00"), count: 1, levels: { ...none, info: 1 } },
      { ts: yesterday("10:02:00+00:00"), count: 1, levels: { ...none, none: 1 } },
    ],
  });
  const fields = await read<{ field: string; type: string; count: number }[]>(
    tenant.token,
    "list_log_fields",
    range,
  );
  assert.deepEqual(fields.find(({ field }) => field === "attrs.ms"), {
    field: "attrs.ms",
    type: "number",
    count: 2,
    values: [{ value: "10", count: 1 }, { value: "30", count: 1 }],
    exact: true,
    records: 4,
  });
});

const isSharded = Deno.env.has("LOGLOOM_IS_SHARDED");

Deno.test("the counts equal a recount, while counts are compacted and records come and go", async () => {
  const tenant = await newTenant();
  await using db = openDatabase();
  // Compares all tenants with rows, by level, because services beyond the limit are counted together.
  const disagreements = async () => [
    ...await db`
      select * from (
        select l.tenant_id, date_bin('1 minute', l.ts, 'epoch') as minute, l.level,
          count(*) as events
        from logloom.logs l
        group by 1, 2, 3
      ) l
      full join (
        select c.tenant_id, c.minute, c.level, sum(c.events) as events
        from logloom_private.log_counts c
        group by 1, 2, 3
        having sum(c.events) <> 0
      ) c on row(c.tenant_id, c.minute, c.level)::text = row(l.tenant_id, l.minute, l.level)::text
      where c.events is distinct from l.events
        and coalesce(c.tenant_id, l.tenant_id) not in (
          select s.tenant_id from logloom_private.blocks s
        )`,
  ];
  let done = false;
  const senders = Promise.all([0, 1, 2].map(async (sender) => {
    for (let n = 0; n < 15; n++) {
      const events = [0, 1, 2, 3].map((i) => ({
        ts: ago((n * i * 37) * 1000),
        level: ["info", "error", undefined][(n + i) % 3],
        service: ["api", "web", undefined][(n + sender) % 3],
      }));
      assert.equal((await ingest(tenant.headers, events)).status, 200);
    }
  })).then(() => done = true);
  while (!done) {
    await db`select logloom_private.compact_log_counts()`;
    await removeRecords(
      db,
      `l.tenant_id = '${tenant.id}' and l.level is null and l.service = 'web'`,
    );
    // On several nodes the two counts are read in two snapshots, and the writer commits between them.
    if (!isSharded) assert.deepEqual(await disagreements(), []);
  }
  await senders;
  await queueIsEmpty(db);
  assert.deepEqual(await disagreements(), []);
  await db`select logloom_private.compact_log_counts()`;
  assert.deepEqual(await disagreements(), []);
});

Deno.test("a live tail shows every event once, late ones too, while many are sent", async () => {
  const tenant = await newTenant();
  const start = await read<Tail>(tenant.token, "tail_logs", {});
  assert.deepEqual(start.logs, []);

  const sent: string[] = [];
  const sender = async (name: string) => {
    for (let n = 0; n < 20; n++) {
      const events = [0, 1, 2].map((i) => `${name} ${n} ${i}`);
      sent.push(...events);
      const answer = await ingest(
        tenant.headers,
        // The times are now, an hour ago, and on another day.
        events.map((msg, i) => ({ msg, ts: ago([0, 60 * minute, 49 * 60 * minute][i]) })),
      );
      assert.equal(answer.status, 200);
      await pause(20);
    }
  };
  const senders = Promise.all(["a", "b", "c"].map(sender)).then(() => true);
  let done = false;
  senders.then(() => done = true);

  const seen: (string | null)[] = [];
  let cursor = start.next_cursor;
  await eventually("all events were seen", async () => {
    const tail = await read<Tail>(tenant.token, "tail_logs", { p_cursor: cursor, p_limit: 7 });
    seen.push(...messages(tail.logs));
    assert.equal(tail.logs.length <= 7, true);
    cursor = tail.next_cursor;
    return done && seen.length >= sent.length && !tail.more;
  }, { every: 5 });
  await senders;
  assert.deepEqual(seen.toSorted(), sent.toSorted());
  assert.deepEqual((await read<Tail>(tenant.token, "tail_logs", { p_cursor: cursor })).logs, []);
});

Deno.test("a saved search runs for its creator and, if shared, for a colleague", async () => {
  const tenant = await newTenant();
  const colleague = await userToken({ tenant_id: tenant.id });
  await ingest(tenant.headers, [{ msg: "a", level: "error" }, { msg: "b", level: "info" }]);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 2);
  const id = await read<string>(tenant.token, "create_saved_search", {
    p_name: "errors",
    p_query_dsl: "level:error",
    p_is_shared: true,
  });
  for (const token of [tenant.token, colleague]) {
    const run = await read<Page & { stats: unknown }>(token, "run_saved_search", { p_id: id });
    assert.deepEqual(messages(run.logs), ["a"]);
    assert.equal(run.stats, null);
  }
  await read(tenant.token, "update_saved_search", {
    p_id: id,
    p_query_dsl: "| count() by level",
    p_is_shared: false,
  });
  const run = await read<Page & { stats: unknown }>(tenant.token, "run_saved_search", { p_id: id });
  assert.deepEqual(run.logs, []);
  assert.deepEqual(run.stats, [
    { group: { level: "error" }, ...counted(1, 2) },
    { group: { level: "info" }, ...counted(1, 2) },
  ]);
  assertRpcError(
    await rpc(colleague, "run_saved_search", { p_id: id }),
    404,
    "Saved search not found",
  );
  const search = await read<{ run_count: number; last_run_at: string }>(
    tenant.token,
    "get_saved_search",
    { p_id: id },
  );
  assert.equal(search.run_count, 3);
  assert.ok(Date.now() - Date.parse(search.last_run_at) < minute);
});

Deno.test("a faulty query has the place of its fault, in an error and in validate_query", async () => {
  const tenant = await newTenant();
  const answer = await rpc(tenant.token, "search_logs", { p_query_dsl: "level:error colour:red" });
  assertRpcError(answer, 400, 'Unknown field "colour"');
  assert.equal(JSON.parse(answer.body.details as string).position, 13);
  assertAnswer(
    await rpc(tenant.token, "validate_query", { p_query_dsl: "level:error colour:red" }),
    200,
    {
      valid: false,
      error: 'Unknown field "colour"',
      position: 13,
      hint: answer.body.hint,
      warnings: [],
    },
  );
  assertAnswer(await rpc(tenant.token, "validate_query", { p_query_dsl: "level:error" }), 200, {
    valid: true,
    warnings: [],
    error: null,
    position: null,
    hint: null,
  });
});

Deno.test("logs are read by users only", async () => {
  for (
    const operation of [
      "search_logs",
      "log_stats",
      "log_histogram",
      "list_log_fields",
      "get_log",
      "tail_logs",
      "run_saved_search",
      "validate_query",
    ]
  ) {
    assertRpcError(await rpc(null, operation), 400, "Missing authorization header");
    assertRpcError(
      await rpc(stack.anonKey, operation),
      401,
      "Invalid token, API key, or missing tenant_id",
    );
    const { status } = await rpc(stack.serviceRoleKey, operation);
    assert.equal(status, 400, operation);
  }
});

function assertTooSlow(answer: Answer): void {
  assertRpcError(answer, 408, "The search took too long");
  assert.match(answer.body.hint as string, /^Narrow it/);
}

Deno.test("a search that takes too long gets the advice to narrow it", async () => {
  const tenant = await newTenant();
  const msg = "abc".repeat(150_000);
  for (let n = 0; n < 200; n++) {
    const { status } = await ingest(tenant.headers, { msg });
    assert.equal(status, 200);
  }
  await using db = openDatabase();
  await eventually("all are written", async () => (await countRecords(db, tenant.id)) === 200);
  const slow = Array.from({ length: 60 }, (_, n) => `msg:~"(a?b?c?)*d${n}$"`).join(" OR ");
  const started = performance.now();
  assertTooSlow(await rpc(tenant.token, "search_logs", { p_query_dsl: slow }));
  const seconds = (performance.now() - started) / 1000;
  assert.ok(seconds > 14, `${seconds} s`);
});

Deno.test("a search that waits too long for a lock gets the same advice", async () => {
  const tenant = await newTenant();
  const ts = ago(333 * 24 * 60 * minute);
  await using db = openDatabase();
  await keepRecords(db, tenant.id, 400);
  await ingest(tenant.headers, { ts });
  await recordsOf(db, tenant.id, 1);
  const partition = `logs_${ts.slice(0, 10).replaceAll("-", "_")}`;
  await db.begin(async (transaction) => {
    await transaction`lock table ${transaction(`logloom.${partition}`)} in access exclusive mode`;
    assertTooSlow(await rpc(tenant.token, "search_logs", { p_ts_from: ts }));
  });
});
