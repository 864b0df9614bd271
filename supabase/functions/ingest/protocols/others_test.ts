import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { maxEventBytes, receive } from "../testing_protocols.ts";
import { apiKey } from "../testing.ts";

const json = { "Content-Type": "application/json" };
const time = "2026-11-21T12:34:56.789Z";
const ms = Date.parse(time);

Deno.test("GELF: levels of syslog, fields with an underscore, several objects a request", async () => {
  const event = {
    version: "1.1",
    host: "web-1",
    short_message: "declined",
    full_message: "declined\nat pay",
    timestamp: ms / 1000,
    level: 3,
    _user_id: "u1",
    _region: "eu",
    _host: "kept apart",
  };
  const { status, text, events } = await receive("/gelf", {
    body: JSON.stringify(event) + JSON.stringify({ short_message: "two", level: 6 }),
  });
  assert.deepEqual([status, text], [202, ""]);
  assert.deepEqual(events, [
    {
      ts: "2026-11-21T12:34:56.789Z",
      level: "error",
      msg: "declined",
      user_id: "u1",
      host: "web-1",
      attrs: {
        full_message: "declined\nat pay",
        region: "eu",
        _host: "kept apart",
        original_level: 3,
      },
    },
    { level: "info", msg: "two", attrs: { original_level: 6 } },
  ]);
});

Deno.test("Datadog: tags are split, its names are known, a wrong key is 403", async () => {
  const body = JSON.stringify([{
    message: "declined",
    status: "error",
    service: "shop",
    hostname: "web-1",
    ddsource: "nodejs",
    ddtags: "env:prod,version:1.2,team:pay,canary,team:ops",
    timestamp: ms,
    dd: { trace_id: "7" },
    usr: { id: "u1" },
  }]);
  const credentials = { "DD-API-KEY": apiKey };
  const { status, text, events } = await receive("/api/v2/logs", {
    headers: json,
    body,
    credentials,
  });
  assert.deepEqual([status, text], [202, "{}"]);
  assert.deepEqual(events, [{
    ts: time,
    level: "error",
    msg: "declined",
    service: "shop",
    env: "prod",
    req_id: "7",
    user_id: "u1",
    host: "web-1",
    attrs: {
      ddsource: "nodejs",
      ddtags: { team: ["pay", "ops"], canary: true },
      version: "1.2",
      trace_id: "7",
    },
  }]);
  const v1 = await receive(`/v1/input/${apiKey}`, { headers: json, body, credentials: {} });
  assert.equal(v1.status, 200);
  const wrong = await receive("/api/v2/logs", { body, credentials: { "DD-API-KEY": "nonsense" } });
  assert.equal(wrong.status, 403);
  assert.equal(JSON.parse(wrong.text).errors[0].status, "403");
  assert.equal((await receive("/api/v2/logs", { body, credentials: {} })).status, 401);
});

Deno.test("Axiom: NDJSON or an array, a named time field, and an answer that says how many were ingested", async () => {
  for (
    const [path, body] of [
      ["/v1/ingest/shop", `{"_time":"${time}","level":"warn","msg":"slow"}\n`],
      ["/v1/datasets/shop/ingest", `[{"_time":"${time}","level":"warn","message":"slow"}]`],
      ["/v1/ingest/shop?timestamp-field=at", `[{"at":${ms},"level":"warn","message":"slow"}]`],
    ]
  ) {
    const { status, text, events } = await receive(path, { headers: json, body });
    assert.equal(status, 200);
    const { ingested, failed } = JSON.parse(text);
    assert.deepEqual([ingested, failed], [1, 0]);
    assert.deepEqual(events, [
      { ts: time, level: "warn", msg: "slow", attrs: { dataset: "shop" } },
    ]);
  }
});

Deno.test("Logflare: a batch of messages with metadata", async () => {
  const body = JSON.stringify({
    batch: [{ message: "hello", timestamp: ms, metadata: { level: "error", context: { pid: 7 } } }],
  });
  // pino-logflare drops the path of its address, so a proxy leads to `/logs`.
  for (const path of ["/logflare/logs", "/logflare/api/logs", "/logs", "/api/logs"]) {
    const { status, text, events } = await receive(`${path}?source=abc`, { headers: json, body });
    assert.deepEqual([status, text], [200, '{"message":"Logged!"}']);
    assert.deepEqual(events, [
      { ts: time, level: "error", msg: "hello", attrs: { context: { pid: 7 } } },
    ]);
  }
});

