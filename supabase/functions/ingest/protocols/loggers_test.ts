import assert from "node:assert/strict";
import { receive } from "../testing_protocols.ts";

const json = { "Content-Type": "application/json" };
const ts = "2026-11-21T12:34:56.789Z";
const micros = "2026-11-21T12:34:56.789000Z";

/** Events as loggers write them by default, and their records. */
const written: readonly (readonly [by: string, event: object, record: object])[] = [
  ["Monolog", {
    message: "declined",
    context: { id: 7 },
    level: 400,
    level_name: "ERROR",
    channel: "app",
    datetime: "2026-11-21T14:34:56.789+02:00",
  }, {
    ts,
    level: "error",
    msg: "declined",
    attrs: { context: { id: 7 }, channel: "app", level_name: "ERROR", original_level: 400 },
  }],
  ["journald", {
    __REALTIME_TIMESTAMP: "1795264496789000",
    MESSAGE: [100, 233, 99, 108, 105, 110, 101, 100],
    PRIORITY: "3",
    SYSLOG_IDENTIFIER: "shop",
    _HOSTNAME: "web-1",
  }, {
    ts: micros,
    level: "error",
    msg: "d\ufffdclined",
    service: "shop",
    host: "web-1",
    attrs: { original_level: "3" },
  }],
  ["PostgreSQL jsonlog", {
    timestamp: "2026-11-21 12:34:56.789 UTC",
    pid: 7,
    error_severity: "FATAL",
    message: "declined",
  }, { ts, level: "error", msg: "declined", attrs: { pid: 7, original_level: "FATAL" } }],
  ["PostgreSQL jsonlog", { error_severity: "LOG", message: "ready" }, {
    level: "info",
    msg: "ready",
    attrs: { original_level: "LOG" },
  }],
  [".NET JsonConsole", {
    Timestamp: ts,
    EventId: 1,
    LogLevel: "Warning",
    Category: "App.Pay",
    Message: "slow",
    State: { Id: 7 },
  }, {
    ts,
    level: "warn",
    msg: "slow",
    attrs: { EventId: 1, Category: "App.Pay", State: { Id: 7 }, original_level: "Warning" },
  }],
  ["Serilog CLEF", {
    "@t": ts,
    "@mt": "{User} paid {Amount:0.00} for {@Cart} {Missing} {{x}}",
    "@l": "Error",
    User: "ann",
    Amount: 7.5,
    Cart: { n: 1 },
  }, {
    ts,
    level: "error",
    msg: 'ann paid 7.5 for {"n":1} {Missing} {x}',
    attrs: {
      "@mt": "{User} paid {Amount:0.00} for {@Cart} {Missing} {{x}}",
      User: "ann",
      Amount: 7.5,
      Cart: { n: 1 },
    },
  }],
  ["Serilog CLEF, rendered", { "@t": ts, "@m": "started", "@i": "1" }, {
    ts,
    level: "info",
    msg: "started",
    attrs: { "@i": "1" },
  }],
  ["Serilog JSON", { Timestamp: ts, Level: "Fatal", RenderedMessage: "declined" }, {
    ts,
    level: "error",
    msg: "declined",
    attrs: { original_level: "Fatal" },
  }],
  ["Rust tracing", {
    timestamp: ts,
    level: "ERROR",
    fields: { message: "declined", id: 7 },
    target: "shop::pay",
  }, { ts, level: "error", msg: "declined", attrs: { fields: { id: 7 }, target: "shop::pay" } }],
  ["Go slog", { time: ts, level: "ERROR+4", msg: "declined" }, {
    ts,
    level: "error",
    msg: "declined",
    attrs: { original_level: "ERROR+4" },
  }],
  ["a padded level", { level: "WARN ", msg: "slow" }, { level: "warn", msg: "slow" }],
  ["zap", { level: "dpanic", ts: 1795264496.789, msg: "declined" }, {
    ts,
    level: "error",
    msg: "declined",
    attrs: { original_level: "dpanic" },
  }],
  ["log15", { t: "2026-11-21T14:34:56.789+0200", lvl: "eror", msg: "declined" }, {
    ts,
    level: "error",
    msg: "declined",
    attrs: { original_level: "eror" },
  }],
  ["a level nobody knows, and a status", { level: "loud", status: "ok", msg: "a" }, {
    msg: "a",
    attrs: { original_level: "loud", status: "ok" },
  }],
];

