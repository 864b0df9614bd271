import assert from "node:assert/strict";
import { closedUrl } from "../../../supabase/functions/_shared/testing.ts";
import type { Rejected } from "./index.ts";
import { accepted, receiver, trial, withoutWaiting } from "./testing.ts";

const busy = (retryAfter: string) =>
  Response.json({ error: "The queue is full" }, {
    status: 503,
    headers: { "Retry-After": retryAfter },
  });

Deno.test("fifty events are one request, in the form that the service expects", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  for (let n = 0; n < 50; n++) from.log.info(`event ${n}`, { n, user_id: "u-1" });
  assert.equal(await from.log.flush(), true);
  const [{ key, idempotencyKey }, ...others] = to.requests;
  assert.deepEqual(others, []);
  assert.equal(key, "ll_key");
  assert.match(idempotencyKey ?? "", /^[\d.e-]{7,50}$/);
  const [{ ts, ...first }] = to.events();
  assert.ok(Math.abs(Date.parse(`${ts}`) - Date.now()) < 60_000, `${ts}`);
  assert.deepEqual(first, {
    service: "api",
    env: "test",
    level: "info",
    msg: "event 0",
    user_id: "u-1",
    attrs: { n: 0 },
  });
  assert.deepEqual(to.events().map(({ attrs }) => attrs.n), [...Array(50).keys()]);
});

Deno.test("events are sent by themselves after five seconds, or after two in a terminal", async () => {
  const arrived = Promise.withResolvers<void>();
  await using to = receiver((_before, events) => {
    arrived.resolve();
    return accepted(events.length);
  });
  await using from = trial(to.url);
  using clock = withoutWaiting();
  from.log.info("a");
  from.log.info("b");
  await arrived.promise;
  assert.equal(clock.waits[0], Deno.stdout.isTerminal() ? 2000 : 5000);
  assert.equal(to.events().length, 2);
});

Deno.test("batches have at most 500 events and 256 KB, one at a time and in order", async () => {
  let open = 0;
  let most = 0;
  await using to = receiver(async (_before, events) => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 20));
    open--;
    return accepted(events.length);
  });
  await using from = trial(to.url);
  for (let n = 0; n < 1100; n++) from.log.info("small", { n });
  const ballast = "é".repeat(5000);
  for (let n = 1100; n < 1200; n++) from.log.info(ballast, { n });
  await from.log.flush();
  assert.equal(most, 1);
  assert.deepEqual(to.events().map(({ attrs }) => attrs.n), [...Array(1200).keys()]);
  const sizes = to.requests.map(({ body }) => new TextEncoder().encode(body).length);
  assert.ok(Math.max(...sizes) <= 256 * 1024 + 2, `${sizes}`);
  assert.deepEqual(
    to.requests.slice(0, 2).map(({ body }) => (JSON.parse(body) as unknown[]).length),
    [500, 500],
  );
  assert.equal(new Set(to.requests.map((one) => one.idempotencyKey)).size, to.requests.length);
});

Deno.test("after a lost answer or a 503 the same batch is sent again with the same key", async () => {
  await using to = receiver((before, events) => {
    if (before === 0) return new Response("<html>no answer of the service</html>");
    return before === 1 ? busy("1") : accepted(events.length);
  });
  await using from = trial(to.url);
  from.log.info("once");
  await from.log.flush();
  const [first, second, third, ...more] = to.requests;
  assert.deepEqual(more, []);
  assert.deepEqual(
    [second, third].map(({ body, idempotencyKey }) => ({ body, idempotencyKey })),
    Array(2).fill({ body: first.body, idempotencyKey: first.idempotencyKey }),
  );
  assert.ok(third.at - second.at >= 990, `${third.at - second.at}`);
  assert.deepEqual(from.failures, ["200 without a reason: trying again"]);
});

Deno.test("after five minutes a batch is given up, and the next one says how many were lost", async () => {
  let away = true;
  await using to = receiver((_before, events) => away ? busy("0") : accepted(events.length));
  await using from = trial(to.url);
  {
    using time = withoutWaiting();
    from.log.info("a");
    from.log.info("b");
    await from.log.flush();
    const [, ...backOff] = time.waits;
    const sum = backOff.reduce((all, ms) => all + ms, 0);
    assert.ok(sum >= 300_000 && sum < 330_000, `${sum}`);
    assert.ok(backOff.every((ms, n) => ms <= Math.min(30_000, 500 * 2 ** n)), `${backOff}`);
  }
  // The first warning comes at once, the next ones once a minute.
  const warnings = from.failures.slice(0, -1);
  assert.ok(warnings.length >= 4 && warnings.length <= 6, `${warnings.length}`);
  assert.deepEqual([...new Set(from.failures)], [
    "503 The queue is full: trying again",
    "503 The queue is full: 2 events are lost",
  ]);
  away = false;
  to.requests.length = 0;
  from.log.info("c");
  await from.log.flush();
  assert.deepEqual(to.events().map(({ level, msg, attrs }) => ({ level, msg, attrs })), [
    { level: "warn", msg: "logloom: 2 events were dropped", attrs: { dropped: 2 } },
    { level: "info", msg: "c", attrs: {} },
  ]);
});