Deno.test("LogDNA: the key as the user of Basic credentials, lines with their meta", async () => {
  const { status, events } = await receive("/logs/ingest?hostname=web-1&tags=a,b", {
    headers: json,
    credentials: { Authorization: `Basic ${btoa(`${apiKey}:`)}` },
    body: JSON.stringify({
      lines: [{ line: "hi", timestamp: ms, level: "WARN", app: "shop", meta: '{"n":1}' }],
    }),
  });
  assert.equal(status, 200);
  assert.deepEqual(events, [{
    ts: time,
    level: "warn",
    msg: "hi",
    service: "shop",
    host: "web-1",
    attrs: { meta: { n: 1 }, tags: ["a", "b"] },
  }]);
});

// @logdna/logger 2.6 sends its key only in this header, and its lines under another name.
Deno.test("LogDNA: requests of its own client, with JSON in lines split into members", async () => {
  const line = { timestamp: ms, level: "INFO", app: "shop", meta: "{}" };
  const { status, text, events } = await receive("/logs/ingest?hostname=web-1&now=1&tags=", {
    headers: { "Content-Type": "application/json; charset=UTF-8" },
    credentials: { apikey: apiKey },
    body: JSON.stringify({
      e: "ls",
      ls: [
        { ...line, line: "hi", env: "prod" },
        { ...line, line: '{"level":"error","msg":"declined","order":7,"app":"pay"}' },
        { ...line, level: "WARN", line: '{"message":"slow"}' },
        { ...line, line: "{not JSON}" },
      ],
    }),
  });
  assert.deepEqual([status, text], [200, '{"status":"ok"}']);
  const common = { ts: time, service: "shop", host: "web-1" };
  assert.deepEqual(events, [
    { ...common, level: "info", msg: "hi", env: "prod", attrs: { meta: {} } },
    { ...common, level: "error", msg: "declined", service: "pay", attrs: { order: 7, meta: {} } },
    { ...common, level: "warn", msg: "slow", attrs: { meta: {} } },
    { ...common, level: "info", msg: "{not JSON}", attrs: { meta: {} } },
  ]);
});

Deno.test("the header apikey is Supabase's, except for a Logloom key at LogDNA's path", async () => {
  const body = '{"lines":[{"line":"a"}]}';
  const anon = { apikey: "eyJhbGciOiJIUzI1NiJ9.e30.x" };
  assert.equal((await receive("/logs/ingest", { body, credentials: anon })).status, 401);
  const own = { apikey: apiKey };
  assert.equal((await receive("/logs/ingest", { body, credentials: own })).status, 200);
  assert.equal((await receive("/gelf", { body, credentials: own })).status, 401);
  const both = { ...own, Authorization: "Bearer nonsense" };
  assert.equal((await receive("/logs/ingest", { body, credentials: both })).status, 401);
});

// pino-datadog-transport 3.0: the whole line of pino as the text of the message.
Deno.test("Datadog: members of JSON inside a message win over the event's other members", async () => {
  const message = JSON.stringify({
    level: "error",
    pid: 7,
    hostname: "web-1",
    msg: "declined",
    order: 7,
    date: ms,
  });
  const { status, events } = await receive("/api/v2/logs", {
    headers: json,
    body: JSON.stringify([
      { message, ddsource: "nodejs", ddtags: "env:prod,team:pay", service: "shop", status: "info" },
      { message: '{"msg":"slow"}', status: "warn" },
      { message: '{"msg":"odd"}', status: "200" },
      { message: "{no JSON", status: "warn" },
    ]),
  });
  assert.equal(status, 202);
  assert.deepEqual(events, [
    {
      ts: time,
      level: "error",
      msg: "declined",
      service: "shop",
      env: "prod",
      host: "web-1",
      attrs: { pid: 7, order: 7, ddsource: "nodejs", ddtags: { team: "pay" } },
    },
    { level: "warn", msg: "slow" },
    { msg: "odd", attrs: { status: "200" } },
    { level: "warn", msg: "{no JSON" },
  ]);
});

