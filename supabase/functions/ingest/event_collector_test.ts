import assert from "node:assert/strict";
import fc from "fast-check";
import { type Result, success } from "../_shared/errors.ts";
import { type Batch, batchJson, EventCollector } from "./event_collector.ts";
import { storedNumber } from "../_shared/numbers.ts";
import { Content } from "./protocol.ts";
import { native } from "./protocols/json_events.ts";

function readEvents(body: string): Result<EventCollector> {
  const events = new EventCollector(native.maxEvents);
  const incoming = {
    method: "POST",
    path: "",
    query: new URLSearchParams(),
    headers: new Headers({ "Content-Type": "application/json" }),
  };
  const read = native.read(incoming, new Content(new TextEncoder().encode(body)), events);
  return read.ok ? success(events) : read;
}

/** The parsed request for the database. Numbers that a double would change are `exact` texts. */
function read(body: string): Record<string, unknown> {
  return JSON.parse(sent(body));
}

function sent(body: string): string {
  return batchJson(batchOf(body), {});
}

function batchOf(body: string): Batch {
  const events = readEvents(body);
  assert.ok(events.ok, body.slice(0, 200));
  return events.value.batch();
}

function refusal(body: string): unknown {
  const events = readEvents(body);
  assert.ok(!events.ok, body.slice(0, 200));
  return events.failure;
}

Deno.test("every field of an event arrives in its column", () => {
  assert.deepEqual(
    read(JSON.stringify([{
      ts: "2026-11-21T12:34:56.789Z",
      level: "warn",
      msg: "disk almost full",
      service: "web",
      env: "prod",
      req_id: "r1",
      user_id: "u1",
      route: "/a",
      host: "h1",
      attrs: { free: 3, nested: { list: [1, null, true] } },
    }, {}])),
    {
      p_ts: ["2026-11-21T12:34:56.789Z", null],
      p_level: ["warn", null],
      p_msg: ["disk almost full", null],
      p_service: ["web", null],
      p_env: ["prod", null],
      p_req_id: ["r1", null],
      p_user_id: ["u1", null],
      p_route: ["/a", null],
      p_host: ["h1", null],
      p_attrs: [{ free: 3, nested: { list: [1, null, true] } }, null],
    },
  );
});

Deno.test("a body is an array, one event, or either in `logs`", () => {
  for (
    const body of ['[{"msg":"a"}]', '{"msg":"a"}', '{"logs":[{"msg":"a"}]}', '{"logs":{"msg":"a"}}']
  ) {
    assert.deepEqual(read(body), { p_ts: [null], p_msg: ["a"] }, body);
  }
  assert.deepEqual(read("[]"), { p_ts: [] });
  assert.deepEqual(read('{"logs":[]}'), { p_ts: [] });
  assert.deepEqual(read("{}"), { p_ts: [null] });
  assert.deepEqual(read("\uFEFF{}".slice(1)), { p_ts: [null] });
});

Deno.test("`logs` beside an event's fields is an attribute of the event", () => {
  assert.deepEqual(read('{"msg":"a","logs":[1]}'), {
    p_ts: [null],
    p_msg: ["a"],
    p_attrs: [{ logs: [1] }],
  });
});

/** The refusal of invalid JSON at a column of the first line. */
function invalidJson(column: number, why: string): unknown {
  const error = `Invalid JSON at line 1, column ${column}: ${why}`;
  return { status: 400, error, retryAfter: undefined };
}

