import assert from "node:assert/strict";
import type { CallDatabase } from "../_shared/database.ts";
import { success } from "../_shared/errors.ts";
import { createIngestHandler } from "./handler.ts";
import { apiKey, parametersOf } from "./testing.ts";

const databaseAway = { status: 503, error: "The database is unavailable, try again" };

interface Said {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}

interface Sent {
  readonly p_tenant_id: string;
  readonly p_bytes: number;
  readonly p_idempotency_key?: string;
  readonly p_ts: unknown[];
  readonly p_all_errors?: boolean;
}

/** Sends with the project's secret key. `answer` is the database's answer. */
async function send(
  events: string,
  answer: (sent: Sent) => Said | undefined,
  { path = "", headers = {} }: { path?: string; headers?: Record<string, string> } = {},
) {
  const calls: Sent[] = [];
  let wakes = 0;
  const callDatabase: CallDatabase = (_name, text) => {
    const sent = parametersOf(text) as unknown as Sent;
    calls.push(sent);
    const said = answer(sent);
    if (said?.status === 503) return Promise.resolve({ ok: false, failure: databaseAway });
    const body = said?.body ?? { success: true, ingested: sent.p_ts.length, rejected: 0 };
    return Promise.resolve(success(JSON.stringify([
      { status: said?.status ?? 200, headers: said?.headers ?? {}, body: JSON.stringify(body) },
    ])));
  };
  const handler = createIngestHandler({
    authenticate: () => Promise.resolve(success({ kind: "project" })),
    callDatabase,
    wakeWriter: () => wakes++,
  });
  const response = await handler(
    new Request(`http://localhost/ingest${path}`, {
      method: "POST",
      headers: { "X-API-Key": apiKey, ...headers },
      body: events,
    }),
  );
  const text = await response.text();
  return { status: response.status, text, calls, wakes, headers: response.headers };
}

const overLimit: Said = {
  status: 429,
  headers: { "Retry-After": "7" },
  body: { code: "PT429", message: "over" },
};
const only = (tenant: string, said: Said) => ({ p_tenant_id }: Sent) =>
  p_tenant_id === tenant ? said : undefined;

Deno.test("a tenant_id that is not a text, or that the database cannot store, is rejected", async () => {
  for (const id of ["12345678901234567890", "7", '"a\\u0000"', '"a\\ud800"', '"\\t"']) {
    const { status, text, calls } = await send(`[{"tenant_id":${id},"msg":"a"}]`, () => undefined);
    const { success, tenants, errors } = JSON.parse(text);
    assert.deepEqual([status, success, tenants, errors[0].code, calls.length], [
      200,
      false,
      [],
      "tenant_is_missing",
      0,
    ]);
  }
});

Deno.test("an answer for each event lists every rejected one, whether this function or the database rejected it", async () => {
  const documents = Array.from({ length: 300 }, (_, n) => n < 150 ? {} : { tenant_id: "a" });
  const body = documents.map((document) => `{"create":{}}\n${JSON.stringify(document)}\n`);
  const { text, calls } = await send(body.join(""), () => undefined, { path: "/es/_bulk" });
  assert.deepEqual(calls.map(({ p_all_errors }) => p_all_errors), [true]);
  const statuses = JSON.parse(text).items.map(({ create }: { create: { status: number } }) =>
    create.status
  );
  assert.deepEqual(statuses, [...Array(150).fill(400), ...Array(150).fill(201)]);
});

Deno.test("the header can name a tenant beyond ASCII in UTF-8 or Latin-1", async () => {
  const utf8 = String.fromCharCode(...new TextEncoder().encode("münchen 東京"));
  for (const [header, tenant] of [[utf8, "münchen 東京"], ["münchen", "münchen"]]) {
    const { calls } = await send("[{}]", () => undefined, {
      headers: { "X-Logloom-Tenant": header },
    });
    assert.deepEqual(calls.map(({ p_tenant_id }) => p_tenant_id), [tenant]);
  }
});