Deno.test("Datadog's tags in other protocols: env becomes a field, and the tags stay unchanged", async () => {
  const tags = "team:pay, env:qa,env:other";
  const event = { msg: "a", ddtags: tags };
  const expected = [{ msg: "a", env: "qa", attrs: { ddtags: tags } }];
  for (const path of ["", "/lines", "/gelf"]) {
    const { events } = await receive(path, { headers: json, body: JSON.stringify(event) });
    assert.deepEqual(events, expected, path);
  }
  const logfmt = await receive("/lines", { body: "msg=a ddtags=env:qa" });
  assert.deepEqual(logfmt.events, [{ msg: "a", env: "qa", attrs: { ddtags: "env:qa" } }]);
  const { events } = await receive("", {
    headers: json,
    body: JSON.stringify([
      { msg: "a", env: "own", ddtags: tags },
      { msg: "a", ddtags: "team:pay,environment:x" },
      { msg: "a", ddtags: "env:" },
      { msg: "a", ddtags: ["env:qa"] },
    ]),
  });
  assert.deepEqual(events.map(({ env }) => env), ["own", undefined, undefined, undefined]);
});

Deno.test("Better Stack: MessagePack with its times, or JSON", async () => {
  // [{dt: timestamp64, level: "warn", message: "slow", n: -1, big: 2^53+1, list: [nil, true, 1.5]}]
  const seconds = BigInt(Math.floor(ms / 1000));
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE((789_000_000n << 34n) | seconds);
  const text = (value: string) =>
    Buffer.concat([Buffer.from([0xa0 | value.length]), Buffer.from(value)]);
  const big = Buffer.alloc(9);
  big[0] = 0xcf;
  big.writeBigUInt64BE(9007199254740993n, 1);
  const half = Buffer.alloc(9);
  half[0] = 0xcb;
  half.writeDoubleBE(1.5, 1);
  const packed = Buffer.concat([
    Buffer.from([0x91, 0x86]),
    ...[text("dt"), Buffer.from([0xd7, 0xff]), stamp, text("level"), text("warn")],
    ...[text("message"), text("slow"), text("n"), Buffer.from([0xff]), text("big"), big],
    ...[text("list"), Buffer.from([0x93, 0xc0, 0xc3]), half],
  ]);
  const { status, events } = await receive("/betterstack", {
    headers: { "Content-Type": "application/msgpack" },
    body: new Uint8Array(packed),
  });
  assert.equal(status, 202);
  assert.deepEqual(events, [{
    ts: time.replace("789Z", "789000Z"),
    level: "warn",
    msg: "slow",
    attrs: { n: -1, big: 9007199254740992, list: [null, true, 1.5] },
  }]);
  const plain = await receive("/betterstack", { headers: json, body: '[{"message":"a"}]' });
  assert.deepEqual([plain.status, plain.events], [202, [{ msg: "a" }]]);
});

Deno.test("Better Stack: a name in MessagePack may be a number of 64 bits", async () => {
  const text = [0xa1, 0x78];
  const unsigned = [0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0];
  const signed = [0xd3, 0x80, 0, 0, 0, 0, 0, 0, 0];
  // {x: {-2^63: "x"}, 2^63: "x"}
  const { status, events } = await receive("/betterstack", {
    headers: { "Content-Type": "application/msgpack" },
    body: new Uint8Array([0x82, ...text, 0x81, ...signed, ...text, ...unsigned, ...text]),
  });
  assert.equal(status, 202);
  assert.deepEqual(events, [{
    attrs: { x: { "-9223372036854775808": "x" }, "9223372036854775808": "x" },
  }]);
});

