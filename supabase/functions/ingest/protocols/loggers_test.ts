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
  ["structlog", { event: "declined", level: "error", timestamp: ts, id: 7 }, {
    ts,
    level: "error",
    msg: "declined",
    attrs: { id: 7 },
  }],
  ["loguru, serialized", {
    text: "declined\n",
    record: {
      level: { name: "ERROR", no: 40 },
      message: "declined",
      time: { repr: "2026-11-21 14:34:56.789000+02:00", timestamp: 1795264496.789 },
    },
  }, {
    ts: micros,
    level: "error",
    msg: "declined",
    attrs: {
      text: "declined\n",
      record: { time: { timestamp: 1795264496.789 } },
      original_level: { name: "ERROR", no: 40 },
    },
  }],
  ["Logback", {
    timestamp: 1795264496789,
    level: "ERROR",
    message: "declined {}",
    arguments: ["7"],
    formattedMessage: "declined 7",
  }, {
    ts,
    level: "error",
    msg: "declined 7",
    attrs: { message: "declined {}", arguments: ["7"] },
  }],
  ["Log4j", {
    instant: { epochSecond: 1795264496, nanoOfSecond: 789123456 },
    level: "ERROR",
    message: "declined",
  }, {
    ts: "2026-11-21T12:34:56.789123Z",
    level: "error",
    msg: "declined",
    attrs: { original_ts: { epochSecond: 1795264496, nanoOfSecond: 789123456 } },
  }],
  ["Log4j, timeMillis", { timeMillis: 1795264496789, message: "a" }, { ts, msg: "a" }],
  ["MongoDB", { t: { $date: "2026-11-21T14:34:56.789+02:00" }, s: "W", msg: "slow" }, {
    ts,
    level: "warn",
    msg: "slow",
    attrs: { original_level: "W" },
  }],
  ["Google", { timestamp: { seconds: 1795264496, nanos: 789000000 }, message: "a" }, {
    ts: micros,
    msg: "a",
  }],
  ["Monolog 1", {
    datetime: { date: "2026-11-21 13:34:56.789000", timezone: "Europe/Berlin" },
    message: "a",
  }, { ts: micros, msg: "a" }],
  ["an unknown zone", { datetime: { date: "2026-11-21 13:34:56", timezone: "CET" }, msg: "a" }, {
    msg: "a",
    attrs: { datetime: { date: "2026-11-21 13:34:56", timezone: "CET" } },
  }],
  ["Serilog JSON, not rendered", { MessageTemplate: "declined {Id}", Properties: { Id: 7 } }, {
    msg: "declined 7",
    attrs: { MessageTemplate: "declined {Id}", Properties: { Id: 7 } },
  }],
  ["consola", { date: ts, type: "warn", level: 1, args: ["slow"] }, {
    ts,
    level: "warn",
    attrs: { type: "warn", args: ["slow"], original_level: 1 },
  }],
  ["Roarr", { context: { logLevel: 50, id: 7 }, message: "a" }, {
    level: "error",
    msg: "a",
    attrs: { context: { id: 7 }, original_level: 50 },
  }],
  ["winston's logstash", { "@message": "a", "@fields": { level: "warn" } }, {
    level: "warn",
    msg: "a",
  }],
  ["log4js", { level: { level: 30000, levelStr: "WARN" }, msg: "a" }, {
    level: "warn",
    msg: "a",
    attrs: { original_level: { level: 30000, levelStr: "WARN" } },
  }],
  ["an error alone", { level: "error", error: { name: "Error", message: "declined" } }, {
    level: "error",
    msg: "declined",
    attrs: { error: { name: "Error", message: "declined" } },
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

Deno.test("Vector's check of its key is answered", async () => {
  const good = await receive("/api/v1/validate", { method: "GET" });
  assert.deepEqual([good.status, good.text], [200, '{"valid":true}']);
  const credentials = { "DD-API-KEY": "nonsense" };
  const wrong = await receive("/api/v1/validate", { method: "GET", credentials });
  assert.equal(wrong.status, 403);
  assert.equal((await receive("/api/v1/validate", { method: "POST" })).status, 405);
});
