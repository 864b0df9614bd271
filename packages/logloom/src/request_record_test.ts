import assert from "node:assert/strict";
import { logged as loggedEdge } from "./edge.ts";
import { logRequests, type NodeRequest } from "./express.ts";
import { logged as loggedNext } from "./next.ts";
import { receiver, trial } from "./testing.ts";

const trace = "5b8efff798038103d269b633813fc60c";
const get = (path: string, headers: Record<string, string> = {}) =>
  new Request(`http://shop.example${path}`, { headers });

Deno.test("a wrapped handler's request is one record, whose ids everything logged meanwhile has", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const response = new Response("paid", { status: 402 });
  const handler = loggedEdge(from.log, async (request) => {
    assert.ok(request.url.endsWith("?card=1"));
    await Promise.resolve();
    from.log.info("paying", { route: "own" });
    return response;
  });
  assert.equal(await handler(get("/pay?card=1", { "X-Request-Id": "r-1" })), response);
  from.log.info("later");
  await from.log.flush();
  assert.deepEqual(
    to.events().map(({ level, msg, req_id, route }) => [level, msg, req_id, route]),
    [
      ["info", "paying", "r-1", "own"],
      ["warn", "GET /pay 402", "r-1", "/pay"],
      ["info", "later", undefined, undefined],
    ],
  );
});

Deno.test("a request's id is its trace, or a new trace if what the headers say is none", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const handler = loggedEdge(from.log, () => new Response());
  await handler(get("/a", { traceparent: `00-${trace}-eee19b7ec3c1b174-01` }));
  await handler(get("/b", { traceparent: `00-${"0".repeat(32)}-eee19b7ec3c1b174-01` }));
  await handler(get("/c", { traceparent: "x".repeat(9000), "X-Request-Id": "r".repeat(9000) }));
  await from.log.flush();
  const [a, b, c] = to.events();
  assert.deepEqual([a.req_id, a.attrs.trace_id], [trace, trace]);
  assert.match(String(b.req_id), /^[\da-f]{32}$/);
  assert.equal(b.attrs.trace_id, b.req_id);
  assert.equal(c.req_id, "r".repeat(200));
  assert.match(String(c.attrs.trace_id), /^[\da-f]{32}$/);
});

Deno.test("Next: redirect() and notFound() have their status, other errors 500; all are thrown on", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const redirect = "NEXT_REDIRECT;replace;/login?at=1;404;\nx;307;";
  for (const digest of [redirect, "NEXT_HTTP_ERROR_FALLBACK;404", "12345"]) {
    const error = Object.assign(new Error("thrown"), { digest });
    const route = loggedNext(from.log, (_request, { id }: { id: number }) => {
      assert.equal(id, 7);
      throw error;
    });
    await assert.rejects(route(get("/"), { id: 7 }), error);
  }
  await from.log.flush();
  assert.deepEqual(
    to.events().map(({ level, attrs: { status, error } }) => [level, status, error !== undefined]),
    [["info", 307, false], ["warn", 404, false], ["error", 500, true]],
  );
});

Deno.test("a wrapper passes on what it cannot read: no response, a hostile error, an odd request", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const fail = () => {
    throw Object.create(null);
  };
  const hostile = Object.defineProperty(new Error("theirs"), "digest", {
    get: fail,
    enumerable: true,
  });
  const odd = { digest: { toString: fail } };
  for (const thrown of [hostile, odd]) {
    const route = loggedNext(from.log, () => Promise.reject(thrown));
    assert.equal(await route(get("/throws")).catch((error) => error), thrown);
  }
  const none = null as unknown as Response;
  const asked = { url: "/relative?key=secret", method: "GET" } as Request;
  assert.equal(await loggedEdge(from.log, () => none)(asked), none);
  assert.equal(await from.log.withRequest(get("/none"), () => none), none);
  const nothing = loggedNext(from.log, () => undefined as unknown as Response);
  assert.equal(await nothing(undefined as unknown as Request), undefined);
  await from.log.flush();
  assert.deepEqual(
    to.events().map(({ level, msg, attrs: { status, error } }) => [
      level,
      msg,
      status,
      Object(error).message ?? Object(error).digest,
    ]),
    [
      ["error", "GET /throws 500", 500, "theirs"],
      ["error", "GET /throws 500", 500, { toString: "[function fail]" }],
      ["error", "GET /relative", undefined, undefined],
      ["error", "GET /none", undefined, undefined],
      ["error", "GET /", undefined, undefined],
    ],
  );
});

Deno.test("a path has no host, name and password, and is cut before the other fields lose their room", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const answer = (originalUrl: string, headers: NodeRequest["headers"] = {}) => {
    const request = { originalUrl, headers };
    const states = { statusCode: 200, headersSent: true, writableFinished: true };
    const response = { ...states, on: (_: "close", listener: () => void) => listener() };
    // The second logger is one of a router.
    const log = logRequests(from.log);
    log(request, response, () => log(request, response, () => {}));
  };
  for (const url of ["http://user:PASSW@h/ok?a=1", "HTTPS://h", "*"]) answer(url);
  answer(`/${"x".repeat(60_000)}`, { "x-request-id": "r-1" });
  await from.log.flush();
  const cut = `/${"x".repeat(1999)}…`;
  assert.deepEqual(
    to.events().map(({ msg, route, attrs: { method, status } }) => [msg, route, method, status]),
    ["/ok", "/", "*", cut].map((route) => [`GET ${route} 200`, route, "GET", 200]),
  );
  assert.equal(to.events()[3].req_id, "r-1");
});
