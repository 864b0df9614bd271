import assert from "node:assert/strict";
import { batchJson, EventCollector } from "./event_collector.ts";
import type { Envelope } from "./event_draft.ts";
import { parseJson } from "./json_reader.ts";

/** The columns of one event that are not empty. */
function columns(json: string, envelope?: Envelope): Record<string, unknown> {
  const events = new EventCollector(10);
  events.add(parseJson(json), envelope);
  const { p_guessed: _, ...batch } = JSON.parse(batchJson(events.batch(), {}));
  return Object.fromEntries(
    Object.entries(batch as Record<string, unknown[]>).filter(([, [value]]) => value !== null)
      .map(([name, [value]]) => [name.replace("p_", ""), value]),
  );
}

function of(event: unknown, envelope?: Envelope): Record<string, unknown> {
  return columns(JSON.stringify(event), envelope);
}

const time = "2026-11-21T12:34:56.789Z";
const ms = Date.parse(time);

Deno.test("each other name of a field is read as the field, and is not kept in attrs", () => {
  const names: Record<string, [string, unknown, unknown?][]> = {
    ts: [
      ...["@timestamp", "timestamp", "time", "_time", "dt", "date", "eventTime", "asctime"].map(
        (name): [string, unknown] => [name, time],
      ),
      ["EdgeStartTimestamp", ms * 1e6, time],
    ],
    level: [
      ...["severity", "status", "severity_text", "loglevel", "levelname", "lvl", "@level"].map(
        (name): [string, unknown] => [name, "error"],
      ),
    ],
    msg: ["message", "event_message", "log", "short_message", "body", "text", "line", "@message"]
      .concat("MESSAGE").map((name) => [name, "hello"]),
    service: ["service_name", "app", "application", "projectName", "SYSLOG_IDENTIFIER", "name"]
      .map((name) => [name, "shop"]),
    env: ["environment"].map((name) => [name, "prod"]),
    host: ["hostname", "server", "_HOSTNAME"].map((name) => [name, "web-1"]),
    req_id: ["request_id", "requestId", "reqId", "x_request_id", "correlation_id", "RayID"]
      .map((name) => [name, "r1"]),
    user_id: ["userId"].map((name) => [name, "u1"]),
    route: ["path", "ClientRequestPath"].map((name) => [name, "/pay"]),
  };
  for (const [field, cases] of Object.entries(names)) {
    for (const [name, value, expected = value] of cases) {
      const found = of({ [name]: value });
      if (field === "ts") found.ts = String(found.ts).replace(".789000Z", ".789Z");
      assert.deepEqual(found, { [field]: expected }, name);
    }
  }
});

Deno.test("a dotted name is a flat key or a path, and its neighbours stay", () => {
  const dotted: Record<string, string[]> = {
    service: ["service.name"],
    env: ["deployment.environment.name", "deployment.environment"],
    host: ["host.name"],
    req_id: ["req.id", "http.request.id"],
    user_id: ["user.id", "enduser.id", "usr.id"],
    route: ["http.route", "url.path", "proxy.path"],
  };
  for (const [field, names] of Object.entries(dotted)) {
    for (const name of names) {
      assert.deepEqual(of({ [name]: "x" }), { [field]: "x" }, name);
      const path = name.split(".");
      const nested = path.reduceRight<unknown>((value, key) => ({ [key]: value }), "x");
      assert.deepEqual(of(nested), { [field]: "x" }, `${name} as a path`);
    }
  }
  assert.deepEqual(of({ log: { level: "WARN", logger: "a" }, message: "m" }), {
    level: "warn",
    msg: "m",
    attrs: { log: { logger: "a" } },
  });
  assert.deepEqual(of({ host: { name: "web-1", ip: ["::1"] }, service: { name: "shop" } }), {
    host: "web-1",
    service: "shop",
    attrs: { host: { ip: ["::1"] } },
  });
});

Deno.test("our own names win, and values under other names are kept", () => {
  assert.deepEqual(
    of({ msg: "own", message: "other", level: "info", severity: "ERROR", ts: time, time: ms }),
    {
      ts: time,
      level: "info",
      msg: "own",
      attrs: { message: "other", severity: "ERROR", time: ms },
    },
  );
  assert.deepEqual(of({ msg: null, message: "other", log: "third" }), {
    msg: "other",
    attrs: { log: "third" },
  });
  assert.deepEqual(of({ level: "loud", severity: "error" }), {
    attrs: { severity: "error", original_level: "loud" },
  });
  assert.deepEqual(of({ ts: "noon", time: ms }), { attrs: { time: ms, original_ts: "noon" } });
});

Deno.test("fields are not looked for within attrs that were sent", () => {
  const attrs = { message: "m", severity: "error", trace_id: "t" };
  assert.deepEqual(of({ attrs }), { attrs });
});

Deno.test("a value that does not fit the field stays an attribute under its name", () => {
  for (
    const event of [
      { status: 404 },
      { status: "404" },
      { severity: "loud" },
      { time: 0.25 },
      { time: 12 },
      { date: "1970-01-01" },
      { date: "tomorrow" },
      { app: true },
      { path: "" },
      { body: { a: 1 } },
      { log: ["a"] },
      { user: { name: "x" } },
    ]
  ) {
    assert.deepEqual(of(event), { attrs: event });
  }
});