Deno.test("HEC: objects one after another, whatever the content type says", async () => {
  const body =
    `{"time":${ms / 1000},"host":"web-1","source":"app","event":{"message":{"msg":"a"},` +
    `"severity":"error"}} {"time":"${
      ms / 1000
    }","event":"text","fields":{"region":"eu"}}\n{"event":1}`;
  for (const path of ["", "/event", "/event/1.0"]) {
    const { status, text, events } = await receive(`/services/collector${path}`, {
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      credentials: { Authorization: `Splunk ${apiKey}` },
      body,
    });
    assert.deepEqual([status, text], [200, '{"text":"Success","code":0}']);
    assert.deepEqual(
      events,
      [
        { ts: time, level: "error", msg: "a", host: "web-1", attrs: { source: "app" } },
        { ts: time, msg: "text", attrs: { region: "eu" } },
        { msg: "1" },
      ].map((event) => event.ts ? { ...event, ts: "2026-11-21T12:34:56.789Z" } : event),
    );
  }
  const raw = await receive("/services/collector/raw?host=web-1", { body: "one\n\ntwo\n" });
  assert.deepEqual(raw.events.map(({ msg, host }) => [msg, host]), [
    ["one", "web-1"],
    ["two", "web-1"],
  ]);
  const query = "source=app.log&sourcetype=pay&index=main&host=web-1";
  const described = await receive(`/services/collector/raw/1.0?${query}`, {
    body: 'one\n{"msg":"two","source":"own"}\n',
  });
  assert.deepEqual(described.events.map(({ msg, host, attrs }) => [msg, host, attrs]), [
    ["one", "web-1", { source: "app.log", sourcetype: "pay", index: "main" }],
    ["two", "web-1", { source: "own", sourcetype: "pay", index: "main" }],
  ]);
});

Deno.test("HEC: faults have Splunk's codes, and readable events are stored", async () => {
  const cases: [string, Record<string, string> | undefined, number, unknown][] = [
    ["", undefined, 400, { text: "No data", code: 5 }],
    ["{", undefined, 400, { text: "Invalid data format", code: 6, "invalid-event-number": 0 }],
    ["{}", undefined, 400, {
      text: "Event field is required",
      code: 12,
      "invalid-event-number": 0,
    }],
    ['{"event":"a"}', {}, 401, {
      text: "Token is required: No API key or token: send the key as X-API-Key, or as " +
        "Authorization: Bearer",
      code: 2,
    }],
    ['{"event":"a"}', { Authorization: "Splunk 'x'" }, 403, {
      text: "Invalid token: The key is in quotes: send it without them",
      code: 4,
    }],
    ['{"event":"a"}{"even":"b"}', undefined, 200, {
      text: "Success",
      code: 0,
      "invalid-event-number": 1,
    }],
  ];
  for (const [body, credentials, status, said] of cases) {
    const answer = await receive("/services/collector", { body, credentials });
    assert.deepEqual([answer.status, JSON.parse(answer.text)], [status, said], body);
  }
  const health = await receive("/services/collector/health", { method: "GET", credentials: {} });
  assert.deepEqual([health.status, health.text], [200, '{"text":"HEC is healthy","code":17}']);
  const ack = await receive("/services/collector/ack", { body: "{}" });
  assert.deepEqual([ack.status, JSON.parse(ack.text).code], [400, 14]);
});

Deno.test("protocols without a fixed error body name why a key was refused", async () => {
  const error = "Invalid token, API key, or missing tenant_id";
  const why = `${error}: The key is in quotes: send it without them`;
  const security = { type: "security_exception", reason: why };
  const cases: [string, number, unknown][] = [
    ["/v1/ingest/logs", 401, { message: why }],
    ["/v1/logs", 401, { message: why }],
    ["/logflare/logs", 401, { error: why, message: why }],
    ["/es/_bulk", 401, { error: security, status: 401 }],
    ["/api/v2/logs", 403, { errors: [{ status: "403", title: "Forbidden", detail: why }] }],
    ...["/betterstack", "/gelf", "/logs/ingest", "/lines", "/drain/vercel"]
      .map((path): [string, number, unknown] => [path, 401, { error: why }]),
    ["", 401, { error }],
  ];
  const credentials = { "X-API-Key": `"${apiKey}"` };
  for (const [path, status, said] of cases) {
    const answer = await receive(path, { headers: json, body: "{}", credentials });
    assert.deepEqual([answer.status, JSON.parse(answer.text)], [status, said], path);
  }
  const loki = await receive("/loki/api/v1/push", { headers: json, body: "{}", credentials });
  assert.deepEqual([loki.status, loki.text], [401, why]);
});

