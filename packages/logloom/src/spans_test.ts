import assert from "node:assert/strict";
import { traceOf, type TraceRecord } from "../../../supabase/functions/_shared/trace.ts";
import { logged } from "./edge.ts";
import { logRequests } from "./hono.ts";
import { shared } from "./request_fields.ts";
import { type Event, receiver, trial } from "./testing.ts";

const trace = "5b8efff798038103d269b633813fc60c";

/** What the tree shows: each span below its parent, with the messages logged in it. */
const shown = (events: Event[]) =>
  traceOf(events as unknown as TraceRecord[]).spans.map(({ depth, record, logs }) =>
    [`${"-".repeat(depth)}${record.msg}`, ...logs.map(({ msg }) => msg)].join(" ")
  );

for (const where of ["a server", "a page"]) {
  Deno.test(`on ${where} the spans of a request are a tree, each a record with its duration and error`, async () => {
    await using to = receiver();
    await using from = trial(to.url);
    const headers = { traceparent: `00-${trace}-eee19b7ec3c1b174-01` };
    const { storage } = shared();
    const { getBuiltinModule } = process;
    // On a page spans nest by the logger that they get.
    if (where === "a page") {
      shared().storage = undefined;
      Object.assign(process, { getBuiltinModule: undefined });
    }
    await from.log.withRequest(new Request("http://shop.example/pay", { headers }), async (log) => {
      const reserved = log.span("reserve", () => Promise.reject(new Error("sold out")));
      await log.span("charge", async (log) => {
        await log.span("ask", (log) => log.info("asked"), { bank: "b-1", span_kind: "client" });
        log.info("charged");
      });
      await assert.rejects(reserved, { message: "sold out" });
      return new Response();
    });
    Object.assign(process, { getBuiltinModule });
    shared().storage = storage;
    await from.log.flush();
    const events = to.events();
    const tree = ["--ask asked", "-charge charged", "-reserve", "GET /pay 200"];
    assert.deepEqual(shown(events).sort(), tree);
    assert.ok(events.every(({ req_id, attrs }) => req_id === trace && attrs.trace_id === trace));
    const { span_id, parent_id, duration_ms, ...attrs } = events.find(({ msg }) =>
      msg === "ask"
    )!.attrs;
    assert.match(`${span_id} ${parent_id}`, /^[\da-f]{16} [\da-f]{16}$/);
    assert.match(String(duration_ms), /^\d+(\.\d{1,3})?$/);
    assert.deepEqual(attrs, { kind: "span", span_kind: "client", trace_id: trace, bank: "b-1" });
    const failed = events.find(({ msg }) => msg === "reserve")!;
    assert.deepEqual([failed.level, failed.attrs.status], ["error", "error"]);
    assert.equal(Object(failed.attrs.error).message, "sold out");
  });
}

Deno.test("traceHeaders() continues the trace in another service, also from a lazy query and with a request id", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const { log } = from;
  const bank = logged(log, () => new Response());
  // A query of supabase-js is sent when it is awaited.
  const query = () => ({
    then: (done: (answer: Response) => void) =>
      bank(new Request("http://bank.example/", { headers: log.traceHeaders() })).then(done),
  });
  const shop = logged(log, () => log.span("query", () => query() as PromiseLike<Response>));
  await shop(new Request("http://shop.example/", { headers: { "X-Request-Id": "r-1" } }));
  assert.deepEqual(log.traceHeaders(), {});
  await log.flush();
  assert.deepEqual(shown(to.events()), ["GET / 200", "-query", "--GET / 200"]);
  const [inner, , outer] = to.events();
  assert.deepEqual([outer.req_id, inner.req_id], ["r-1", outer.attrs.trace_id]);
});

Deno.test("a second wrapper and a request inside a span are parts of the trace, and not after its end", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const { log } = from;
  const answer = { res: new Response(), finalized: true };
  const hono = logRequests(log);
  const app = logged(log, async (request) => {
    await hono({ req: { raw: request }, ...answer }, () => Promise.resolve(log.info("paying")));
    return answer.res;
  });
  const traceparent = `00-${trace}-eee19b7ec3c1b174-01`;
  for (const headers of [{}, { traceparent }] as Record<string, string>[]) {
    await app(new Request("http://shop.example/", { headers }));
  }
  const start = Promise.withResolvers<void>();
  const late = await log.span("boot", async () => {
    await app(new Request("http://shop.example/boot"));
    return { answered: start.promise.then(() => app(new Request("http://shop.example/late"))) };
  });
  start.resolve();
  await late.answered;
  await log.flush();
  const events = to.events();
  const twice = ["GET / 200", "-GET / 200 paying"];
  const traces = Map.groupBy(events, ({ req_id }) => req_id);
  assert.deepEqual([...traces.values()].map(shown), [
    twice,
    twice,
    ["boot", "-GET /boot 200", "--GET /boot 200 paying"],
    ["GET /late 200", "-GET /late 200 paying"],
  ]);
  assert.deepEqual(
    traces.get(trace)!.map(({ attrs }) => attrs.span_kind),
    [undefined, "internal", "server"],
  );
});

Deno.test("ids of another form neither continue a trace nor reach a header", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const ids = `${trace}-eee19b7ec3c1b174`;
  const sent = async (traceparent: string) => {
    let passed: string | undefined;
    await from.log.withRequest(
      new Request("http://shop.example/", { headers: { traceparent } }),
      (log) => {
        passed = log.traceHeaders().traceparent;
        return new Response();
      },
    );
    return [passed!.slice(3, 35) === trace, passed!.slice(-2)];
  };
  for (
    const [header, ...expected] of [
      [`00-${ids}-00`, true, "00"],
      [`01-${ids}-02-more`, true, "00"],
      [`00-${ids}-01-more`, false, "01"],
      [`00-${ids}-zz`, false, "01"],
      [`ff-${ids}-01`, false, "01"],
    ] as [string, boolean, string][]
  ) assert.deepEqual(await sent(header), expected, header);
  const span_id = "eee19b7ec3c1b174";
  for (const trace_id of [`${trace.slice(2)}\r\n`, "0".repeat(32), 7, trace.toUpperCase()]) {
    const log = from.log.with({ trace_id, span_id });
    assert.deepEqual(log.traceHeaders(), {});
    const made = await log.span("part", () => from.log.traceHeaders().traceparent);
    assert.match(String(made), /^00-[\da-f]{32}-[\da-f]{16}-01$/);
  }
});

Deno.test("a span keeps fields with its own names, and reports fields that cannot be read", async () => {
  await using to = receiver();
  await using from = trial(to.url);
  const fields = { kind: "card", ts: 1, status: "theirs", order: 7 };
  await from.log.span("charge", () => {}, fields);
  await assert.rejects(from.log.span("charge", () => Promise.reject(new Error("no")), fields));
  await from.log.span("hidden", () => {}, new Proxy({}, { ownKeys: () => assert.fail("trap") }));
  await from.log.flush();
  assert.deepEqual(
    to.events().map(({ attrs }) =>
      [
        ...["kind", "attributes.kind", "attributes.ts", "status", "attributes.status", "order"],
      ].map((name) => attrs[name])
    ),
    [["span", "card", 1, "theirs", undefined, 7], ["span", "card", 1, "error", "theirs", 7]],
  );
  assert.deepEqual(from.failures, ["trap"]);
});
