import assert from "node:assert/strict";
import fc from "fast-check";
import { processorClock } from "../../_shared/testing_processor.ts";
import { replaced } from "./label_replace.ts";
import { LogQuery } from "./logql_query.ts";
import { bytesOf } from "./matchers.ts";
import { LokiRegex } from "./loki_regex.ts";
import { passed, streamsOf } from "./loki_streams.ts";
import { parseLogql } from "./syntax_tree.ts";
import { alternatives, quoted, quotedRegex, regexOf, stringOf } from "./string_literals.ts";
import { nanosecondsOf, secondsOf } from "./times_and_durations.ts";

Deno.test("a value is always taken literally", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => {
    // Our language ends a string at a quote without a backslash.
    const inner = /^"((?:[^"\\]|\\[\s\S])*)"$/.exec(quoted(value));
    assert.equal(inner?.[1].replace(/\\([\s\S])/g, "$1"), value);
  }));
  const unit = fc.constantFrom("\\", '"', "a", ".", "|", "(", " ");
  fc.assert(fc.property(fc.string({ unit }), (pattern) => {
    if (/(?:^|[^\\])(?:\\\\)*\\$/.test(pattern)) {
      assert.throws(() => quotedRegex(pattern), /trailing backslash/);
    } else {
      assert.match(quotedRegex(pattern), /^"(?:[^"\\]|\\[\s\S])*"$/);
    }
  }));
});

Deno.test("strings, expressions and times are read as Loki reads them", () => {
  assert.equal(stringOf('"a\\n\\x41\\u00e9\\""'), 'a\nAé"');
  assert.equal(stringOf("`a\\n`"), "a\\n");
  assert.throws(() => stringOf('"\\q"'), /invalid escape/);
  assert.deepEqual(alternatives(regexOf("a|b\\.c|")), ["a", "b.c", ""]);
  assert.equal(alternatives(regexOf("a|b.c")), undefined);
  assert.equal(alternatives(regexOf("\\d")), undefined);
  const instant = 1_795_264_200_000_000_000n;
  for (
    const text of [
      "1795264200",
      "1795264200.000",
      "1795264200000",
      "1795264200000000",
      "1795264200000000000",
      "2026-11-21T12:30:00Z",
      "2026-11-21T13:30:00+01:00",
    ]
  ) {
    assert.equal(nanosecondsOf("start", text), instant, text);
  }
  for (const [text, bytes] of [["2,048 B", "2048"], ["1.5B", "1"], ["1.5KB", "1500"]]) {
    assert.equal(bytesOf(text), bytes, text);
  }
  assert.equal(secondsOf("1h30m"), 5400);
  assert.equal(secondsOf("250ms"), 0.25);
  assert.throws(() => secondsOf("1x"), /not a valid duration/);
});

Deno.test("an expression finds what JavaScript's finds, and never takes long", () => {
  const atom = fc.constantFrom(
    "e",
    "r",
    "or",
    ".",
    "[a-e]",
    "[^e]",
    "\\w",
    "\\.",
    "",
    "^",
    "$",
    "()",
  );
  const expression = fc.letrec<{ one: string }>((tie) => ({
    one: fc.oneof(
      { maxDepth: 4 },
      atom,
      fc.tuple(tie("one"), tie("one")).map(([a, b]) => `${a}${b}`),
      fc.tuple(tie("one"), tie("one")).map(([a, b]) => `(${a}|${b})`),
      fc.tuple(tie("one"), fc.constantFrom("*", "+", "?", "{2}", "{0,3}", "{1,}", "*?"))
        .map(([a, sign]) => `(?:${a})${sign}`),
      fc.tuple(
        fc.constantFrom("e", "[or]", ".", "\\w"),
        fc.constantFrom("*", "+", "?", "{0,2}", "*?", "+?", "??"),
      ).map((parts) => parts.join("")),
    ),
  })).one;
  fc.assert(
    fc.property(
      expression,
      fc.constantFrom("", "error", "warn", "e", "rr", "e\nor"),
      (source, text) => {
        fc.pre(source.length <= 256);
        const whole = new RegExp(`^(?:${source})$`, "s").test(text);
        assert.equal(new LokiRegex(source, { isWhole: true }).test(text), whole, source);
        // What an empty repetition leaves in its groups differs.
        if (/\)[*+?{]/.test(source)) return;
        const found = new RegExp(source).exec(text) ?? undefined;
        assert.deepEqual(new LokiRegex(source).find(text), found && [...found], source);
      },
    ),
    { numRuns: 3000 },
  );
  const isWhole = (source: string, text: string) =>
    new LokiRegex(source, { isWhole: true }).test(text);
  assert.equal(isWhole("(?i)ERR.*", "error"), true);
  assert.equal(isWhole("ERR.*", "error"), false);
  assert.equal(isWhole("[[:alpha:]]+\\b", "error"), true);
  assert.equal(isWhole("(?i)[^E]+", "erroE"), false);
  const began = processorClock();
  assert.equal(isWhole(`${"(|)".repeat(80)}x`, ""), false);
  assert.equal(isWhole(`${"(".repeat(80)}e${"*)".repeat(80)}x`, "error"), false);
  assert.throws(() => new LokiRegex("((((){1000}){1000}){1000}){1000}"), /too complex/);
  assert.throws(() => {
    const slow = new LokiRegex("(?:a?){100}(?:a*a*){50}b");
    for (;;) slow.test("a".repeat(6000));
  }, /takes too long/);
  assert.ok(processorClock() - began < 5000);
});

