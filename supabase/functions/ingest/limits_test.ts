import assert from "node:assert/strict";
import type { CallDatabase } from "../_shared/database.ts";
import { success, unavailable } from "../_shared/errors.ts";
import { createWriterWatchdog } from "./writer_watchdog.ts";
import { createRateLimitCache } from "./rate_limit_cache.ts";
import { receive } from "./testing_protocols.ts";
import { apiKey, startDatabase, startIngest, token } from "./testing.ts";

const withKey = { "X-API-Key": apiKey };
const withToken = { Authorization: `Bearer ${token}` };
const accepted = '{"success":true,"ingested":1,"rejected":0}';

async function post(url: string, headers: Record<string, string>, body = "[{}]") {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body,
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const hold = JSON.stringify({
  seconds: 2.5,
  retry_after: 3,
  limit: 5,
  error: "Rate limit reached",
});

function refusal(headers: Record<string, string>): Response {
  return Response.json({ code: "PT429", message: "Rate limit reached" }, { status: 429, headers });
}

Deno.test("the client gets the database's headers about limits, and no others", async () => {
  const limits = {
    "X-RateLimit-Limit": "100",
    "X-RateLimit-Remaining": "40",
    "X-RateLimit-Reset": "1796083200",
  };
  for (const status of [200, 429]) {
    await using peer = startDatabase(() =>
      status === 200
        ? new Response(accepted, { headers: { ...limits, "X-Logloom-Writer": "silent" } })
        : refusal({ ...limits, "Retry-After": "7", "X-Logloom-Writer": "silent" })
    );
    await using ingest = startIngest(peer.url);
    const answer = await post(ingest.url, withKey);
    assert.equal(answer.status, status);
    for (const [name, value] of Object.entries(limits)) {
      assert.equal(answer.headers.get(name), value);
      assert.match(
        answer.headers.get("Access-Control-Expose-Headers") ?? "",
        new RegExp(name, "i"),
      );
    }
    assert.equal(answer.headers.get("Retry-After"), status === 429 ? "7" : null);
    assert.equal(answer.headers.get("X-Logloom-Writer"), null);
  }
});

Deno.test("the answer to a faulty request has the limits too", async () => {
  await using peer = startDatabase(() =>
    new Response('{"authenticated" : true}', {
      headers: { "X-RateLimit-Limit": "100", "X-Logloom-Writer": "silent" },
    })
  );
  let woken = 0;
  await using ingest = startIngest(peer.url, () => void woken++);
  const requests: [number, Record<string, string>, string][] = [
    [400, {}, "{"],
    [400, { "Content-Encoding": "gzip" }, "\0no gzip"],
    [413, {}, "x".repeat(512_001)],
  ];
  for (const caller of [withKey, withToken]) {
    for (const [status, headers, body] of requests) {
      const answer = await post(ingest.url, { ...caller, ...headers }, body);
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("X-RateLimit-Limit"), "100");
      assert.equal(answer.headers.get("X-Logloom-Writer"), null);
    }
  }
  assert.equal(woken, 6);
  const stranger = await post(ingest.url, { "X-API-Key": "ll_wrong" }, requests[2][2]);
  assert.deepEqual([stranger.status, stranger.headers.get("X-RateLimit-Limit")], [413, null]);
  assert.equal(peer.requests.length, 6);
});

Deno.test("a rate limit refusal is repeated to the same caller without asking the database", async () => {
  await using peer = startDatabase(({ body }) =>
    JSON.parse(body).p_tenant_id === undefined
      ? refusal({ "Retry-After": "3", "X-Logloom-Hold": hold, "X-RateLimit-Limit": "5" })
      : new Response(accepted)
  );
  await using ingest = startIngest(peer.url);
  for (const body of ["[{}]", "not JSON", "x".repeat(600_000), "[{}]"]) {
    const answer = await post(ingest.url, withKey, body);
    assert.deepEqual([answer.status, answer.body], [429, { error: "Rate limit reached" }]);
    assert.match(answer.headers.get("Retry-After") ?? "", /^[123]$/);
    assert.equal(answer.headers.get("X-RateLimit-Limit"), "5");
  }
  assert.equal(peer.requests.length, 1);

  assert.equal((await post(ingest.url, withToken)).status, 200);
  const other = await post(ingest.url, { "X-API-Key": "ll_nobody" });
  assert.equal(other.status, 401);
});