Deno.test("HEC: the text of event.message.event, and JSON in a text", async () => {
  const { events } = await receive("/services/collector", {
    body: [
      { event: { message: { event: "declined", order: 7 }, severity: "error" } },
      { event: { event: "declined", severity: "error" } },
      { event: { message: { event: "signup", msg: "welcome" } } },
      { event: { message: "slow", event: "timer" } },
      { event: '{"level":"warn","msg":"slow"}', source: "app" },
    ].map((event) => JSON.stringify(event)).join("\n"),
  });
  assert.deepEqual(events, [
    { level: "error", msg: "declined", attrs: { order: 7 } },
    { level: "error", msg: "declined" },
    { msg: "welcome", attrs: { event: "signup" } },
    { msg: "slow", attrs: { event: "timer" } },
    { level: "warn", msg: "slow", attrs: { source: "app" } },
  ]);
});

Deno.test("lines: NDJSON, logfmt, and text with its time and level", async () => {
  const body = [
    '{"message":"a","severity":"error"}',
    "",
    '{"msg":"b"}{"msg":"c"}',
    '{"broken',
    "plain text",
    "2026-11-21T12:34:56.789Z ERROR it broke",
    "[2026-11-21 12:34:56,789] [warn] slow",
    'ts=2026-11-21T12:34:56.789Z level=warn msg="it is slow" took=3ms',
    "",
  ].join("\r\n");
  const expected = [
    { msg: "a", level: "error" },
    { msg: "b" },
    { msg: "c" },
    { msg: '{"broken' },
    { msg: "plain text" },
    { ts: time, msg: "2026-11-21T12:34:56.789Z ERROR it broke", level: "error" },
    { ts: time, msg: "[2026-11-21 12:34:56,789] [warn] slow", level: "warn" },
    { ts: time, msg: "it is slow", level: "warn", attrs: { took: "3ms" } },
  ].map((event) => ({ ...event, service: "shop" }));
  const types: [string, Record<string, string>][] = [
    ["", { "Content-Type": "application/x-ndjson" }],
    ["", { "Content-Type": "application/jsonl" }],
    ["", { "Content-Type": "text/plain" }],
    ["", json],
    ["/lines", {}],
  ];
  for (const [path, headers] of types) {
    const { status, events } = await receive(`${path}?service=shop`, { headers, body });
    assert.equal(status, 200);
    assert.deepEqual(events, expected, `${path} ${headers["Content-Type"]}`);
  }
  const broken = await receive("", { headers: { "Content-Type": "text/plain" }, body: '{"a":' });
  assert.deepEqual([broken.status, broken.text], [
    400,
    '{"error":"Invalid JSON at line 1, column 6: it ends early"}',
  ]);
  const many = await receive("/lines", { body: "x\n".repeat(20_001) });
  assert.equal(many.status, 413);
});

Deno.test("credentials are read in all forms that senders use", async () => {
  const basic = (pair: string) => ({ Authorization: `Basic ${btoa(pair)}` });
  const forms: [string, Record<string, string>][] = [
    ["", { "X-API-Key": apiKey }],
    ["", { "DD-API-KEY": apiKey }],
    ["", { Authorization: `Bearer ${apiKey}` }],
    ["", { Authorization: apiKey }],
    ["", basic(`anyone:${apiKey}`)],
    ["", basic(`${apiKey}:`)],
    ["", { Authorization: `Splunk ${apiKey}` }],
    ["", { Authorization: `ApiKey ${apiKey}` }],
    ["", { Authorization: `ApiKey ${btoa(`id:${apiKey}`)}` }],
    ...["api_key", "apikey", "token", "dd-api-key", "DD-API-KEY"].map(
      (name): [string, Record<string, string>] => [`?${name}=${apiKey}`, {}],
    ),
  ];
  for (const [query, credentials] of forms) {
    const { status } = await receive(`/lines${query}`, { body: "a", credentials });
    assert.equal(status, 200, `${query} ${JSON.stringify(credentials)}`);
  }
  const none = await receive("/lines", { body: "a", credentials: { apikey: apiKey } });
  assert.equal(none.status, 401);
  const first = await receive(`/lines?api_key=${apiKey}`, {
    body: "a",
    credentials: { Authorization: "Bearer nonsense" },
  });
  assert.equal(first.status, 401);
});