Deno.test("a full queue drops the oldest, and a warning counts them", async () => {
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using to = receiver(async (before, events) => {
    asked.resolve();
    if (before === 0) await release.promise;
    return accepted(events.length);
  });
  await using from = trial(to.url);
  for (let n = 0; n < 500; n++) from.log.info("first", { n });
  await asked.promise;
  for (let n = 500; n < 50_600; n++) from.log.info("then", { n });
  release.resolve();
  await from.log.flush();
  const dropped = to.events().filter(({ attrs }) => "dropped" in attrs);
  assert.deepEqual(dropped.map(({ level, attrs }) => [level, attrs]), [["warn", { dropped: 100 }]]);
  const numbers = to.events().filter(({ attrs }) => "n" in attrs).map(({ attrs }) => attrs.n);
  const kept = Array.from({ length: 50_600 }, (_, n) => n).filter((n) => n < 500 || n >= 600);
  assert.deepEqual(numbers, kept);
});

Deno.test("the queue holds 25 megabytes at most", async () => {
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using to = receiver(async (before, events) => {
    asked.resolve();
    if (before === 0) await release.promise;
    return accepted(events.length);
  });
  await using from = trial(to.url);
  const ballast = "x".repeat(29_000);
  for (let n = 0; n < 10; n++) from.log.info(ballast, { n });
  await asked.promise;
  for (let n = 10; n < 1010; n++) from.log.info(ballast, { n });
  release.resolve();
  await from.log.flush();
  const numbers = to.events().filter(({ attrs }) => "n" in attrs).map(({ attrs }) =>
    Number(attrs.n)
  );
  const [{ attrs: { dropped } }] = to.events().filter(({ attrs }) => "dropped" in attrs);
  assert.equal(numbers.length + Number(dropped), 1010);
  assert.equal(numbers.at(-1), 1009);
  const queued = new TextEncoder().encode(JSON.stringify(to.events().slice(10))).length;
  assert.ok(queued > 24_900_000 && queued < 25_300_000, `${queued}`);
});

Deno.test("a key that is not accepted ends all sending, with one warning", async () => {
  await using to = receiver(() => Response.json({ error: "Invalid token" }, { status: 401 }));
  await using from = trial(to.url);
  for (let n = 0; n < 3; n++) {
    from.log.info("a");
    await from.log.flush();
  }
  assert.equal(to.requests.length, 1);
  assert.deepEqual(from.failures, ["401 Invalid token: nothing more is sent"]);
});

Deno.test("a user's session sends without a key, and waits for the next sign-in", async () => {
  let isSignedIn = false;
  await using to = receiver((_before, events) =>
    isSignedIn
      ? accepted(events.length)
      : Response.json({ error: "Invalid token" }, { status: 401 })
  );
  const sent: string[] = [];
  const supabase = {
    schema: () => ({
      url: `${to.url}/rest/v1`,
      fetch: (input: RequestInfo | URL, init?: RequestInit) => {
        sent.push(`${input}`);
        isSignedIn = sent.length > 2;
        return fetch(input, init);
      },
    }),
  };
  await using from = trial("", { supabase, key: undefined });
  from.log.info("a");
  await from.log.flush();
  assert.deepEqual(sent, Array(3).fill(`${to.url}/functions/v1/ingest`));
  assert.deepEqual([...new Set(to.requests.map(({ key }) => key))], [null]);
  assert.deepEqual(from.failures, ["401 Invalid token: trying again"]);
});

Deno.test("refused events are handed back with their reason", async () => {
  await using to = receiver(() =>
    Response.json({
      success: true,
      ingested: 1,
      rejected: 1,
      errors: [{ index: 1, code: "ts_out_of_range", message: "ts is too old" }],
    })
  );
  const rejected: Rejected[] = [];
  await using from = trial(to.url, { onRejected: (one) => rejected.push(one) });
  from.log.info("good");
  from.log.info("old", { ts: "1999-01-01T00:00:00Z" });
  await from.log.flush();
  assert.deepEqual(
    rejected.map(({ event: { msg, ts }, code, message }) => ({ msg, ts, code, message })),
    [{ msg: "old", ts: "1999-01-01T00:00:00Z", code: "ts_out_of_range", message: "ts is too old" }],
  );
});

Deno.test("a request that the service cannot read is not repeated", async () => {
  await using to = receiver(() => Response.json({ error: "Invalid JSON" }, { status: 400 }));
  await using from = trial(to.url);
  from.log.info("a");
  await from.log.flush();
  assert.equal(to.requests.length, 1);
  assert.deepEqual(from.failures, ["400 Invalid JSON: 1 events are lost"]);
});