Deno.test("label_replace takes every expression, in bounded time", () => {
  const { kind, points } = { kind: "label_replace", points: new Map([[0, 1]]) } as const;
  const made = (pattern: string, replacement = "$1", value = "web-12") =>
    replaced(
      { kind, of: { kind: "vector", value: 1 }, target: "t", replacement, source: "s", pattern },
      [{ labels: { s: value }, points }],
    )[0].labels.t;
  assert.equal(made("(.*)-(.*)", "${2}.$1"), "12.web");
  assert.equal(made("(?P<name>[a-z]+)-.*", "$name"), "web");
  assert.equal(made("web"), undefined);
  const began = processorClock();
  for (const pattern of ["(a+)+b", "(a|a)*b", `${"a?".repeat(30)}${"a".repeat(30)}b`]) {
    assert.equal(made(pattern, "x", "a".repeat(2000)), undefined, pattern);
  }
  assert.ok(processorClock() - began < 2000);
  for (const pattern of ["(a)\\1", "\\q", "(?=a)a", "("]) {
    assert.throws(() => made(pattern), /error parsing regexp/, pattern);
  }
});

Deno.test("an attribute may be named like a property of every object", () => {
  const attrs = JSON.parse('{"constructor": "c", "toString": 1, "__proto__": "p", "host": "h"}');
  const record = { ts: "2026-11-21T12:30:00+00:00", msg: "m", attrs };
  const tree = parseLogql('{host="h"}').children[0].children[0];
  const [{ stream }] = streamsOf(passed([record], new LogQuery(tree, new Map())), false);
  assert.deepEqual(Object.entries(stream), [
    ["detected_level", "unknown"],
    ["constructor", "c"],
    ["toString", "1"],
    ["__proto__", "p"],
    ["attrs_host", "h"],
  ]);
});

Deno.test("stages change a record as in Loki's own tests", () => {
  const made = (stages: string, line: string, attrs: Record<string, unknown> = {}) => {
    const query = new LogQuery(
      parseLogql(`{host="h"} ${stages}`).children[0].children[0],
      new Map(),
    );
    const record = { ts: "2026-11-21T12:30:00+00:00", msg: line, attrs };
    return passed([record], query).map(({ entry: { line, metadata, parsed } }) => {
      metadata.delete("detected_level");
      return [line, { ...Object.fromEntries(metadata), ...Object.fromEntries(parsed) }];
    })[0];
  };
  const json = (line: string, attrs = {}) => made("| json", line, attrs)[1];
  // pkg/logql/log/parser_test.go
  assert.deepEqual(json('{"counter":1, "price": {"_net_":5.56909}}'), {
    counter: "1",
    price__net_: "5.56909",
  });
  assert.deepEqual(json('{" ": {"foo":"bar"}}'), { foo: "bar" });
  assert.deepEqual(json('{"counter":1, "price": {"net_":["10","20"]}}'), { counter: "1" });
  assert.deepEqual(json('{"foo":{"cou-nter":1}}'), { foo_cou_nter: "1" });
  assert.deepEqual(json('{"app":"foo","next":{"err":false}}', { app: "bar" }), {
    app: "bar",
    app_extracted: "foo",
    next_err: "false",
  });
  assert.equal((json("{n}") as Record<string, string>).__error__, "JSONParserErr");
  assert.deepEqual(made('| json a="n.x", foo="b"', '{"n": {"x": 1.0}, "b": 2}', { foo: 1 })[1], {
    a: "1.0",
    foo: "1",
    foo_extracted: "2",
  });
  assert.deepEqual(made('| logfmt a="n.x"', "n.x=1")[1], { a: "1" });
  assert.deepEqual(made("| logfmt", "dup=first dup=second")[1], { dup: "first" });
  assert.deepEqual(made("| logfmt", 'latency=fast query="a=\\"b\\"" x')[1], {
    latency: "fast",
    query: 'a="b"',
  });
  // pkg/logql/log/pattern/pattern_test.go
  assert.deepEqual(
    made(
      '| pattern `<ip> <userid> <user> [<_>] "<method> <path> <_>" <status> <size>`',
      '127.0.0.1 user-identifier frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326',
    )[1],
    {
      ip: "127.0.0.1",
      userid: "user-identifier",
      user: "frank",
      method: "GET",
      path: "/apache_pb.gif",
      status: "200",
      size: "2326",
    },
  );
  assert.deepEqual(made("| pattern `foo <foo> bar <bar>`", "foo buzz")[1], { foo: "buzz" });
  assert.deepEqual(
    made(
      "| regexp `(?P<method>\\w+) (?P<path>[\\w|/]+) \\((?P<status>\\d+?)\\) (?P<duration>.*)`",
      "POST /api/prom/api/v1/query_range (200) 1.5s",
      { path: "/" },
    )[1],
    {
      method: "POST",
      path: "/",
      path_extracted: "/api/prom/api/v1/query_range",
      status: "200",
      duration: "1.5s",
    },
  );
  // pkg/logql/log/fmt_test.go
  const attrs = { foo: "blip", bar: "blop" };
  assert.deepEqual(
    made("| line_format `foo{{.foo}}buzz{{  .bar  }}`", "", attrs)[0],
    "fooblipbuzzblop",
  );
  assert.deepEqual(made("| label_format bar=foo", "", attrs)[1], { bar: "blip" });
  assert.deepEqual(made("| label_format bar=none", "", attrs)[1], attrs);
  assert.deepEqual(made("| label_format foo=`{{.bar}} {{.nope}}`", "", attrs)[1], {
    foo: "blop ",
    bar: "blop",
  });
});