Deno.test("lines and drains answer like native JSON, also for several slices", async () => {
  const refused = [{ index: 0, code: "ts_out_of_range", message: "too old" }];
  const database = (ingested: number, errors: readonly unknown[]) => () =>
    Response.json({ success: ingested > 0, ingested, rejected: errors.length, errors });
  for (const path of ["", "/lines", "/drain/supabase", "/drain/cloudflare"]) {
    for (const ingested of [0, 1]) {
      const { status, text } = await receive(path, {
        headers: json,
        body: '[{"ts":1,"msg":"a"}]',
        database: database(ingested, refused),
      });
      assert.deepEqual([status, JSON.parse(text)], [200, {
        success: ingested > 0,
        ingested,
        rejected: 1,
        errors: refused,
      }], path);
    }
  }
  const many = Array.from({ length: 100 }, () => refused[0]);
  for (const path of ["?host=a", "/lines"]) {
    const { text } = await receive(path, {
      headers: { "Content-Type": "application/x-ndjson" },
      body: '{"msg":"a"}\n'.repeat(10_001),
      database: database(0, many),
    });
    assert.deepEqual(JSON.parse(text), {
      success: false,
      ingested: 0,
      rejected: 200,
      errors: many,
    });
  }
});

Deno.test("a path without a receiver is 404, whatever the request has", async () => {
  for (const path of ["/nope", "/v1", "/v1/logs/x", "/drain/unknown", "/drain", "/ingest"]) {
    const { status, text } = await receive(path, { body: "[{}]" });
    assert.deepEqual([status, text], [404, `{"error":"No receiver at this path: ${path}"}`]);
  }
  assert.equal((await receive("/", { headers: json, body: "[{}]" })).status, 200);
});

Deno.test("the longest texts of a record that is too long are cut, in every protocol", async () => {
  const long = "x".repeat(6_000_000);
  const line = await receive("/lines", { body: long, headers: { "Content-Type": "text/plain" } });
  assert.deepEqual(JSON.parse(line.text), { success: true, ingested: 1, rejected: 0, cut: 1 });
  const [{ msg, attrs }] = line.events as { msg: string; attrs: unknown }[];
  assert.ok(msg.length > 0.9 * maxEventBytes && msg.length < maxEventBytes);
  assert.equal(msg, long.slice(0, msg.length));
  assert.deepEqual(attrs, { logloom_cut: { msg: 6_000_000 } });

  const deep = await receive("/api/v2/logs", {
    headers: json,
    body: JSON.stringify([{ message: "m", error: { stack: [long] }, note: "n" }, { message: "m" }]),
  });
  assert.equal(deep.status, 202, deep.text);
  const [cut, whole] = deep.events as { msg: string; attrs: Record<string, unknown> }[];
  const { stack } = cut.attrs.error as { stack: string[] };
  assert.deepEqual(cut, {
    msg: "m",
    attrs: {
      error: { stack: [long.slice(0, stack[0].length)] },
      note: "n",
      logloom_cut: { "attrs.error.stack.0": 6_000_000 },
    },
  });
  assert.deepEqual(whole, { msg: "m" });
});

Deno.test("a record that the database finds too long is cut and sent again, once", async () => {
  const body = `${"y".repeat(70_000)}\nz`;
  for (const accepts of [1, 2]) {
    let refused = 0;
    const answer = await receive("/lines", {
      body,
      headers: { "Content-Type": "text/plain" },
      database: ({ body }) => {
        const sent = JSON.parse(body);
        if (sent.p_ts === undefined) return Response.json({ max_event_bytes: 65_536 });
        if (sent.p_cut === accepts) return undefined;
        refused++;
        return Response.json({ code: "PT413", message: "A record is longer" }, { status: 413 });
      },
    });
    if (accepts === 2) {
      assert.deepEqual([answer.status, refused], [413, 2]);
      continue;
    }
    assert.deepEqual([answer.status, refused], [200, 1]);
    assert.deepEqual(JSON.parse(answer.text), { success: true, ingested: 2, rejected: 0, cut: 1 });
    const [long, short] = answer.events.slice(-2) as { msg: string; attrs?: unknown }[];
    assert.equal(long.msg, "y".repeat(long.msg.length));
    assert.deepEqual(long.attrs, { logloom_cut: { msg: 70_000 } });
    assert.deepEqual(short, { msg: "z" });
  }
});

