import assert from "node:assert/strict";
import { apiKey, clientOf, createKey, ingest, newTenant, type Tenant } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { stack } from "../support/stack.ts";

const ms = Date.now() - 600_000;
const ns = (after: number) => `${ms + after}000000`;
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const trace = "5b8efff798038103d269b633813fc60c";

/** A shop's call of a bank, which fails. */
const sent = {
  resource: { attributes: [text("service.name", "shop"), text("k8s.pod.name", "shop-1")] },
  scopeSpans: [{
    scope: { name: "http" },
    spans: [{
      traceId: trace,
      spanId: "aaaaaaaaaaaaaaa1",
      name: "GET /pay",
      kind: 2,
      startTimeUnixNano: ns(0),
      endTimeUnixNano: ns(1500),
      attributes: [
        text("http.route", "/pay"),
        text("http.request.method", "GET"),
        { key: "http.status", value: { intValue: "502" } },
        { key: "order", value: { intValue: "7" } },
      ],
    }, {
      traceId: trace,
      spanId: "aaaaaaaaaaaaaaa2",
      parentSpanId: "aaaaaaaaaaaaaaa1",
      name: "charge",
      kind: 3,
      startTimeUnixNano: ns(100),
      endTimeUnixNano: `${ms + 450}125000`,
      status: { code: 2, message: "declined" },
      events: [{ timeUnixNano: ns(300), name: "retry", attributes: [text("reason", "slow")] }],
    }],
  }],
};

async function send(tenant: Tenant, body: BodyInit, type: string): Promise<void> {
  const { key_value } = await createKey(tenant);
  const headers = { ...apiKey(key_value), "Content-Type": type };
  const url = `${stack.url}/functions/v1/ingest/v1/traces`;
  const answer = await fetch(url, { method: "POST", headers, body });
  assert.equal(answer.status, 200, await answer.text());
}

async function stored(tenant: Tenant, count: number): Promise<string[]> {
  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, count);
  return records.map(({ ts, level, msg, service, req_id, route, attrs }) =>
    JSON.stringify({ ts, level, msg, service, req_id, route, attrs })
  ).sort();
}

async function readerOf(tenant: Tenant, scope: "read" | "ingest" = "read", more: object = {}) {
  const { key_value } = await createKey(tenant, { p_scopes: [scope], ...more });
  const authorization = `Basic ${btoa(`grafana:${key_value}`)}`;
  return (path: string, query: Record<string, string> = {}, accept = "application/json") =>
    fetch(`${stack.url}/functions/v1/logloom-read/api/${path}?${new URLSearchParams(query)}`, {
      headers: { authorization, accept },
    });
}

async function shop() {
  const tenant = await newTenant("tempo");
  await send(tenant, JSON.stringify({ resourceSpans: [sent] }), "application/json");
  await stored(tenant, 3);
  return { tenant, ask: await readerOf(tenant) };
}

Deno.test("Grafana gets a trace exactly as it was sent, with spans of a request that has an id of its own", async () => {
  const { tenant, ask } = await shop();
  const bytes = await (await ask(`traces/${trace}`, {}, "application/protobuf")).bytes();
  // Tempo's Trace is a request of OTLP: sent again, it is stored as the first one.
  const other = await newTenant("tempo-again");
  await send(other, bytes, "application/x-protobuf");
  assert.deepEqual(await stored(other, 3), await stored(tenant, 3));
  const v2 = await (await ask(`v2/traces/${trace}`, {}, "application/protobuf")).bytes();
  assert.deepEqual(v2.slice(-bytes.length), bytes);
  const attrs = { kind: "span", trace_id: trace, duration_ms: 1 };
  await ingest(tenant.headers, [{ ts: new Date(ms - 1), req_id: "r-1", msg: "gateway", attrs }]);
  await stored(tenant, 4);
  const { trace: found } = await (await ask(`v2/traces/${trace.toUpperCase()}`)).json();
  const spans = found.resourceSpans.map((one: typeof sent) => one.scopeSpans[0].spans[0]);
  const { kind, status, endTimeUnixNano } = spans[2];
  assert.deepEqual([spans[0].name, spans[1].name, kind, status, endTimeUnixNano], [
    "gateway",
    "GET /pay",
    "SPAN_KIND_CLIENT",
    { code: "STATUS_CODE_ERROR", message: "declined" },
    `${ms + 450}125000`,
  ]);
  const q = `{ trace:id = "${trace.toUpperCase()}" && name = "gateway" }`;
  const { traces: [{ traceID, spanSets }] } = await (await ask("search", { q })).json();
  assert.deepEqual([traceID, spanSets[0].spans[0].name], [trace, "gateway"]);
});

const queries: Record<string, string[]> = {
  "{}": ["GET /pay", "charge"],
  '{resource.service.name="shop" && name="charge"}': ["charge"],
  "{ duration = 350.125ms && status != ok || status=unset && kind=client }": ["charge"],
  "{ span.http.status >= 500 && span.http.status != 503 && .http.route =~ `/p.+` }": ["GET /pay"],
  '{ .k8s.pod.name = "shop-1" && (name = "charge" || duration > 2s) && status=error }': ["charge"],
  '{ span.no != "x" || resource.k8s.pod.name != "shop-1" }': [],
  "{ span.no = nil && span:parentID != nil }": ["charge"],
  '{ (span.http.request.method = "GET" || name =~ "charge.*") && kind = server && .order != nil }':
    ["GET /pay"],
  '{ .order != "8" && .order !~ "8.*" && .k8s.pod.name != "shop-2" && .order != 8 }': ["GET /pay"],
  "{ .order = nil && .k8s.pod.name != nil && kind != server && kind != unspecified }": ["charge"],
  "{ .order = 7.0 && duration = 1500.0ms }": ["GET /pay"],
  '{ .no =~ ".*" || .no = "" || kind = unspecified }': [],
};

