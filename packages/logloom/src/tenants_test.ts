import assert from "node:assert/strict";
import type { Rejected } from "./delivery_queue.ts";
import { createLoggers, type LoggersOptions } from "./tenants.ts";
import { type Event, receiver, withoutWaiting } from "./testing.ts";

type Told = Partial<{ status: number; error: string; retry_after: number }>;
type TenantEvent = Event & { tenant_id: string };

/** The service's answer if it reports this for some tenants and accepts the events of the others. */
function told(events: readonly Event[], of: Record<string, Told> = {}): Response {
  const ids = [...new Set((events as TenantEvent[]).map(({ tenant_id }) => tenant_id))];
  return Response.json({
    success: true,
    ingested: events.length,
    rejected: 0,
    tenants: ids.map((tenant_id) => ({ tenant_id, status: 200, ...of[tenant_id] })),
  });
}

function trial(url: string, options: Partial<LoggersOptions> = {}) {
  const failures: string[] = [];
  const logs = createLoggers({
    url,
    key: "sb_secret_1",
    service: "api",
    onError: ({ message }) => failures.push(message),
    ...options,
  });
  return { logs, failures, [Symbol.asyncDispose]: () => logs[Symbol.asyncDispose]() };
}

const sent = (requests: readonly { body: string }[]) =>
  requests.map(({ body }) =>
    (JSON.parse(body) as TenantEvent[]).map(({ tenant_id, msg }) => `${tenant_id}: ${msg}`)
  );

/** Checks every 5 ms until the condition holds. */
async function until(holds: () => boolean): Promise<void> {
  const { setTimeout: timeout } = globalThis;
  while (!holds()) await new Promise((resolve) => timeout(resolve, 5));
}

Deno.test("events of all tenants share requests, each with its tenant", async () => {
  await using to = receiver((_before, events) => told(events));
  await using from = trial(to.url);
  from.logs.forTenant("acme").info("a", { tenant_id: "globex", n: 1 });
  from.logs.forTenant("globex").with({ req_id: "r-1" }).warn("b");
  from.logs.forTenant("acme").error("c");
  assert.equal(await from.logs.flush(), true);
  const [{ key }, ...more] = to.requests;
  assert.deepEqual([key, more], ["sb_secret_1", []]);
  assert.deepEqual(
    (to.events() as TenantEvent[]).map(({ tenant_id, service, level, msg, req_id, attrs }) => [
      tenant_id,
      service,
      level,
      msg,
      req_id,
      attrs,
    ]),
    [
      ["acme", "api", "info", "a", undefined, { tenant_id: "globex", n: 1 }],
      ["globex", "api", "warn", "b", "r-1", {}],
      ["acme", "api", "error", "c", undefined, {}],
    ],
  );
});

Deno.test("transform does not change an event's tenant", async () => {
  await using to = receiver((_before, events) => told(events));
  await using from = trial(to.url, { transform: (event) => ({ ...event, tenant_id: "globex" }) });
  from.logs.forTenant("acme").info("a");
  await from.logs.flush();
  assert.deepEqual(sent(to.requests), [["acme: a"]]);
});

Deno.test("a request has events of at most 100 tenants", async () => {
  await using to = receiver((_before, events) => told(events));
  await using from = trial(to.url);
  for (let n = 0; n < 250; n++) from.logs.forTenant(`t${n}`).info("a");
  for (let n = 0; n < 250; n++) from.logs.forTenant(`t${n % 3}`).info("b");
  await from.logs.flush();
  assert.deepEqual(sent(to.requests).map((one) => one.length), [100, 100, 50 + 250]);
});

Deno.test("only the events of a tenant over its limit wait, and they are sent when the limit allows", async () => {
  const over = { status: 429, error: "Rate limit reached", retry_after: 2 };
  await using to = receiver((before, events) => told(events, before === 0 ? { acme: over } : {}));
  await using from = trial(to.url);
  from.logs.forTenant("acme").info("a");
  from.logs.forTenant("globex").info("b");
  const began = performance.now();
  assert.equal(await from.logs.flush(), false);
  from.logs.forTenant("acme").info("c");
  from.logs.forTenant("globex").info("d");
  assert.equal(await from.logs.flush(), false);
  // The logger's own timers do not keep a program alive.
  const alive = setInterval(() => {}, 1000);
  await until(() => to.requests.length === 3);
  clearInterval(alive);
  assert.ok(to.requests[2].at - began > 1900, `${to.requests[2].at - began}`);
  assert.equal(await from.logs.flush(), true);
  assert.deepEqual(sent(to.requests), [["acme: a", "globex: b"], ["globex: d"], [
    "acme: a",
    "acme: c",
  ]]);
  assert.deepEqual(from.failures, []);
});

