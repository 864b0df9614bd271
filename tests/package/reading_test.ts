import assert from "node:assert/strict";
import { createReader, LogloomError, type LogRecord } from "../../packages/logloom/src/read.ts";
import {
  clientOf,
  createKey,
  ingest,
  newTenant,
  supabase,
  type Tenant,
} from "../support/client.ts";
import { openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { proxy } from "./programs.ts";

async function send(tenant: Tenant, events: unknown[]): Promise<void> {
  const { status } = await ingest(tenant.headers, events);
  assert.equal(status, 200);
}

async function filled(events: unknown[]): Promise<Tenant> {
  const tenant = await newTenant("reading");
  await send(tenant, events);
  await using sql = openDatabase();
  await queueIsEmpty(sql);
  return tenant;
}

const reader = (tenant: Tenant, url = stack.url) => createReader({ url, token: tenant.token });

const carts = [
  { ts: "2026-11-23T10:00:00Z", level: "info", service: "api", msg: "cart saved", ms: 3 },
  { ts: "2026-11-23T10:00:30Z", level: "error", service: "api", msg: "cart lost", ms: 5 },
  { ts: "2026-11-23T10:01:30Z", level: "error", service: "web", msg: "page lost" },
];

/** Moves the times of the events above into the last days. */
function recent(): { events: typeof carts; since: Date; until: Date } {
  const start = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000;
  const shift = start - Date.parse(carts[0].ts);
  return {
    events: carts.map((one) => ({
      ...one,
      ts: new Date(Date.parse(one.ts) + shift).toISOString(),
    })),
    since: new Date(start),
    until: new Date(start + 120_000),
  };
}

Deno.test("every way of reading logs answers as its type says", async () => {
  const { events, ...range } = recent();
  const tenant = await filled(events);
  const logs = reader(tenant);

  const page = await logs.search("level:error", { ...range, limit: 1 });
  assert.deepEqual(page.logs.map(({ msg }) => msg), ["page lost"]);
  assert.deepEqual(page.warnings, []);
  assert.ok(page.next_cursor);
  const next = await logs.search("level:error", { ...range, cursor: page.next_cursor });
  assert.deepEqual([next.logs.map(({ msg }) => msg), next.next_cursor], [["cart lost"], null]);

  const texts: (string | null)[] = [];
  for await (const { msg } of logs.records("", { ...range, order: "asc" })) texts.push(msg);
  assert.deepEqual(texts, ["cart saved", "cart lost", "page lost"]);

  const [{ id, ts }] = next.logs;
  const record: LogRecord = await logs.get(id, { ts });
  assert.deepEqual(record, next.logs[0]);
  const around = await logs.context(id, { ts, before: 5, after: 0 });
  assert.deepEqual(around.map(({ msg }) => msg), ["cart saved", "cart lost"]);

  const rows = await logs.stats("| count() as n, max(@ms) as worst by service", range);
  assert.deepEqual(rows.map(({ group, values }) => [group.service, values]), [
    ["api", { n: 2, worst: 5 }],
    ["web", { n: 1, worst: null }],
  ]);
  const series = await logs.series("| count() by level", { ...range, buckets: 2 });
  assert.equal(series.interval_seconds, 60);
  assert.deepEqual(
    series.series.map(({ group, points }) => [group?.level, points.map(([, n]) => n)]),
    [["error", [1, 1]], ["info", [1, 0]]],
  );
  const histogram = await logs.histogram("", { ...range, buckets: 2 });
  assert.deepEqual(
    histogram.buckets.map(({ count, levels }) => [count, levels.error, levels.none]),
    [[2, 1, 0], [1, 1, 0]],
  );
  const fields = await logs.fields("", range);
  assert.deepEqual(fields.find(({ field }) => field === "attrs.ms"), {
    field: "attrs.ms",
    type: "number",
    count: 2,
    exact: true,
    records: 3,
    values: [{ value: "3", count: 1 }, { value: "5", count: 1 }],
  });
  assert.equal((await logs.validate("level:loud")).valid, false);
});

Deno.test("a supabase-js client reads as its user, and a range can be a text such as 15m", async () => {
  const tenant = await filled([{ msg: "a" }, { msg: "b" }]);
  const logs = createReader(supabase(tenant.token));
  assert.equal((await logs.search("", { since: "15m" })).logs.length, 2);
  assert.equal((await logs.search("", { since: "now-2d", until: "1d" })).logs.length, 0);
});

Deno.test("a key with the scope read searches, pages and tails, and does nothing else", async () => {
  const tenant = await filled([{ msg: "a", level: "error" }, { msg: "b" }]);
  const { key_value: key } = await createKey(tenant, { p_scopes: ["read"] });
  const logs = createReader({ url: stack.url, key });
  const found: string[] = [];
  for await (const { msg } of logs.records("", { order: "asc" })) found.push(String(msg));
  assert.deepEqual(found.sort(), ["a", "b"]);
  assert.equal((await logs.stats("level:error"))[0].value, 1);
  assert.equal((await logs.fields()).some(({ field }) => field === "level"), true);
  await send(tenant, [{ msg: "c" }]);
  for await (const { msg } of logs.tail("msg:c", { backlog: 1 })) {
    assert.equal(msg, "c");
    break;
  }
  const error = await logs.call("list_api_keys", {}).catch((error: unknown) => error);
  assert.ok(error instanceof LogloomError);
  assert.deepEqual([error.status, error.message], [
    404,
    "No such reading operation: list_api_keys",
  ]);
});

Deno.test("an error has its code, status, place in the query and hint", async () => {
  const logs = reader(await newTenant("reading"));
  const error = await logs.search("service:api level:loud").catch((error: unknown) => error);
  assert.ok(error instanceof LogloomError);
  const { code, status, position, message, hint } = error;
  assert.deepEqual({ code, status, position, message }, {
    code: "PT400",
    status: 400,
    position: 19,
    message: 'Unknown level "loud"',
  });
  assert.match(hint ?? "", /^A level is debug, info, warn or error/);
  const refused = await createReader({ url: stack.url, token: "no token" }).search("")
    .catch((error: unknown) => error);
  assert.ok(refused instanceof LogloomError);
  assert.equal(refused.status, 401);
});

Deno.test("a call to an unreachable service is retried for as long as wanted", async () => {
  const asked: number[] = [];
  const logs = createReader({ url: "http://127.0.0.1:9", token: "t" }, {
    patienceMs: 5000,
    onRetry: ({ status }) => asked.push(status),
  });
  const error = await logs.search("").catch((error: unknown) => error);
  assert.ok(error instanceof LogloomError);
  assert.deepEqual([error.status, error.message], [0, "The service cannot be reached."]);
  assert.ok(asked.length >= 1 && asked.length <= 4, `${asked}`);
});

Deno.test("a call that changes something is made once, even if its answer is lost", async () => {
  const { token } = await newTenant("reading");
  await using between = await proxy(() => true);
  const logs = createReader({ url: between.url, token });
  const search = { p_name: "n", p_query_dsl: "level:error" };
  const error = await logs.call("create_saved_search", search).catch((error: unknown) => error);
  assert.ok(error instanceof LogloomError);
  assert.deepEqual([error.status, error.isAway, between.requests.length], [502, true, 1]);
  assert.equal(await clientOf(token).call("get_saved_search_count", {}), 1);
});

Deno.test("a refused token is replaced by a new one, once", async () => {
  const { token } = await newTenant("reading");
  let [current, refusals] = ["old", 0];
  const session = { url: stack.url, token: () => current };
  const renewed = createReader({
    ...session,
    refused() {
      refusals += 1;
      current = token;
      return true;
    },
  });
  assert.deepEqual(await renewed.call("list_api_keys", {}), []);
  current = "old";
  const ended = createReader({ ...session, refused: () => (refusals += 1) < 0 });
  const error = await ended.call("list_api_keys", {}).catch((error: unknown) => error);
  assert.ok(error instanceof LogloomError);
  assert.deepEqual([error.status, refusals], [401, 2]);
});

Deno.test("all of a long answer is read, page after page, and reading can be stopped", async () => {
  const tenant = await filled(Array.from({ length: 2203 }, (_, n) => ({ msg: "event", n })));
  await using between = await proxy();
  const logs = reader(tenant, between.url);
  const seen = new Set<unknown>();
  for await (const { attrs } of logs.records("")) seen.add(attrs?.n);
  assert.equal(seen.size, 2203);
  assert.equal(between.requests.length, 3);

  // After the loop ends early, no further page is read.
  for await (const _record of logs.records("")) break;
  assert.equal(between.requests.length, 4);

  const stop = new AbortController();
  const reading = logs.records("", { signal: stop.signal });
  await reading.next();
  stop.abort(new Error("enough"));
  await assert.rejects(Array.fromAsync(reading), { message: "enough" });
});

Deno.test("a list is read to its end", async () => {
  const tenant = await newTenant("reading");
  const client = clientOf(tenant.token);
  for (const name of ["a", "b", "c"]) {
    await client.call("create_saved_search", { p_name: name, p_query_dsl: "level:error" });
  }
  const logs = reader(tenant);
  const names = await Array.fromAsync(
    logs.list("list_saved_searches", { p_limit: 2 }),
    ({ name }) => name,
  );
  assert.deepEqual(names, ["c", "b", "a"]);
  assert.equal(await logs.call("get_saved_search_count", {}), 3);
});

Deno.test("a tail reconnects, loses nothing and doubles nothing", async () => {
  const tenant = await newTenant("tailing");
  // Two of three answers are lost.
  await using between = await proxy((before) => before % 3 !== 0);
  const logs = reader(tenant, between.url);
  const stop = new AbortController();
  const seen: unknown[] = [];
  const total = 60;
  const tailing = (async () => {
    for await (const { attrs } of logs.tail("service:tail", { signal: stop.signal, backlog: 10 })) {
      seen.push(attrs?.n);
      if (seen.length === total) break;
    }
  })();
  // The tail begins with the last ten records, so no more may exist before its first answer.
  await eventually("the tail has begun", () => Promise.resolve(between.requests.length > 1));
  for (let n = 0; n < total; n += 10) {
    await send(
      tenant,
      Array.from({ length: 10 }, (_, add) => ({ service: "tail", msg: "event", n: n + add })),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await tailing;
  assert.deepEqual(seen.toSorted((a, b) => Number(a) - Number(b)), [...Array(total).keys()]);

  const ended = Array.fromAsync(logs.tail("service:tail", { signal: stop.signal }));
  stop.abort(new Error("enough"));
  await assert.rejects(ended, { message: "enough" });
});
