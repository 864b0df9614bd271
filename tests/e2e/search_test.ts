import assert from "node:assert/strict";
import type { LogPage, LogRecord, LogTail } from "../../packages/logloom/src/read.ts";
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

function messages(logs: LogRecord[]): (string | null)[] {
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
      const page = await read<LogPage>(tenant.token, "search_logs", {
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
  const page = await read<LogPage>(stranger.token, "search_logs", {
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
    const page: LogPage = await read(tenant.token, "search_logs", {
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
  const start = await read<LogTail>(tenant.token, "tail_logs", {});
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
    const tail = await read<LogTail>(tenant.token, "tail_logs", { p_cursor: cursor, p_limit: 7 });
    seen.push(...messages(tail.logs));
    assert.equal(tail.logs.length <= 7, true);
    cursor = tail.next_cursor;
    return done && seen.length >= sent.length && !tail.more;
  }, { every: 5 });
  await senders;
  assert.deepEqual(seen.toSorted(), sent.toSorted());
  assert.deepEqual((await read<LogTail>(tenant.token, "tail_logs", { p_cursor: cursor })).logs, []);
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