Deno.test("other bodies are refused", () => {
  const invalid: [string, number, string][] = [
    ["{", 2, "it ends early"],
    ["[1,", 4, "it ends early"],
    ["nul", 1, "expected a value"],
    ["[01]", 2, "expected a value"],
    ["[1.]", 2, "expected a value"],
    ['["\u0001"]', 2, "a string has a line break, another control character or an invalid escape"],
    ["[}", 2, "expected a value"],
    ['{"logs"', 8, "expected : after a name"],
    ["[-]", 2, "expected a value"],
  ];
  for (const [body, column, why] of invalid) {
    assert.deepEqual(refusal(body), invalidJson(column, why), body);
  }
  assert.deepEqual(refusal(" \n"), {
    status: 400,
    error: "The request body is empty: send a JSON array of log events, or one log event",
    retryAfter: undefined,
  });
  for (const body of ["null", "1", "1e999", '"text"', "true", '{"logs":1}', '{"logs":null}']) {
    assert.deepEqual(refusal(body), {
      status: 400,
      error: 'Invalid body: expected an array of log events, a log event, or {"logs": [...]}',
      retryAfter: undefined,
    });
  }
});

Deno.test("10,000 events are taken, 10,001 are refused with their count", () => {
  const events = (count: number) => `[${Array(count).fill("{}").join(",")}]`;
  assert.equal(batchOf(events(10_000)).p_ts.length, 10_000);
  assert.deepEqual(refusal(events(10_001)), {
    status: 400,
    error: "Too many records: 10001 (max 10000)",
    retryAfter: undefined,
  });
});

Deno.test("only a value that is not an event is rejected, and all others keep their positions", () => {
  assert.deepEqual(read('[{"msg":"a"},7,null,[],{"msg":"z"}]'), {
    p_ts: [null, null],
    p_msg: ["a", "z"],
    p_positions: [0, 4],
    p_rejected: 3,
    p_errors: [1, 2, 3].map((index) => ({
      index,
      code: "not_an_object",
      message: "A log event must be a JSON object",
    })),
  });
});

Deno.test("an event is never rejected because of a field: a value that does not fit stays in attrs", () => {
  const cases: [unknown, Record<string, unknown>][] = [
    [{ msg: "b", level: "loud" }, { p_msg: ["b"], p_attrs: [{ original_level: "loud" }] }],
    [{ level: [1] }, { p_attrs: [{ original_level: [1] }] }],
    [{ ts: "noon" }, { p_attrs: [{ original_ts: "noon" }] }],
    [{ ts: true }, { p_attrs: [{ original_ts: true }] }],
    [{ ts: { a: 1 } }, { p_attrs: [{ original_ts: { a: 1 } }] }],
    [{ ts: -1e30 }, { p_attrs: [{ original_ts: -1e30 }] }],
    [{ ts: -1e300 }, { p_attrs: [{ original_ts: "-1e+300" }] }],
    [{ host: { x: [1, null] } }, { p_host: ['{"x":[1,null]}'] }],
    [{ msg: ["a", 1.5] }, { p_msg: ['["a",1.5]'] }],
    [{ attrs: [1] }, { p_attrs: [{ attrs: [1] }] }],
    [{ attrs: "x", n: 1 }, { p_attrs: [{ n: 1, attrs: "x" }] }],
  ];
  for (const [event, columns] of cases) {
    assert.deepEqual(read(JSON.stringify([event])), { p_ts: [null], ...columns });
  }
});

Deno.test("if all events are rejected, the batch is empty, with the first 100 errors and the whole count", () => {
  const batch = batchOf(`[${Array(250).fill("0").join(",")}]`);
  assert.deepEqual(batch.p_ts, []);
  assert.deepEqual(batch.p_positions, []);
  assert.equal(batch.p_rejected, 250);
  assert.equal(batch.p_errors?.length, 100);
  assert.equal(batch.p_errors?.[99].index, 99);
});

Deno.test("null counts as missing, in every field", () => {
  assert.deepEqual(
    read('{"ts":null,"level":null,"msg":null,"service":null,"host":null,"attrs":null}'),
    { p_ts: [null] },
  );
});

Deno.test("an empty text stays, an empty attrs does not", () => {
  assert.deepEqual(read('{"msg":"","attrs":{}}'), { p_ts: [null], p_msg: [""] });
});