Deno.test("a time far from now under an ambiguous name is sent together with its member", () => {
  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  const ahead = inHours(48);
  const soon = inHours(2);
  const sent = [
    { ts: "2005-03-01", msg: "says so itself" },
    { date: "2005-03-01", msg: "a day" },
    { "@timestamp": "2005-03-01T10:00:00Z", date: ahead },
    { time: new Date().toISOString(), date: "2005-03-01" },
    { timestamp: ahead },
    { time: soon },
  ];
  const events = new EventCollector(10);
  for (const event of sent) events.add(event);
  const { p_guessed } = events.batch();
  const { "6": last, ...others } = p_guessed ?? {};
  assert.deepEqual(others, { "2": { date: "2005-03-01" }, "5": { timestamp: ahead } });
  assert.deepEqual(events.batch(3, 5).p_guessed, { "2": { timestamp: ahead } });
  // A tenant may take less than a day ahead, which only the database knows.
  assert.deepEqual(last, { time: soon });
  assert.deepEqual(of({ time: `2005-03-01T10:00:00.${"0".repeat(60)}Z` }).ts, undefined);
});

Deno.test("an equal body is not a repeat if an ambiguous name holds a day or a time ahead", () => {
  const now = new Date().toISOString();
  const tells = (event: Record<string, unknown>) => {
    const events = new EventCollector(1);
    events.add(event);
    return events.haveOwnTimes;
  };
  assert.deepEqual(
    [
      { time: now },
      { time: new Date(Date.now() + 2 * 3_600_000).toISOString() },
      { ts: "2031-01-01" },
      { date: "2005-03-01T10:00:00Z" },
    ].map(tells),
    [true, true, true, true],
  );
  assert.deepEqual(
    [{ msg: "a" }, { date: now.slice(0, 10) }, { time: "2031-01-01T10:00:00Z" }].map(tells),
    [false, false, false],
  );
});

Deno.test("a message that is an object becomes its JSON text", () => {
  assert.deepEqual(of({ message: { a: [1] } }), { msg: '{"a":[1]}' });
});

Deno.test("a trace is found by its usual names, and is used as req_id if there is no other", () => {
  for (
    const event of [
      { trace_id: "t1" },
      { traceId: "t1" },
      { "dd.trace_id": "t1" },
      { otelTraceID: "t1" },
      { trace: { id: "t1" } },
    ]
  ) {
    assert.deepEqual(of(event), { req_id: "t1", attrs: { trace_id: "t1" } });
  }
  assert.deepEqual(of({ traceId: "t1", spanId: "s1", reqId: "r1" }), {
    req_id: "r1",
    attrs: { trace_id: "t1", span_id: "s1" },
  });
});

Deno.test("numbers are read as syslog severities if the protocol is syslog, and in PRIORITY", () => {
  const levels = ["error", "error", "error", "error", "warn", "info", "info", "debug"];
  for (const [severity, level] of levels.entries()) {
    assert.deepEqual(of({ PRIORITY: String(severity) }), {
      level,
      attrs: { original_level: String(severity) },
    });
    assert.equal(of({ level: severity }, { isSyslog: true }).level, level);
    assert.equal(of({ level: severity }).level, undefined);
  }
});

Deno.test("a protocol's values win over the members, and the members over its defaults", () => {
  assert.deepEqual(
    of({ msg: "in", ts: 1, level: "info", service: "own", app: "x" }, {
      ts: time,
      msg: "out",
      level: "error",
      originalLevel: "FATAL",
      defaults: { service: "theirs", host: "h" },
    }),
    {
      ts: time,
      level: "error",
      msg: "out",
      service: "own",
      host: "h",
      attrs: { msg: "in", ts: 1, level: "info", app: "x", original_level: "FATAL" },
    },
  );
});

Deno.test("a time finer than a microsecond is kept in original_ts", () => {
  const finer: [string, string][] = [
    ['"2026-11-21T12:34:56.1234567Z"', "2026-11-21T12:34:56.123456Z"],
    ["1795264496123456789", "2026-11-21T12:34:56.123456Z"],
    ['"1795264496123456789"', "2026-11-21T12:34:56.123456Z"],
    ['"1795264496.1234567"', "2026-11-21T12:34:56.123456Z"],
  ];
  for (const [ts, expected] of finer) {
    for (const name of ["ts", "time"]) {
      const found = columns(`{"${name}":${ts}}`);
      assert.equal(found.ts, expected);
      assert.deepEqual(Object.keys(found.attrs as object), ["original_ts"]);
    }
  }
  for (
    const ts of ['"2026-11-21T12:34:56.123456000Z"', "1795264496123456000", "1795264496.123456"]
  ) {
    assert.deepEqual(columns(`{"ts":${ts}}`), { ts: "2026-11-21T12:34:56.123456Z" });
  }
});

Deno.test("names with a meaning in JavaScript are not names of fields", () => {
  const json = '{"__proto__":{"message":"x"},"constructor":{"name":"y"},"message":"m"}';
  const found = columns(json);
  assert.equal(found.msg, "m");
  assert.equal(
    JSON.stringify(found.attrs),
    '{"__proto__":{"message":"x"},"constructor":{"name":"y"}}',
  );
  assert.deepEqual(columns('{"log":{"__proto__":{"level":"error"}}}').level, undefined);
});
