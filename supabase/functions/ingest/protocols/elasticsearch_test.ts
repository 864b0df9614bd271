import assert from "node:assert/strict";
import { receive } from "../testing_protocols.ts";
import { apiKey, startDatabase, startIngest } from "../testing.ts";

const ndjson = { "Content-Type": "application/x-ndjson" };
const time = "2026-11-21T12:34:56.789Z";

function lines(...values: unknown[]): string {
  return values.map((value) => `${typeof value === "string" ? value : JSON.stringify(value)}\n`)
    .join("");
}

interface Item {
  status: number;
  _index: string;
  result?: string;
  error?: { type: string; reason: string };
}

function itemsOf(text: string): [string, Item][] {
  return JSON.parse(text).items.map((item: Record<string, Item>) => Object.entries(item)[0]);
}

Deno.test("each action has an item of its own, in order and under its name", async () => {
  const body = lines(
    { index: { _index: "app", op_type: "create" } },
    { "@timestamp": time, log: { level: "ERROR" }, message: "a", service: { name: "shop" } },
    "",
    { create: { _index: "logs", pipeline: null }, attempts: 0 },
    { "@timestamp": time, message: "b", trace: { id: "t1" } },
    { delete: { _index: "app", _id: "1" } },
    { update: { _index: "app", _id: "1" } },
    { doc: {} },
    { create: {} },
    '"no object"',
    { index: {} },
    { message: "c" },
  );
  const { status, headers, text, events } = await receive("/es/fallback/_bulk", {
    headers: ndjson,
    body,
  });
  assert.equal(status, 200);
  assert.equal(headers.get("x-elastic-product"), "Elasticsearch");
  assert.equal(headers.get("content-type"), "application/json");
  assert.equal(JSON.parse(text).errors, true);
  assert.deepEqual(itemsOf(text).map(([action, { status, _index }]) => [action, status, _index]), [
    ["index", 201, "app"],
    ["create", 201, "logs"],
    ["delete", 400, "app"],
    ["update", 400, "app"],
    ["create", 400, "fallback"],
    ["index", 201, "fallback"],
  ]);
  assert.deepEqual(events, [
    { ts: time, level: "error", msg: "a", service: "shop", attrs: { _index: "app" } },
    { ts: time, msg: "b", req_id: "t1", attrs: { trace_id: "t1" } },
    { msg: "c", attrs: { _index: "fallback" } },
  ]);
});

Deno.test("an event that the database rejects fails only its own item", async () => {
  const body = lines({ create: {} }, { message: "a" }, { create: {} }, { message: "b" });
  const { text } = await receive("/es/_bulk", {
    method: "PUT",
    headers: ndjson,
    body,
    database: () =>
      Response.json({
        success: true,
        ingested: 1,
        rejected: 1,
        errors: [{ index: 1, code: "ts_out_of_range", message: "too old" }],
      }),
  });
  assert.deepEqual(itemsOf(text).map(([, { status }]) => status), [201, 400]);
  assert.equal(itemsOf(text)[1][1].error?.reason, "too old");
});

Deno.test("every rejected item has its error, however many there are", async () => {
  const documents = Array.from({ length: 150 }, (_, n) => ({ "@timestamp": time, n }));
  const body = lines(...documents.flatMap((document) => [{ create: {} }, document]));
  const asked: unknown[] = [];
  const { text } = await receive("/es/_bulk", {
    headers: ndjson,
    body,
    database: (request) => {
      const { p_all_errors: isAsked } = JSON.parse(request.body);
      asked.push(isAsked);
      const errors = documents.slice(0, isAsked ? 150 : 100).map((_, index) => ({
        index,
        code: "ts_out_of_range",
        message: "too old",
      }));
      return Response.json({ success: false, ingested: 0, rejected: 150, errors });
    },
  });
  assert.deepEqual(asked, [true]);
  assert.deepEqual(itemsOf(text).map(([, { status }]) => status), Array(150).fill(400));
});

Deno.test("under overload every item that was not stored is 429, after a pause", async () => {
  const line = "x".repeat(1000);
  const documents = Array.from({ length: 1500 }, (_, n) => ({ "@timestamp": time, n, line }));
  const body = lines(...documents.flatMap((document) => [{ create: {} }, document]));
  const started = performance.now();
  const { status, text } = await receive("/es/_bulk", {
    headers: ndjson,
    body,
    // All slices but the first are refused.
    database: (_, call) =>
      call === 0
        ? undefined
        : Response.json({ code: "PT429", message: "Rate limit reached" }, { status: 429 }),
  });
  assert.equal(status, 200);
  assert.ok(performance.now() - started >= 1000);
  const statuses = itemsOf(text).map(([, { status }]) => status);
  const stored = statuses.indexOf(429);
  assert.ok(stored > 100 && stored < 1000, String(stored));
  assert.deepEqual(statuses, [...Array(stored).fill(201), ...Array(1500 - stored).fill(429)]);
});