Deno.test("flush stops waiting after the given time", async () => {
  const release = Promise.withResolvers<void>();
  await using to = receiver(async (_before, events) => {
    await release.promise;
    return accepted(events.length);
  });
  await using from = trial(to.url);
  from.log.info("a");
  assert.equal(await from.log.flush(50), false);
  release.resolve();
  assert.equal(await from.log.flush(), true);
});

Deno.test("waitUntil is given a promise that ends when everything is sent", async () => {
  const promises: Promise<unknown>[] = [];
  await using to = receiver();
  await using from = trial(to.url, { waitUntil: (promise) => promises.push(promise) });
  from.log.info("a");
  from.log.info("b");
  assert.equal(promises.length, 1);
  const alive = setInterval(() => {}, 1000);
  await promises[0];
  clearInterval(alive);
  assert.equal(to.events().length, 2);
  from.log.info("c");
  assert.equal(promises.length, 2);
});

Deno.test("a redirect is not followed, so the key goes to no other address", async () => {
  await using elsewhere = receiver();
  await using to = receiver((before, events) =>
    before === 0
      ? new Response(null, { status: 307, headers: { Location: elsewhere.url } })
      : accepted(events.length)
  );
  await using from = trial(to.url);
  using _timers = withoutWaiting();
  from.log.info("a");
  await from.log.flush();
  assert.deepEqual([elsewhere.requests.length, to.requests.length], [0, 2]);
});

Deno.test("a clock that is set forward does not end the retries", async () => {
  await using to = receiver((before, events) => before === 0 ? busy("0") : accepted(events.length));
  await using from = trial(to.url);
  const { now } = Date;
  using _timers = withoutWaiting();
  let hours = 0;
  Date.now = () => now() + 3_600_000 * hours++;
  try {
    from.log.info("a");
    await from.log.flush();
  } finally {
    Date.now = now;
  }
  assert.deepEqual([to.requests.length, from.failures], [
    2,
    ["503 The queue is full: trying again"],
  ]);
});

Deno.test("an error does not show a key that cannot be in a header", async () => {
  await using to = receiver();
  await using from = trial(to.url, { key: "ll_first\nll_second" });
  using _timers = withoutWaiting();
  from.log.info("a");
  await from.log.flush();
  assert.match(from.failures.join(), /header/i);
  assert.doesNotMatch(from.failures.join(), /ll_/);
});

Deno.test("a token is requested once, and again when the service no longer accepts it", async () => {
  const live = new Set(["llt_1"]);
  const refused = () => Response.json({ error: "Invalid token" }, { status: 401 });
  const keys: (string | null)[] = [];
  await using to = receiver((before, events) => {
    const { key } = to.requests[before];
    keys.push(key);
    return live.has(key ?? "") ? accepted(events.length) : refused();
  });
  let made = 0;
  await using from = trial(to.url, {
    key: undefined,
    token: () => Promise.resolve(`llt_${++made}`),
  });
  assert.equal(made, 0);
  from.log.info("before it is sent");
  assert.equal(made, 1);
  for (const msg of ["a", "b"]) {
    from.log.info(msg);
    await from.log.flush();
  }
  live.delete("llt_1");
  live.add("llt_2");
  from.log.info("c");
  await from.log.flush();
  assert.deepEqual(keys, ["llt_1", "llt_1", "llt_1", "llt_2"]);
  assert.deepEqual(from.failures, []);
});

Deno.test("a backend that returns no token, or a refused one, is asked again later", async () => {
  using time = withoutWaiting();
  const refused = () => Response.json({ error: "Invalid token" }, { status: 401 });
  await using to = receiver((before, events) => before < 2 ? refused() : accepted(events.length));
  let asked = 0;
  await using from = trial(to.url, {
    key: undefined,
    token: () => {
      if (++asked === 1) throw new Error("not yet");
      return `llt_${asked}`;
    },
  });
  from.log.info("a");
  assert.equal(await from.log.flush(), true);
  assert.deepEqual(to.requests.map(({ key }) => key), ["undefined", "llt_2", "llt_3"]);
  assert.ok(time.waits.some((ms) => ms >= 250 && ms <= 500), `${time.waits}`);
  assert.deepEqual(from.failures, ["not yet", "401 Invalid token: trying again"]);
});

Deno.test("an unreachable service is reported at once, with the cause", async () => {
  await using from = trial(closedUrl());
  from.log.info("a");
  await from.log.flush(300);
  assert.equal(from.failures.length, 1);
  assert.match(from.failures[0], /refused.*: trying again$/i);
});

Deno.test("the reason for a refused key is reported", async () => {
  await using to = receiver(() =>
    Response.json({ error: "Invalid token, API key, or missing tenant_id" }, {
      status: 401,
      headers: {
        "WWW-Authenticate":
          'Bearer realm="logloom", error="invalid_token", error_description="This key was revoked"',
      },
    })
  );
  await using from = trial(to.url);
  from.log.info("a");
  await from.log.flush();
  assert.deepEqual(from.failures, [
    "401 Invalid token, API key, or missing tenant_id (This key was revoked): nothing more is sent",
  ]);
});