Deno.test("a record that the database finds to have too many values is cut to the database's limit", async () => {
  const { status, events } = await receive("/lines", {
    body: JSON.stringify({ n: Array(9000).fill(1) }),
    headers: { "Content-Type": "application/x-ndjson" },
    database: ({ body }) => {
      const sent = JSON.parse(body);
      if (sent.p_ts === undefined) {
        return Response.json({ max_event_bytes: 65_536, max_event_values: 4096 });
      }
      if (sent.p_cut === 1) return undefined;
      return Response.json({ code: "PT413", message: "A record has more" }, { status: 413 });
    },
  });
  assert.equal(status, 200);
  const { n, logloom_cut } = events.at(-1)?.attrs as Record<string, number[]>;
  assert.deepEqual(logloom_cut, { "attrs.n": 9000 });
  assert.ok(n.length > 3800 && n.length < 4096, String(n.length));
});

Deno.test("JSON over several lines is read, and a list alone in one member (logs, events)", async () => {
  const events = [{ msg: "a" }, { msg: "b" }];
  const pretty = JSON.stringify(events, null, 2);
  const bodies = [
    pretty,
    JSON.stringify({ logs: events }),
    JSON.stringify({ events }),
    JSON.stringify({ events }, null, 2),
    JSON.stringify({ logs: events }, null, 2),
    events.map((event) => JSON.stringify(event, null, 2)).join("\n"),
    `[{"msg":"a"},\n{"msg":"b"}]`,
    `[{"msg":"a"}\n,{"msg":"b"}]`,
  ];
  const ndjson = { "Content-Type": "application/x-ndjson" };
  for (const body of bodies) {
    for (const [path, headers] of [["", ndjson], ["/lines", {}]] as const) {
      const received = await receive(path, { headers, body });
      assert.deepEqual([received.status, received.events], [200, events], body);
    }
  }
  for (const body of [JSON.stringify({ events }), JSON.stringify({ logs: events })]) {
    assert.deepEqual((await receive("", { headers: json, body })).events, events, body);
  }
  // A list beside other members, or without objects, is an attribute.
  for (const attrs of [{ events, n: 1 }, { events: [1] }, { events: 2 }]) {
    const received = await receive("", { headers: json, body: JSON.stringify(attrs) });
    assert.deepEqual(received.events, [{ attrs }]);
  }
});

Deno.test("a NaN rejects its own line, or the whole array with a hint", async () => {
  const headers = { "Content-Type": "application/x-ndjson" };
  const lines = await receive("", { headers, body: '{"msg":"a"}\n{"n":NaN}\n{"msg":"b"}' });
  assert.deepEqual(lines.events, [{ msg: "a" }, { msg: '{"n":NaN}' }, { msg: "b" }]);
  const refusal = "NaN is not JSON: use null. No event of the array was stored. As " +
    "application/x-ndjson, one event a line, only a faulty event would be rejected";
  const array = await receive("", { headers: json, body: '[{"msg":"a"},{"n":NaN}]' });
  assert.deepEqual([array.status, JSON.parse(array.text)], [400, {
    error: `Invalid JSON at line 1, column 19: ${refusal}`,
  }]);
  const pretty = await receive("", { headers, body: '[\n  {"msg":"a"},\n  {"n":NaN}\n]' });
  assert.deepEqual([pretty.status, JSON.parse(pretty.text)], [400, {
    error: `Invalid JSON at line 3, column 8: ${refusal}`,
  }]);
  assert.deepEqual([...array.events, ...pretty.events], []);
});
