import assert from "node:assert/strict";
import { createDatabase } from "../_shared/database.ts";
import { startPeer } from "../_shared/testing.ts";
import { type Commit, createGroupCommit } from "./group_commit.ts";

const acme = { kind: "tenant", tenantId: "acme" } as const;
const globex = { kind: "tenant", tenantId: "globex" } as const;

/** A test's database, which answers a call when the test says so. */
function startDatabase(answer: (requests: number[]) => unknown, now?: () => number, returnMs = 0) {
  const arrivals: (() => void)[] = [];
  const waiting: (() => void)[] = [];
  const peer = startPeer(async ({ path, body }) => {
    const answered = new Promise<void>((go) => waiting.push(go));
    arrivals.shift()?.();
    await answered;
    assert.equal(path, "/rest/v1/rpc/ingest_text");
    const requests = bytesIn(body);
    const said = requests.length === 1 ? each(requests) : answer(requests);
    return said instanceof Response ? said : Response.json(said);
  });
  return {
    ...peer,
    commit: createGroupCommit(
      createDatabase({ url: peer.url, serviceKey: "key", timeoutMs: 60_000 }),
      now,
      60_000,
      returnMs,
    ),
    arrival: () => new Promise<void>((arrived) => arrivals.push(arrived)),
    /** Answers the calls that are under way, oldest first. */
    answerAll: () => waiting.splice(0).forEach((go) => go()),
    [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
  };
}

function each(values: unknown[]) {
  return values.map((value) => ({ status: 200, headers: {}, body: `${value}` }));
}

function request(n: number, more = {}): string {
  return JSON.stringify({ p_bytes: n, ...more });
}

/** The p_bytes of each request of a call. */
function bytesIn(body: string): number[] {
  return body.split("\x1c").map((text) => JSON.parse(text).p_bytes);
}

/** Sends a request that keeps the tenant acme's call busy, then the other requests, and answers all of them. */
async function sendBehindOne(
  database: ReturnType<typeof startDatabase>,
  send: (commit: Commit) => ReturnType<Commit>[],
) {
  const busy = database.arrival();
  const first = database.commit(acme, request(1), true);
  await busy;
  const called = database.arrival();
  const others = send(database.commit);
  database.answerAll();
  await called;
  database.answerAll();
  await first;
  return await Promise.all(others);
}

Deno.test("requests that come while their caller's call is under way share the next one", async () => {
  await using database = startDatabase(each);
  const answers = await sendBehindOne(
    database,
    (commit) => [3, 4, 5].map((n) => commit(acme, request(n), true)),
  );
  assert.deepEqual(answers, ["3", "4", "5"].map((value) => ({ ok: true, value })));
  assert.deepEqual(database.requests.map(({ body }) => body), [
    '{"p_bytes":1}',
    '{"p_bytes":3}\x1c{"p_bytes":4}\x1c{"p_bytes":5}',
  ]);
});

// A pause for the last senders may outlast the test.
const waits = { sanitizeOps: false, sanitizeResources: false };

Deno.test("a call waits for the senders that were just answered", waits, async () => {
  await using database = startDatabase(each, undefined, 60_000);
  const sent = (n: number) => database.commit(acme, request(n), true);
  const first = database.arrival();
  const alone = sent(1);
  await first;
  const waiting = [sent(2), sent(3)];
  const second = database.arrival();
  database.answerAll();
  await alone;
  assert.equal(database.requests.length, 1);
  const back = sent(4);
  await second;
  const third = database.arrival();
  database.answerAll();
  await Promise.all([...waiting, back]);
  const again = [sent(5), sent(6), sent(7)];
  await third;
  database.answerAll();
  await Promise.all(again);
  assert.deepEqual(database.requests.map(({ body }) => bytesIn(body)), [[1], [2, 3, 4], [5, 6, 7]]);
});

Deno.test("a sender of one request after the other does not wait", async () => {
  await using database = startDatabase(each, undefined, 60_000);
  for (const n of [1, 2, 3]) {
    const called = database.arrival();
    const answer = database.commit(acme, request(n), true);
    await called;
    database.answerAll();
    assert.deepEqual(await answer, { ok: true, value: `${n}` });
  }
});

Deno.test("each request gets its own answer and headers", async () => {
  await using database = startDatabase(() => [
    { status: 200, headers: { "X-RateLimit-Remaining": "1" }, body: "{}" },
    {
      status: 429,
      headers: { "Retry-After": "7", "X-RateLimit-Remaining": "0" },
      body: '{"code":"PT429","message":"Limit reached"}',
    },
    { status: 500, headers: {}, body: '{"code":"22P02","message":""}' },
  ]);
  const [accepted, limited, refused] = await sendBehindOne(
    database,
    (commit) => [3, 4, 5].map((n) => commit(acme, request(n), true)),
  );
  assert.deepEqual(accepted, { ok: true, value: "{}", notes: { "x-ratelimit-remaining": "1" } });
  assert.deepEqual(limited, {
    ok: false,
    failure: {
      status: 429,
      error: "Limit reached",
      retryAfter: "7",
      notes: { "x-ratelimit-remaining": "0" },
    },
  });
  assert.ok(!refused.ok);
  assert.equal(refused.failure.status, 503);
});

Deno.test("a shared call that fails, or has an unreadable answer, gives 503 for all its requests", async () => {
  const failures = [
    () => Response.json({ code: "57014", message: "canceling statement" }, { status: 500 }),
    () => [{ status: 200, headers: {}, body: "3" }],
    () => "nothing",
  ];
  for (const failure of failures) {
    await using database = startDatabase(failure);
    const answers = await sendBehindOne(
      database,
      (commit) => [3, 4].map((n) => commit(acme, request(n), true)),
    );
    for (const answer of answers) {
      assert.ok(!answer.ok);
      assert.deepEqual([answer.failure.status, answer.failure.error], [
        503,
        "The database is unavailable, try again",
      ]);
    }
  }
});

Deno.test("other callers, large requests and requests that may not share never wait", async () => {
  await using database = startDatabase(each);
  const large = request(5, { p_msg: ["x".repeat(20_000)] });
  const arrived = Array.from({ length: 4 }, () => database.arrival());
  const answers = [
    database.commit(acme, request(1), true),
    database.commit(globex, request(3), true),
    database.commit(acme, request(4), false),
    database.commit(acme, large, true),
  ];
  await Promise.all(arrived);
  assert.deepEqual(database.requests.map(({ body }) => bytesIn(body)).sort(), [[1], [3], [4], [5]]);
  database.answerAll();
  assert.deepEqual((await Promise.all(answers)).map((answer) => answer.ok && answer.value), [
    "1",
    "3",
    "4",
    "5",
  ]);
});

Deno.test("at most 64 requests share a call; the rest follows", async () => {
  await using database = startDatabase(each);
  const busy = database.arrival();
  const answers = [database.commit(acme, request(1), true)];
  await busy;
  for (let n = 2; n <= 70; n++) answers.push(database.commit(acme, request(n), true));
  for (let followers = 0; followers < 2; followers++) {
    const called = database.arrival();
    database.answerAll();
    await called;
  }
  database.answerAll();
  const values = (await Promise.all(answers)).map((answer) => answer.ok && Number(answer.value));
  assert.deepEqual(values, Array.from({ length: 70 }, (_, n) => n + 1));
  assert.deepEqual(database.requests.map(({ body }) => bytesIn(body).length), [1, 64, 5]);
});

Deno.test("if the database hangs, no request waits for several calls in turn", async () => {
  let now = 0;
  await using database = startDatabase(each, () => now);
  const busy = database.arrival();
  const first = database.commit(acme, request(1), true);
  await busy;
  const old = database.commit(acme, request(3), true);
  now = 10_000;
  const young = database.commit(acme, request(4), true);
  now = 10_001;
  const called = database.arrival();
  database.answerAll();
  const answer = await old;
  assert.ok(!answer.ok);
  assert.equal(answer.failure.status, 503);
  await called;
  database.answerAll();
  assert.deepEqual(await young, { ok: true, value: "4" });
  await first;
  assert.deepEqual(database.requests.map(({ body }) => bytesIn(body)), [[1], [4]]);
});

Deno.test("requests behind a hanging call get a second one, and requests behind both wait", async () => {
  const waiting: (() => void)[] = [];
  const arrivals = [1, 2, 3].map(() => Promise.withResolvers<void>());
  const calls: number[][] = [];
  await using peer = startPeer(async ({ body }) => {
    const requests = bytesIn(body);
    const answered = new Promise<void>((go) => waiting.push(go));
    calls.push(requests);
    arrivals[calls.length - 1].resolve();
    await answered;
    return Response.json(each(requests));
  });
  const commit = createGroupCommit(
    createDatabase({ url: peer.url, serviceKey: "key", timeoutMs: 60_000 }),
    () => 0,
    1,
  );
  const answers = [commit(acme, request(1), true)];
  await arrivals[0].promise;
  answers.push(commit(acme, request(2), true), commit(acme, request(3), true));
  await arrivals[1].promise;
  answers.push(commit(acme, request(4), true));
  waiting[1]();
  await arrivals[2].promise;
  waiting.forEach((go) => go());
  const values = (await Promise.all(answers)).map((answer) => answer.ok && answer.value);
  assert.deepEqual(values, ["1", "2", "3", "4"]);
  assert.deepEqual(calls, [[1], [2, 3], [4]]);
});

Deno.test("no request is sent twice, however a call fails", async () => {
  for (const code of ["57014", "PGRST202", "PGRST002", "42883"]) {
    await using peer = startPeer(() => Response.json({ code, message: "" }, { status: 404 }));
    const commit = createGroupCommit(
      createDatabase({ url: peer.url, serviceKey: "key", timeoutMs: 60_000 }),
    );
    const answer = await commit(acme, request(1), true);
    assert.equal(!answer.ok && answer.failure.status, 503);
    assert.equal(peer.requests.length, 1);
  }
});
