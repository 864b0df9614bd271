import assert from "node:assert/strict";
import { logged as loggedEdge } from "./edge.ts";
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

Deno.test("a request's id is its trace, or a new one if what the headers say is no trace", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const handler = loggedEdge(from.log, () => new Response());
  await handler(get("/a", { traceparent: `00-${trace}-eee19b7ec3c1b174-01` }));
  await handler(get("/b", { traceparent: `00-${"0".repeat(32)}-eee19b7ec3c1b174-01` }));
  await handler(get("/c", { traceparent: "x".repeat(9000), "X-Request-Id": "r".repeat(9000) }));
  await from.log.flush();
  const [a, b, c] = to.events();
  assert.deepEqual([a.req_id, a.attrs.trace_id], [trace, trace]);
  assert.match(String(b.req_id), /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  assert.deepEqual([c.req_id, c.attrs.trace_id], ["r".repeat(200), undefined]);
});

Deno.test("Next: redirect() and notFound() have their status, other errors 500; all are thrown on", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const redirect = "NEXT_REDIRECT;replace;/login?at=1;404;x;307;";
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