Deno.test("numbers and booleans in text fields become texts, and 1.50 becomes the text of 1.5", () => {
  assert.deepEqual(
    read(
      '[{"msg":1},{"msg":1.50},{"msg":-0},{"msg":1e3},{"msg":12345678901234567890},{"msg":true},' +
        '{"msg":0.10},{"msg":1E400},{"msg":false}]',
    ).p_msg,
    ["1", "1.5", "0", "1000", "12345678901234567890", "true", "0.1", "1E400", "false"],
  );
});

Deno.test("members without a field move into attrs, where an existing one wins", () => {
  assert.deepEqual(
    read('{"msg":"m","status":200,"pid":null,"attrs":{"status":"kept","x":1},"span":{"id":1}}'),
    { p_ts: [null], p_msg: ["m"], p_attrs: [{ status: "kept", x: 1, pid: null, span: { id: 1 } }] },
  );
});

Deno.test("names with a meaning in JavaScript are data", () => {
  const json = sent(
    '[{"__proto__":{"a":1},"constructor":2,"toString":3,"toJSON":4,"hasOwnProperty":5},' +
      '{"attrs":{"__proto__":"kept","toJSON":1},"__proto__":"lost"}]',
  );
  assert.equal(
    json,
    '{"p_ts":[null,null],"p_attrs":[{"__proto__":{"a":1},"constructor":2,"toString":3,"toJSON":4,' +
      '"hasOwnProperty":5},{"__proto__":"kept","toJSON":1}]}',
  );
});

Deno.test("the last of two members with one name counts", () => {
  assert.deepEqual(read('{"msg":"a","msg":"b","attrs":{"x":1,"x":12345678901234567890e0}}').p_msg, [
    "b",
  ]);
});

Deno.test("levels: any case, aliases, and pino's numbers by band", () => {
  const level = (sentLevel: unknown) => {
    const { p_level, p_attrs } = batchOf(JSON.stringify([{ level: sentLevel }]));
    return [p_level?.[0], p_attrs?.[0]];
  };
  for (const known of ["debug", "info", "warn", "error"]) {
    assert.deepEqual(level(known), [known, undefined]);
    assert.deepEqual(level(known.toUpperCase()), [known, undefined]);
    assert.deepEqual(level(` ${known.toUpperCase()} `), [known, undefined]);
  }
  const aliases = {
    debug: [
      ...["trace", "TRACE", "finest", "finer", "fine", "silly", "verbose", "http", "notset"],
      ...["DBG", "dbug", "vrb", "DEBUG1", "DEBUG-4", "DEBUG+2", "INFO-1"],
      ...[10, 20, 29, "20", "20.5", "Level 15"],
    ],
    info: [
      ...["notice", "information", "informational", "Notice", "log", "ok", "default", "audit"],
      ...["config", "INF", "success", "INFO+2", 30, 35, "30", "Level 25"],
    ],
    warn: ["warning", "WARNING", "wrn", "WARN+1", "INFO+4", 40, 49.5, "Level 35"],
    error: [
      ...["err", "severe", "critical", "crit", "fatal", "panic", "alert", "emerg", "emergency"],
      ...["fail", "dpanic", "FTL", "ERROR+4", "FATAL2", "eror", 50, 60, 69, 70, "Level 40"],
    ],
  };
  for (const [known, sentLevels] of Object.entries(aliases)) {
    for (const sentLevel of sentLevels) {
      assert.deepEqual(level(sentLevel), [known, { original_level: sentLevel }]);
    }
  }
  for (
    const unknown of [
      "",
      "loud",
      "error+",
      "fatal+1",
      0,
      7,
      9,
      100,
      -30,
      "1e1",
      true,
      "constructor",
    ]
  ) {
    assert.deepEqual(level(unknown), [undefined, { original_level: unknown }]);
  }
});

Deno.test("an alias does not overwrite an original_level that was sent", () => {
  assert.deepEqual(read('{"level":"fatal","attrs":{"original_level":"mine"}}').p_attrs, [{
    original_level: "mine",
  }]);
});