Deno.test("after a request that used up the rate, the next one is refused without asking the database", async () => {
  await using peer = startDatabase(() =>
    new Response(accepted, { headers: { "X-Logloom-Hold": hold, "X-RateLimit-Limit": "1000" } })
  );
  await using ingest = startIngest(peer.url);
  assert.equal((await post(ingest.url, withKey)).headers.get("X-RateLimit-Limit"), "1000");
  const answer = await post(ingest.url, withKey);
  assert.deepEqual([answer.status, answer.body], [429, { error: "Rate limit reached" }]);
  assert.equal(answer.headers.get("X-RateLimit-Limit"), "5");
  assert.equal(answer.headers.get("X-RateLimit-Remaining"), "0");
  assert.equal(peer.requests.length, 1);
});

Deno.test("each slice has its number, because the first one decides for all", async () => {
  const lines = Array.from({ length: 4000 }, (_, n) => `line ${n} ${"x".repeat(300)}`);
  const { status, calls } = await receive("/lines", { body: lines.join("\n") });
  assert.equal(status, 200);
  assert.deepEqual(
    calls.map(({ p_slice, p_idempotency_key }) => [p_slice, p_idempotency_key]),
    [[0, undefined], [1, undefined], [2, undefined]],
  );
  const [small] = (await receive("/lines", { body: "one line" })).calls;
  assert.equal(small.p_slice, undefined);
});

Deno.test("other refusals are not remembered: the database is asked each time", async () => {
  await using peer = startDatabase(() => refusal({ "Retry-After": "900" }));
  await using ingest = startIngest(peer.url);
  await post(ingest.url, withKey);
  await post(ingest.url, withKey);
  assert.equal(peer.requests.length, 2);
});

Deno.test("a remembered refusal ends in time, and the oldest of too many is forgotten", () => {
  let now = 0;
  const holds = createRateLimitCache(() => now);
  const tenant = (n: number) => ({ kind: "tenant", tenantId: `t${n}` }) as const;
  const notes = {
    "x-logloom-hold": '{"seconds": 3, "retry_after": 9, "limit": 5, "error": "wait"}',
  };
  holds.remember(tenant(0), notes);
  now = 2_999;
  assert.equal(holds.find(tenant(0))?.retryAfter, "7");
  assert.equal(holds.find({ kind: "api_key", keyDigest: "t0" }), undefined);
  now = 3_000;
  assert.equal(holds.find(tenant(0)), undefined);
  assert.ok(holds.isEmpty());

  for (let n = 0; n <= 1000; n++) holds.remember(tenant(n), notes);
  assert.equal(holds.find(tenant(0)), undefined);
  assert.ok(holds.find(tenant(1)));
  assert.ok(holds.find(tenant(1000)));
  now = 6_000;
  assert.ok(holds.isEmpty());
});

Deno.test("the watchdog runs the writer until it is done: one run at a time, and one more if requested", async () => {
  const answers = ["false", "false", "true", "false", "true"];
  let calls = 0;
  let atOnce = 0;
  const done = Promise.withResolvers<void>();
  const callDatabase: CallDatabase = async (name) => {
    assert.equal(name, "run_writer");
    assert.equal(++atOnce, 1);
    await Promise.resolve();
    atOnce -= 1;
    const answer = answers[calls++];
    if (calls === 1) wake();
    if (calls === answers.length) done.resolve();
    return success(`{"moved": 1, "done": ${answer}}`);
  };
  const wake = createWriterWatchdog(callDatabase, () => Promise.resolve());
  wake();
  wake();
  await done.promise;
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(calls, 5);
});

Deno.test("the watchdog gives up while the database is unreachable, and tries again on request", async () => {
  let calls = 0;
  const wake = createWriterWatchdog(() => {
    calls += 1;
    return Promise.resolve(unavailable("away"));
  }, () => Promise.resolve());
  wake();
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(calls, 1);
  wake();
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(calls, 2);
});

Deno.test("every answer of the database can wake a silent writer", async () => {
  for (const status of [200, 429, 503]) {
    let woken = 0;
    await using peer = startDatabase(() =>
      status === 200
        ? new Response(accepted, { headers: { "X-Logloom-Writer": "silent" } })
        : Response.json({ code: `PT${status}`, message: "no" }, {
          status,
          headers: { "X-Logloom-Writer": "silent" },
        })
    );
    await using ingest = startIngest(peer.url, () => woken += 1);
    await post(ingest.url, withKey);
    assert.equal(woken, 1);
  }
});
