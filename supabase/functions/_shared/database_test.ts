import assert from "node:assert/strict";
import { type CallDatabase, createDatabase, userAgent } from "./database.ts";
import type { Failure } from "./errors.ts";
import { closedUrl, startPeer } from "./testing.ts";

function database(url: string, timeoutMs = 60_000): CallDatabase {
  return createDatabase({ url, serviceKey: "service-key", timeoutMs });
}

async function failureOf(call: CallDatabase): Promise<Failure> {
  const result = await call("read_logs", "{}");
  assert.ok(!result.ok);
  return result.failure;
}

function assertUnavailable({ status, error, retryAfter }: Failure): void {
  assert.equal(status, 503);
  assert.equal(error, "The database is unavailable, try again");
  assert.match(retryAfter ?? "", /^[1-5]$/);
}

Deno.test("a call is a POST with the service role's key, and its answer is passed on unchanged", async () => {
  await using peer = startPeer(() => new Response('{"success" : true}'));
  assert.deepEqual(await database(peer.url)("read_logs", '{"p_operation":"a"}'), {
    ok: true,
    value: '{"success" : true}',
  });
  const [request] = peer.requests;
  assert.equal(request.method, "POST");
  assert.equal(request.path, "/rest/v1/rpc/read_logs");
  assert.equal(request.body, '{"p_operation":"a"}');
  assert.equal(request.headers.get("Authorization"), "Bearer service-key");
  assert.equal(request.headers.get("apikey"), "service-key");
  assert.equal(request.headers.get("Content-Type"), "application/json");
  assert.equal(request.headers.get("Content-Profile"), "public");
  assert.equal(request.headers.get("User-Agent"), userAgent);
  assert.equal(request.headers.get("X-Logloom-Project"), null);
});

Deno.test("functions that claim work name their project", async () => {
  await using peer = startPeer(() => new Response("[]"));
  const projectUrl = "https://project.supabase.co";
  await createDatabase({ url: peer.url, serviceKey: "k", timeoutMs: 60_000, projectUrl })(
    "f",
    "{}",
  );
  assert.equal(peer.requests[0].headers.get("X-Logloom-Project"), projectUrl);
});

Deno.test("a text goes unchanged to an unnamed parameter", async () => {
  await using peer = startPeer(() => new Response("[]"));
  await database(peer.url)("ingest_text", '{"p_bytes":1}\x1eé', "text/plain");
  const [{ path, body, headers }] = peer.requests;
  assert.deepEqual([path, body], ["/rest/v1/rpc/ingest_text", '{"p_bytes":1}\x1eé']);
  assert.equal(headers.get("Content-Type"), "text/plain");
});

Deno.test("a secret key is not a token, so it is sent only as the API key", async () => {
  await using peer = startPeer(() => new Response("{}"));
  const call = createDatabase({ url: peer.url, serviceKey: "sb_secret_one", timeoutMs: 60_000 });
  await call("health_report", "{}");
  const [{ headers }] = peer.requests;
  assert.deepEqual([headers.get("apikey"), headers.get("Authorization")], ["sb_secret_one", null]);
});

Deno.test("a refusal by the database keeps its status, text and Retry-After", async () => {
  for (const status of [400, 401, 409, 429, 503]) {
    await using peer = startPeer(() =>
      Response.json(
        { code: `PT${status}`, message: `said ${status}`, details: null, hint: null },
        { status, headers: { "Retry-After": "42" } },
      )
    );
    assert.deepEqual(await failureOf(database(peer.url)), {
      status,
      error: `said ${status}`,
      retryAfter: "42",
    });
  }
});

Deno.test("the database's Retry-After wins over PostgREST's own 0", async () => {
  await using peer = startPeer(() =>
    Response.json({ code: "PT503", message: "The queue is full" }, {
      status: 503,
      headers: [["Retry-After", "0"], ["Retry-After", "5"]],
    })
  );
  assert.equal((await failureOf(database(peer.url))).retryAfter, "5");
});

Deno.test("a 503 of the database without Retry-After gets one", async () => {
  await using peer = startPeer(() =>
    Response.json({ code: "PT503", message: "The queue is full" }, { status: 503 })
  );
  const { status, error, retryAfter } = await failureOf(database(peer.url));
  assert.deepEqual({ status, error }, { status: 503, error: "The queue is full" });
  assert.match(retryAfter ?? "", /^[1-5]$/);
});

Deno.test("any other answer becomes 503, because the client is not at fault", async () => {
  const answers: (() => Response)[] = [
    () => Response.json({ code: "22P02", message: "secret detail" }, { status: 400 }),
    () => Response.json({ code: "PGRST301", message: "JWSError" }, { status: 401 }),
    () => Response.json({ code: "PGRST202", message: "no function" }, { status: 404 }),
    () => Response.json({ code: "23505", message: "duplicate" }, { status: 409 }),
    () => Response.json({ code: "PT500", message: "x" }, { status: 500 }),
    () => Response.json({ code: "PGRST000", message: "no connection" }, { status: 503 }),
    () => new Response("<html>Bad gateway</html>", { status: 502 }),
    () => new Response("null", { status: 400 }),
    () => new Response("", { status: 504 }),
    () => new Response(null, { status: 204 }),
    () => Response.redirect("http://127.0.0.1:9/", 302),
  ];
  for (const answer of answers) {
    await using peer = startPeer(answer);
    assertUnavailable(await failureOf(database(peer.url)));
  }
});

Deno.test("the answer names the reason if the database's error code is known", async () => {
  for (
    const [code, told, said] of [
      [
        "PGRST106",
        406,
        "The schema public is not exposed: add it to the project's exposed schemas (Data API settings)",
      ],
      ["25006", 405, "The database is read-only, try again later"],
      ["53100", 503, "The disk of the database is full, try again later"],
    ] as const
  ) {
    await using peer = startPeer(() => Response.json({ code, message: "m" }, { status: told }));
    const { status, error, reason, retryAfter } = await failureOf(database(peer.url));
    assert.deepEqual({ status, error, reason }, { status: 503, error: said, reason: said });
    assert.match(retryAfter ?? "", /^[3-5]$/);
  }
});

Deno.test("an unreachable database gives 503", async () => {
  assertUnavailable(await failureOf(database(closedUrl())));
});

Deno.test("a database that does not answer, or does not finish its answer, gives 503 after the time-out", async () => {
  const never = Promise.withResolvers<Response>();
  await using silent = startPeer(() => never.promise);
  assertUnavailable(await failureOf(database(silent.url, 50)));
  never.resolve(new Response());

  const halfWay: ReadableStreamDefaultController<Uint8Array>[] = [];
  await using slow = startPeer(() =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"success":'));
          halfWay.push(controller);
        },
      }),
    )
  );
  assertUnavailable(await failureOf(database(slow.url, 50)));
  for (const controller of halfWay) controller.close();
});