Deno.test("events of loggers keep time, level and message", async () => {
  const body = JSON.stringify(written.map(([, event]) => event));
  const { events } = await receive("", { headers: json, body });
  for (const [n, [by, , record]] of written.entries()) assert.deepEqual(events[n], record, by);
});

Deno.test("an invocation of a Cloudflare Worker becomes its request, its logs and its exceptions", async () => {
  const ms = Date.parse(ts);
  const trace = {
    EventTimestampMs: ms,
    ScriptName: "pay",
    Outcome: "exception",
    EventType: "fetch",
    Event: {
      RayID: "ray1",
      Request: { URL: "https://shop.example/pay?id=7", Method: "POST" },
      Response: { Status: 500 },
    },
    Logs: [
      { Level: "log", Message: ["declined", { id: 7 }], TimestampMs: ms },
      { Level: "warn", Message: ["slow"], TimestampMs: ms },
    ],
    Exceptions: [{ Name: "TypeError", Message: "x is null", Stack: "at a", TimestampMs: ms }],
  };
  const { status, events } = await receive("/drain/cloudflare", {
    body: `${JSON.stringify(trace)}\n`,
  });
  const shared = { ts, service: "pay", req_id: "ray1", route: "/pay" };
  const { Logs: _logs, Exceptions: _exceptions, ...invocation } = trace;
  const { EventTimestampMs: _ms, ScriptName: _name, ...attrs } = invocation;
  assert.equal(status, 200);
  assert.deepEqual(
    events.map(({ attrs: _, ...fields }) => fields),
    [
      { ...shared, level: "error", msg: "POST https://shop.example/pay?id=7 500 exception" },
      { ...shared, level: "info", msg: 'declined {"id":7}' },
      { ...shared, level: "warn", msg: "slow" },
      { ...shared, level: "error", msg: "TypeError: x is null" },
    ],
  );
  assert.deepEqual((events[0].attrs as typeof attrs).Event, attrs.Event);
  assert.deepEqual(events[3].attrs, { Stack: "at a" });
});

Deno.test("Snappy outside Loki is 415, not binary text", async () => {
  const body = new Uint8Array([5, 16, 104, 101, 108, 108, 111]);
  const headers = { "Content-Encoding": "snappy" };
  for (
    const path of [
      "/lines",
      "/v1/logs",
      "/gelf",
      "/services/collector",
      "/api/v2/logs",
      "/es/_bulk",
    ]
  ) {
    const { status, events } = await receive(path, { headers, body });
    assert.deepEqual([status, events], [415, []], path);
  }
  const { status } = await receive("", { headers: { ...headers, ...json }, body });
  assert.equal(status, 400);
});

Deno.test("UTF-16 with a byte order mark is text", async () => {
  const text = "gr\u00fc\u00dfe ERROR\r\nzwei\r\n";
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  for (const order of [[0, 8], [8, 0]]) {
    const body = new Uint8Array(
      [0xfeff, ...units].flatMap((unit) => order.map((bits) => (unit >> bits) & 0xff)),
    );
    const { status, events } = await receive("/lines", { body });
    assert.equal(status, 200);
    assert.deepEqual(events, [{ msg: "gr\u00fc\u00dfe ERROR" }, { msg: "zwei" }]);
  }
});

Deno.test("text has the charset that its type names", async () => {
  const body = Uint8Array.from("gr\u00fc\u00dfe", (letter) => letter.charCodeAt(0));
  for (const type of ["text/plain; charset=iso-8859-1", 'text/plain;Charset="latin1"']) {
    const { events } = await receive("/lines", { headers: { "Content-Type": type }, body });
    assert.deepEqual(events, [{ msg: "gr\u00fc\u00dfe" }], type);
  }
  const unknown = { "Content-Type": "text/plain; charset=klingon" };
  const { events } = await receive("/lines", { headers: unknown, body: "gr\u00fc\u00dfe" });
  assert.deepEqual(events, [{ msg: "gr\u00fc\u00dfe" }]);
});

Deno.test("Vector's question whether a key is good is answered", async () => {
  const good = await receive("/api/v1/validate", { method: "GET" });
  assert.deepEqual([good.status, good.text], [200, '{"valid":true}']);
  const credentials = { "DD-API-KEY": "nonsense" };
  const wrong = await receive("/api/v1/validate", { method: "GET", credentials });
  assert.equal(wrong.status, 403);
  assert.equal((await receive("/api/v1/validate", { method: "POST" })).status, 405);
});