Deno.test("if all tenants of a request are over their limits, no other tenant waits for them", async () => {
  await using to = receiver((before, events) =>
    before === 0
      ? Response.json({ error: "Rate limit reached" }, {
        status: 429,
        headers: { "Retry-After": "1" },
      })
      : told(events)
  );
  await using from = trial(to.url);
  from.logs.forTenant("acme").info("a");
  assert.equal(await from.logs.flush(), false);
  from.logs.forTenant("globex").info("b");
  assert.equal(await from.logs.flush(), false);
  const alive = setInterval(() => {}, 1000);
  await until(() => to.requests.length === 3);
  clearInterval(alive);
  assert.deepEqual(sent(to.requests), [["acme: a"], ["globex: b"], ["acme: a"]]);
});

Deno.test("after five minutes a tenant's events are lost, and their number is reported", async () => {
  using time = withoutWaiting();
  const over = { status: 429, error: "Monthly event limit reached", retry_after: 1_000_000 };
  await using to = receiver((_before, events) => told(events, { acme: over }));
  await using from = trial(to.url);
  from.logs.forTenant("acme").info("a");
  from.logs.forTenant("acme").info("b");
  await from.logs.flush();
  const alive = setInterval(() => {}, 1000);
  await until(() => from.failures.length > 0);
  clearInterval(alive);
  assert.ok(time.waits.includes(300_000), `${time.waits}`);
  assert.equal(to.requests.length, 2);
  assert.deepEqual(from.failures, [
    "tenant acme: 429 Monthly event limit reached: 2 events are lost",
  ]);
  assert.equal(await from.logs.flush(), true);
});

Deno.test("a request that may be stored already is sent again unchanged, with the same key", async () => {
  using _time = withoutWaiting();
  const away = { status: 503, error: "try again", retry_after: 1 };
  const over = { status: 429, error: "Rate limit reached", retry_after: 1 };
  await using to = receiver((before, events) =>
    told(events, before === 0 ? { acme: away, globex: over } : {})
  );
  await using from = trial(to.url);
  from.logs.forTenant("acme").info("a");
  from.logs.forTenant("globex").info("b");
  assert.equal(await from.logs.flush(), true);
  assert.deepEqual(sent(to.requests), [["acme: a", "globex: b"], ["acme: a", "globex: b"]]);
  assert.equal(to.requests[0].idempotencyKey, to.requests[1].idempotencyKey);
  assert.deepEqual(from.failures, ["503 try again: trying again"]);
});

Deno.test("only the events of a tenant that does not exist are lost, and the application is told", async () => {
  const gone = { status: 404, error: "There is no tenant gone" };
  await using to = receiver((_before, events) => told(events, { gone }));
  await using from = trial(to.url);
  from.logs.forTenant("gone").info("a");
  from.logs.forTenant("acme").info("b");
  assert.equal(await from.logs.flush(), true);
  assert.deepEqual(from.failures, ["tenant gone: 404 There is no tenant gone: 1 events are lost"]);
});

Deno.test("events dropped from a full queue are reported to the application", async () => {
  const code = "tenant_is_missing";
  await using to = receiver((_before, events) =>
    Response.json({
      success: true,
      errors: events.flatMap((event, index) =>
        event.tenant_id === undefined ? { index, code, message: "Say whose event it is" } : []
      ),
      tenants: [],
    })
  );
  const rejected: Rejected[] = [];
  await using from = trial(to.url, { onRejected: (one) => rejected.push(one) });
  for (let n = 0; n < 51_000; n++) from.logs.forTenant("acme").info("a");
  await from.logs.flush();
  assert.match(from.failures.join(), /^logloom: 500 events were dropped$/);
  assert.deepEqual(rejected, []);
});

Deno.test("the number of waiting events is limited, and events beyond the limit are counted", async () => {
  const time = withoutWaiting();
  const over = { status: 429, error: "Rate limit reached", retry_after: 1 };
  let isOver = true;
  await using to = receiver((_before, events) => told(events, isOver ? { acme: over } : {}));
  await using from = trial(to.url);
  const log = from.logs.forTenant("acme");
  globalThis.setTimeout = (() => 1) as unknown as typeof setTimeout;
  log.info("first");
  await from.logs.flush();
  for (let n = 0; n < 12_000; n++) log.info("more");
  assert.equal(to.requests.length, 1);
  // The remaining events are sent in real time.
  time[Symbol.dispose]();
  isOver = false;
  from.logs.forTenant("globex").info("b");
  await from.logs[Symbol.asyncDispose]();
  assert.deepEqual(from.failures, [
    "tenant acme: 429 over its limit at the end: 12001 events are lost",
  ]);
});