Deno.test("TraceQL of Explore finds spans, shows the trace by its root, and offers names and values", async () => {
  const { ask } = await shop();
  const root = { rootServiceName: "shop", rootTraceName: "GET /pay", durationMs: 1500 };
  for (const [q, names] of Object.entries(queries)) {
    const answer = await ask("search", { q, limit: "20", spss: "3" });
    const { traces: [found = { spanSets: [{ spans: [] }] }] } = await answer.json();
    const { spanSets: [{ spans }], ...shown } = found;
    assert.deepEqual(spans.map(({ name }: { name: string }) => name), names, q);
    const whole = { traceID: trace, startTimeUnixNano: ns(0), ...root };
    assert.deepEqual(shown, names.length === 0 ? {} : whole);
  }
  const { scopes: [resource, span] } = await (await ask("v2/search/tags")).json();
  assert.deepEqual(resource, { name: "resource", tags: ["k8s.pod.name", "service.name"] });
  assert.deepEqual(span, {
    name: "span",
    tags: ["http.request.method", "http.route", "http.status", "order", "scope", "status"],
  });
  const values = async (tag: string, q = "{}") =>
    (await (await ask(`v2/search/tag/${tag}/values`, { q })).json()).tagValues;
  assert.deepEqual(await values("resource.k8s.pod.name"), [{ type: "string", value: "shop-1" }]);
  assert.deepEqual(await values(".k8s.pod.name"), [{ type: "string", value: "shop-1" }]);
  assert.deepEqual(await values("trace:id"), [{ type: "string", value: trace }]);
  assert.deepEqual(await values("name", "{status=error}"), [{ type: "string", value: "charge" }]);
});

Deno.test("what is beyond this, unknown traces and other keys are refused, never answered with nothing", async () => {
  const { tenant, ask } = await shop();
  const refused: Record<string, RegExp> = {
    '{ name = "a" } | rate()': /one pair of braces/,
    "{ traceDuration > 1s }": /"traceDuration" is not supported: use name,/,
    '{ name > "a" }': /only numbers of attributes have an order/,
    "{ duration > 5 }": /a duration has a unit, such as 100ms/,
    "{ status = broken }": /error, ok or unset/,
    "{ .a = 1 .b = 2 }": /&& or \|\| expected at ".b = 2 "/,
    '{ name = "a" } && {}': /&& or \|\| expected at "} && {"/,
    '{ name = "a" ) || ( .a = 1 }': /&& or \|\| expected at "\) \|\| \( .a = 1 "/,
    '{ (name = "a" ': /one pair of braces/,
    '{ (name = "a" }': /&&, \|\| or \) expected at the end/,
    '{ name = "a" && }': /a comparison expected at the end/,
    "{ span.b = span.c }": /a text is written in quotes/,
    "{ name = foo*bar }": /a text is written in quotes/,
    "{ name =~ 5 }": /a text is written in quotes/,
    "{ kind = SERVER }": /compare with unspecified, internal, server,/,
  };
  for (const [q, message] of Object.entries(refused)) {
    const answer = await ask("search", { q });
    assert.match(await answer.text(), message);
    assert.equal(answer.status, 400);
  }
  const other = await readerOf(await newTenant("tempo-other"));
  const sends = await readerOf(tenant, "ingest");
  const answers = [ask("echo"), ask("search", { limit: "99" }), ask("search/unknown")];
  answers.push(ask("search", { tags: "a=b" }), ask("search", { minDuration: "1s" }));
  answers.push(other(`v2/traces/${trace}`), sends("echo"));
  const statuses = (await Promise.all(answers)).map(async (answer) => {
    await answer.body?.cancel();
    return answer.status;
  });
  assert.deepEqual(await Promise.all(statuses), [200, 400, 404, 400, 400, 404, 403]);
});

Deno.test("a key whose view hides one id finds the spans that have the other; a search without any is refused", async () => {
  const { tenant } = await shop();
  const attrs = { kind: "span", trace_id: trace, duration_ms: 1 };
  const hiding = async (p_hidden_fields: string[]) => {
    const given = { p_name: p_hidden_fields.join(), p_hidden_fields };
    const { view_id } = await clientOf(tenant.token).call("create_log_view", given);
    return await readerOf(tenant, "read", { p_view_id: view_id });
  };
  const refused = await (await hiding(["req_id", "@trace_id"]))("search");
  assert.match(await refused.text(), /req_id and attrs.trace_id are missing, or hidden/);
  assert.equal(refused.status, 400);
  await ingest(tenant.headers, [{ ts: new Date(ms), req_id: "r-1", msg: "gateway", attrs }]);
  await stored(tenant, 4);
  for (const [field, count] of [["req_id", 1], ["@trace_id", 2]] as const) {
    const ask = await hiding([field]);
    const { traces } = await (await ask("search", { q: "{ duration > 0ms }" })).json();
    assert.equal(traces[0].traceID, trace, field);
    const { trace: { resourceSpans } } = await (await ask(`v2/traces/${trace}`)).json();
    assert.equal(resourceSpans.length, count, field);
  }
});