Deno.test("each tenant is metered for its own events", async () => {
  const large = { tenant_id: "large", attrs: { a: ["x".repeat(90_000)] } };
  const small = Array.from({ length: 10 }, () => ({ tenant_id: "small", msg: "a" }));
  const body = JSON.stringify([large, ...small]);
  const { calls } = await send(body, () => undefined);
  const bytes = Object.fromEntries(calls.map(({ p_tenant_id, p_bytes }) => [p_tenant_id, p_bytes]));
  assert.ok(bytes.large > 88_000 && bytes.small < 1000, JSON.stringify(bytes));
  assert.ok(Math.abs(bytes.large + bytes.small - body.length) < 2);
});

Deno.test("the answer is not a success if nothing was stored", async () => {
  const events = '[{"tenant_id":"a"},{"tenant_id":"b"}]';
  const away = await send(
    events,
    ({ p_tenant_id }) => p_tenant_id === "a" ? overLimit : { status: 503 },
  );
  assert.deepEqual([away.status, JSON.parse(away.text)], [503, { error: databaseAway.error }]);
  assert.equal(away.headers.get("Retry-After"), "7");
  const unknown: Said = { status: 404, body: { code: "PT404", message: "no tenant" } };
  const mixed = await send(events, ({ p_tenant_id }) => p_tenant_id === "a" ? overLimit : unknown);
  const { success, ingested, rejected } = JSON.parse(mixed.text);
  assert.deepEqual([mixed.status, success, ingested, rejected], [200, false, 0, 1]);
});

Deno.test("an unreachable database is not called for each of a hundred tenants", async () => {
  const events = Array.from({ length: 100 }, (_, n) => ({ tenant_id: `t${n}` }));
  let clock = 0;
  const { now } = performance;
  performance.now = () => clock;
  try {
    const { status, calls } = await send(JSON.stringify(events), () => {
      clock += 2500;
      return { status: 503 };
    });
    assert.equal(status, 503);
    assert.ok(calls.length <= 4, String(calls.length));
  } finally {
    performance.now = now;
  }
});

Deno.test("an equal body for another tenant is not a repeat", async () => {
  const body = '{"ts":"2026-11-21T12:34:56Z","tenant_id":"a"}';
  const named = { headers: { "X-Logloom-Tenant": "a" } };
  const keys = [];
  for (const sending of [{}, named]) {
    const { calls } = await send(body, () => undefined, { path: "/lines", ...sending });
    keys.push(
      ...calls.map(({ p_tenant_id, p_idempotency_key }) => [p_tenant_id, p_idempotency_key]),
    );
  }
  assert.deepEqual(keys.map(([tenant]) => tenant), ["a", "a"]);
  assert.notEqual(keys[0][1], keys[1][1]);
});

Deno.test("events of many tenants also wake a silent writer", async () => {
  const silent: Said = { headers: { "X-Logloom-Writer": "silent" } };
  const { wakes } = await send('[{"tenant_id":"a"},{"tenant_id":"b"}]', only("b", silent));
  assert.equal(wakes, 1);
});

Deno.test("a protocol that answers for each event marks the events of a refused tenant", async () => {
  const lines = ["a", "b", "a", "c"].flatMap((
    tenant_id,
  ) => ['{"index":{}}', JSON.stringify({ tenant_id })]);
  const answer = ({ p_tenant_id }: Sent): Said | undefined =>
    p_tenant_id === "b"
      ? overLimit
      : p_tenant_id === "c"
      ? { status: 404, body: { code: "PT404", message: "no tenant" } }
      : undefined;
  const bulk = JSON.parse(
    (await send(`${lines.join("\n")}\n`, answer, { path: "/es/_bulk" })).text,
  );
  assert.deepEqual(
    bulk.items.map(({ index }: { index: { status: number } }) => index.status),
    [201, 429, 201, 400],
  );
  const ndjson = ["a", "b", "c"].map((tenant_id) => JSON.stringify({ tenant_id })).join("\n");
  const { text } = await send(ndjson, answer, { path: "/lines" });
  assert.deepEqual(JSON.parse(text), {
    success: true,
    ingested: 1,
    rejected: 2,
    errors: [
      { index: 1, code: "send_again", message: "over" },
      { index: 2, code: "tenant_is_refused", message: "no tenant" },
    ],
  });
});