Deno.test("a temporary refusal is answered for each item, a final one for the whole request", async () => {
  const body = lines(
    { index: { _index: "app", _id: "1" } },
    { "@timestamp": time, message: "a" },
    { create: {} },
    { message: "b" },
    { delete: { _id: "2" } },
  );
  const sent = { headers: ndjson, body };
  const bySlowness = await receive("/es/_bulk", {
    ...sent,
    database: () => Response.json({ code: "PT503", message: "Queue full" }, { status: 503 }),
  });
  // A token cannot be verified while its keys cannot be fetched.
  const header = btoa('{"alg":"ES256","kid":"k"}').replaceAll("=", "");
  const token = `${header}.${
    btoa('{"tenant_id":"acme","exp":9999999999}').replaceAll("=", "")
  }.c2ln`;
  const byKeys = await receive("/es/_bulk", {
    ...sent,
    credentials: { Authorization: `Bearer ${token}` },
  });
  for (const { status, headers, text, events } of [bySlowness, byKeys]) {
    assert.deepEqual([status, headers.get("x-elastic-product")], [200, "Elasticsearch"], text);
    assert.equal(JSON.parse(text).errors, true);
    assert.deepEqual(itemsOf(text).map(([action, { status }]) => [action, status]), [
      ["index", 429],
      ["create", 429],
      ["delete", 400],
    ]);
    assert.equal(itemsOf(text)[0][1].error?.type, "es_rejected_execution_exception");
    assert.equal(events.length <= 2, true);
  }
  for (const broken of ["nonsense\n", lines({ create: {} })]) {
    const answer = await receive("/es/_bulk", { headers: ndjson, body: broken });
    assert.equal(answer.status, 400);
  }
});

Deno.test("a remembered rate limit refusal is answered for each item, without asking the database", async () => {
  const body = lines({ create: {} }, { message: "a" }, { create: {} }, { message: "b" });
  const hold = { seconds: 9, retry_after: 9, limit: "5", error: "Rate limit reached" };
  await using peer = startDatabase(() =>
    Response.json({ code: "PT429", message: "Rate limit reached" }, {
      status: 429,
      headers: { "Retry-After": "9", "X-Logloom-Hold": JSON.stringify(hold) },
    })
  );
  await using ingest = startIngest(peer.url);
  for (let n = 0; n < 2; n++) {
    const answer = await fetch(`${ingest.url}/es/_bulk`, {
      method: "POST",
      headers: { ...ndjson, "X-API-Key": apiKey },
      body,
    });
    assert.equal(answer.status, 200);
    assert.deepEqual(itemsOf(await answer.text()).map(([, { status }]) => status), [429, 429]);
  }
  assert.equal(peer.requests.length, 1);
});

Deno.test("clients get the greeting that they expect, without a key", async () => {
  const accept = { Accept: "application/vnd.elasticsearch+json; compatible-with=9" };
  const greetings: [string, string, number][] = [
    ["GET", "/es", 200],
    ["HEAD", "/es/", 200],
    ["GET", "/es/_cluster/health", 200],
    ["GET", "/es/_license", 200],
    ["GET", "/es/_nodes/http?filter_path=x", 200],
    ["HEAD", "/es/_index_template/logs", 200],
    ["PUT", "/es/_index_template/logs", 200],
    ["PUT", "/es/_template/logs", 200],
    ["PUT", "/es/_ilm/policy/filebeat", 200],
    ["PUT", "/es/_ingest/pipeline/x", 200],
    ["GET", "/es/_search", 404],
  ];
  for (const [method, path, expected] of greetings) {
    const { status, headers } = await receive(path, { method, headers: accept, credentials: {} });
    assert.equal(status, expected, path);
    assert.equal(headers.get("x-elastic-product"), "Elasticsearch");
    assert.equal(headers.get("content-type"), accept.Accept);
  }
  const product = JSON.parse((await receive("/es", { method: "GET" })).text);
  assert.deepEqual([product.tagline, product.version.build_flavor], [
    "You Know, for Search",
    "default",
  ]);
});

Deno.test("failures of the whole request are in Elasticsearch's form", async () => {
  const cases: [string, Record<string, string> | undefined, number, string][] = [
    [lines({ create: {} }, { a: 1 }), {}, 401, "security_exception"],
    [lines({ create: {} }, { a: 1 }), { Authorization: "ApiKey x" }, 401, "security_exception"],
    ["nonsense\n", undefined, 400, "illegal_argument_exception"],
    [lines({ create: {} }), undefined, 400, "illegal_argument_exception"],
    [lines({ drop: {} }, { a: 1 }), undefined, 400, "illegal_argument_exception"],
    ["x".repeat(9_000_000), undefined, 413, "content_too_long_exception"],
  ];
  for (const [body, credentials, status, type] of cases) {
    const answer = await receive("/es/_bulk", { headers: ndjson, body, credentials });
    assert.deepEqual([answer.status, JSON.parse(answer.text).error.type], [status, type]);
  }
});

Deno.test("a document in a request of its own is stored", async () => {
  const { status, text, events } = await receive("/es/app/_doc", {
    headers: { "Content-Type": "application/json" },
    body: '{"message":"a"}',
  });
  assert.deepEqual([status, JSON.parse(text).result], [201, "created"]);
  assert.deepEqual(events, [{ msg: "a", attrs: { _index: "app" } }]);
});
