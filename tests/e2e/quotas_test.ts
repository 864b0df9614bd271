import assert from "node:assert/strict";
import { apiKey, assertAnswer, call, createKey, ingest, newTenant } from "../support/client.ts";
import { changeSettings, countRecords, openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { putOnPlan, usageOf } from "../support/plans.ts";

const events = (count: number) => Array.from({ length: count }, (_, n) => ({ msg: `event ${n}` }));

function monthEnd(): number {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1000;
}

Deno.test("every accepted request has headers with the limit, the rest and the reset time", async () => {
  const tenant = await newTenant();
  const { headers, body } = await ingest(tenant.headers, events(3));
  assert.deepEqual(body, { success: true, ingested: 3, rejected: 0 });
  assert.equal(headers.get("x-ratelimit-limit"), "1000000");
  assert.equal(headers.get("x-ratelimit-remaining"), "999997");
  assert.equal(headers.get("x-ratelimit-reset"), String(monthEnd()));
  assert.equal(headers.get("x-logloom-writer"), null);
});

Deno.test("every refused request of a known tenant has the same headers", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  await putOnPlan(db, tenant, { monthly_events_limit: 10 });
  const { key_value } = await createKey(tenant);
  const idempotent = { "Idempotency-Key": "once" };
  assert.equal((await ingest({ ...tenant.headers, ...idempotent }, events(2))).status, 200);
  await using _settings = await changeSettings(db, { queue_hard_limit_bytes: 0 });
  for (const caller of [tenant.headers, apiKey(key_value)]) {
    const answers = [
      [400, await ingest(caller, "{")],
      [409, await ingest({ ...caller, ...idempotent }, events(3))],
      [413, await ingest(caller, "x".repeat(512_001))],
      [503, await ingest(caller, events(1))],
    ] as const;
    for (const [status, { status: actual, headers }] of answers) {
      assert.deepEqual(
        [actual, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")],
        [status, "10", "8"],
      );
      assert.equal(headers.get("x-ratelimit-reset"), String(monthEnd()));
    }
  }
});

Deno.test("when the month's events are used up ingest answers 429 until the month's end", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  await putOnPlan(db, tenant, { monthly_events_limit: 10 });
  const { key_value } = await createKey(tenant);

  assert.equal((await ingest(tenant.headers, events(9))).headers.get("x-ratelimit-remaining"), "1");
  assert.equal((await ingest(tenant.headers, events(9))).headers.get("x-ratelimit-remaining"), "0");
  for (const headers of [tenant.headers, apiKey(key_value)]) {
    const left = () => monthEnd() - Date.now() / 1000;
    const before = left();
    const answer = await ingest(headers, events(1));
    assertAnswer(answer, 429, { error: "Monthly event limit reached: 10 events" });
    const after = Number(answer.headers.get("retry-after"));
    assert.ok(after <= before + 2 && after >= left() - 2, `${before} ${after} ${left()}`);
    assert.equal(answer.headers.get("x-ratelimit-limit"), "10");
    assert.equal(answer.headers.get("x-ratelimit-remaining"), "0");
    assert.equal(answer.headers.get("x-ratelimit-reset"), String(monthEnd()));
  }
  await queueIsEmpty(db);
  assert.equal(await countRecords(db, tenant.id), 18);
  assertAnswer(await ingest(tenant.headers, events(1)), 429, {
    error: "Monthly event limit reached: 10 events",
  });
});

Deno.test("64 concurrent requests exceed the limit at most by the requests under way", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  const limit = 5000;
  const each = 20;
  const atOnce = 64;
  await putOnPlan(db, tenant, { monthly_events_limit: limit });
  const body = JSON.stringify(events(each));
  let acknowledged = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (;;) {
      const { status } = await ingest(tenant.headers, body);
      if (status === 429) return;
      assert.equal(status, 200);
      acknowledged += each;
    }
  }));
  assert.ok(acknowledged >= limit, `${acknowledged} events`);
  assert.ok(acknowledged <= limit + atOnce * each, `${acknowledged} events`);
  assert.equal((await usageOf(db, tenant)).events, acknowledged);
});

Deno.test("with a rate a tenant may send a burst, and then as fast as the rate", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  const rate = 10;
  const burst = 20;
  await putOnPlan(db, tenant, { requests_per_second: rate, requests_burst: burst });
  const statuses: number[] = [];
  const began = performance.now();
  const passed = () => (performance.now() - began) / 1000;
  const letIn = () => statuses.filter((status) => status === 200).length;
  // On a slow disk it takes more than 3 seconds to send more than the burst.
  while (passed() < 3 || letIn() < burst + rate) {
    assert.ok(passed() < 300, `${letIn()} in five minutes`);
    const { status, headers, body } = await ingest(tenant.headers, events(1));
    statuses.push(status);
    if (status === 200) continue;
    assert.equal(status, 429);
    assert.deepEqual(body, { error: "Rate limit reached: 10 requests per second" });
    assert.match(headers.get("retry-after") ?? "", /^[12]$/);
    assert.equal(headers.get("x-ratelimit-limit"), "10");
  }
  const seconds = passed();
  const accepted = letIn();
  assert.ok(statuses.slice(0, burst).every((status) => status === 200), `${statuses}`);
  assert.ok(accepted <= burst + rate * seconds + 1, `${accepted} in ${seconds} s`);
  await eventually("it is let in again", async () => {
    return (await ingest(tenant.headers, events(1))).status === 200;
  });
});

Deno.test("a request of several slices that is larger than the burst is accepted whole", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  // The debt takes minutes, so on any machine the next request comes before it is paid.
  await putOnPlan(db, tenant, {
    events_per_second: 5,
    events_burst: 2000,
    requests_per_second: 1,
    requests_burst: 2,
  });
  const count = 4000;
  const body = Array.from({ length: count }, (_, n) => `line ${n} ${"x".repeat(300)}`).join("\n");
  const send = () =>
    call("/functions/v1/ingest/lines", {
      method: "POST",
      headers: { ...tenant.headers, "content-type": "text/plain" },
      body,
    });
  assertAnswer(await send(), 200, { success: true, ingested: count, rejected: 0 });
  assertAnswer(await send(), 429, { error: "Rate limit reached: 5 events per second" });
  assert.equal((await usageOf(db, tenant)).events, count);
});

Deno.test("while the queue or storage is full, ingest answers 503, and accepts events again afterwards", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  for (
    const [settings, error, retryAfter] of [
      [{ queue_hard_limit_bytes: 0 }, "The queue is full, try again", "5"],
      [
        { max_storage_bytes: 1, storage_policy: "refuse", queue_hard_limit_bytes: 1 << 30 },
        "Storage is full, try again later",
        "60",
      ],
    ] as const
  ) {
    await using _settings = await changeSettings(db, settings);
    const answer = await ingest(tenant.headers, events(1));
    assertAnswer(answer, 503, { error });
    assert.equal(answer.headers.get("retry-after"), retryAfter);
  }
  assertAnswer(await ingest(tenant.headers, events(1)), 200, {
    success: true,
    ingested: 1,
    rejected: 0,
  });
});