Deno.test("numbers in attrs arrive digit by digit", () => {
  const numbers = [
    "12345678901234567890",
    "-9007199254740993",
    "1763700000000000001",
    "0.1234567890123456789",
    "3.141592653589793238462643",
    "1e21",
    "1.5E-7",
    "100000000000000000000.5",
    "1e39",
    "-1e38",
    "1e-38",
    "-1e-37",
    "1.234567890123456789012345678901234567890e39",
    "0e5",
    "0e500",
    "0.00000000000000000000",
    `1${"0".repeat(299)}`,
  ];
  for (const number of numbers) {
    for (const space of ["", " ", "\n\t"]) {
      const json = sent(
        `[{"attrs":{"a":${space}${number}${space},"b":[${space}${number}${space}, ${number}]}}]`,
      );
      const [, a, b, c] = /^\{"p_ts":\[null\],"p_attrs":\[\{"a":(.*),"b":\[(.*),(.*)\]\}\]\}$/
        .exec(json) ?? [];
      assert.deepEqual([a, b, c].map(exactValue), Array(3).fill(exactValue(number)), json);
    }
  }
});

Deno.test("numbers that no reader can handle are kept as text", () => {
  const beyondDoubles = ["1e400", "-1E+999", "1e-400", "-0.1e-999", `1${"0".repeat(300)}`];
  // Written without an exponent, these numbers would have more than 40 characters and be longer than sent.
  const writtenOutTooLong = [
    ...["1e40", "-1e39", "1e-39", "-1E-38", "1.50e+300", "1.7976931348623157e308", "5e-324"],
    "1.2345678901234567890123456789012345678901e46",
  ];
  for (const number of [...beyondDoubles, ...writtenOutTooLong]) {
    assert.deepEqual(read(`{"attrs":{"a":${number},"b":[${number}]}}`).p_attrs, [{
      a: number,
      b: [number],
    }]);
  }
});

Deno.test("a risky number within a text is left alone", () => {
  const text = 'a: 12345678901234567890, [1e999] "quoted":1e999,\\';
  assert.deepEqual(
    read(`[{"msg":${JSON.stringify(text)},"attrs":{"n":1,"k":${JSON.stringify(text)}}}]`),
    { p_ts: [null], p_msg: [text], p_attrs: [{ n: 1, k: text }] },
  );
  assert.deepEqual(
    sent(`[{"msg":${JSON.stringify(text)},"n":12345678901234567890}]`),
    `{"p_ts":[null],"p_msg":[${JSON.stringify(text)}],"p_attrs":[{"n":12345678901234567890}]}`,
  );
});

Deno.test("a number that JSON does not allow is invalid, however long it is", () => {
  for (
    const number of [
      "0123456789012345678",
      "12345678901234567.",
      "1.2345678901234.5",
      "1e",
      "1e+",
      "--1e1",
    ]
  ) {
    assert.deepEqual(refusal(`{"attrs":{"a":${number}}}`), invalidJson(15, "expected a value"));
  }
});

Deno.test("ts in nanoseconds keeps its microseconds", () => {
  assert.deepEqual(read('[{"ts":1795264496789012999},{"ts":1795264496789012}]').p_ts, [
    "2026-11-21T12:34:56.789012Z",
    "2026-11-21T12:34:56.789012Z",
  ]);
});

Deno.test("NUL and half surrogate pairs become U+FFFD, in keys and at any depth", () => {
  assert.equal(
    sent(
      '[{"msg":"a\\u0000b","k\\u0000":1,"attrs":{"\\uD800":{"x":["\\udfff","\\ud83d\\ude00"]},' +
        '"\\\\u0000":"\\\\ud800"},"host":"\\ude00\\ud83d"}]',
    ),
    '{"p_ts":[null],"p_msg":["a\uFFFDb"],"p_host":["\uFFFD\uFFFD"],"p_attrs":[{"\uFFFD":{"x":' +
      '["\uFFFD","😀"]},"\\\\u0000":"\\\\ud800","k\uFFFD":1}]}',
  );
});

Deno.test("an error message never has characters that Postgres cannot store", () => {
  const json = sent(`[{"level":"${"x".repeat(59)}😀\\u0000"},{"level":"\\u0000\\ud800"}]`);
  assert.ok(json.isWellFormed());
  assert.doesNotMatch(json.replaceAll("\\\\", ""), /\\u0000|\\ud8/);
});

Deno.test("attrs deeper than 64 levels continue as JSON text", () => {
  const nested = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
  assert.equal(sent(`{"attrs":${nested(64)}}`), `{"p_ts":[null],"p_attrs":[${nested(64)}]}`);
  assert.equal(
    sent(`{"attrs":${nested(66)}}`),
    `{"p_ts":[null],"p_attrs":[${nested(64).replace("1", JSON.stringify('{"a":{"a":1}}'))}]}`,
  );
  const tail = '{"n":12345678901234567890,"list":[1,"\\u0000",null,{"x":[]},true],"__proto__":{}}';
  const deep = `${"[".repeat(63)}${tail}${"]".repeat(63)}`;
  assert.equal(
    sent(`{"x":${deep}}`),
    `{"p_ts":[null],"p_attrs":[{"x":${deep.replace(tail, JSON.stringify(tail))}}]}`,
  );
});

Deno.test("a body of brackets does not overflow the stack", () => {
  const depth = 255_000;
  const events = batchOf(`[{"a":${"[".repeat(depth)}${"]".repeat(depth)}}]`);
  assert.equal(events.p_ts.length, 1);
  assert.equal(batchOf(`${"[".repeat(depth)}${"]".repeat(depth)}`).p_rejected, 1);
  const objects = 85_000;
  const nested = `[{"a":${'{"":'.repeat(objects)}1e5${"}".repeat(objects)}}]`;
  assert.ok(sent(nested).length > 4 * objects);
  assert.deepEqual(refusal("[".repeat(512_000)), invalidJson(512_001, "it ends early"));
});

Deno.test("any attrs that JSON can hold arrive as they were sent", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (attrs) => {
    const wellFormed = JSON.parse(JSON.stringify(attrs).toWellFormed());
    const sentAttrs = read(JSON.stringify([{ attrs: wellFormed, msg: "m" }])).p_attrs;
    if (Object.keys(wellFormed).length === 0) return assert.equal(sentAttrs, undefined);
    const storable = JSON.stringify(wellFormed).replaceAll(
      /\\(u0000|ud[89a-f]..|.)/g,
      (escape) => /^\\u(0000|d)/.test(escape) ? "\uFFFD" : escape,
    );
    // A number that would have more than 40 characters without exponent is kept as text.
    const kept = JSON.parse(storable, (_, value) => {
      return typeof value === "number" ? storedNumber(value) : value;
    });
    assert.deepEqual(sentAttrs, [kept]);
  }));
});

Deno.test("any number arrives with the value that was written", () => {
  const source = fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,25})?([eE][+-]?\d{1,2})?$/);
  fc.assert(fc.property(source, (number) => {
    const json = sent(`{"attrs":{"before":", 1e999","n":${number}}}`);
    const written = /"n":"?(.*?)"?\}\]/.exec(json)?.[1] ?? "";
    assert.deepEqual(exactValue(written), exactValue(number), written);
  }));
});

/** A decimal number as digits without zeros at both ends, and a power of ten. */
function exactValue(number: string): [bigint, number] {
  const [, sign, whole, fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/0+$/, "");
  if (!/[1-9]/.test(digits)) return [0n, 0];
  const power = Number(exponent) + whole.length - digits.length;
  return [BigInt(`${sign}${digits}`), power];
}
