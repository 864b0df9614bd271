import assert from "node:assert/strict";
import fc from "fast-check";
import { processorClock } from "../../_shared/testing_processor.ts";
import { replaced } from "./label_replace.ts";
import { LogQuery } from "./logql_query.ts";
import { bytesOf } from "./matchers.ts";
import { matchesWhole } from "./regex_match.ts";
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

Deno.test("an expression matches a short text as JavaScript's does, and never takes long", () => {
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
    ),
  })).one;
  fc.assert(
    fc.property(expression, fc.constantFrom("", "error", "warn", "e", "rr"), (source, text) => {
      fc.pre(source.length <= 256);
      const expected = new RegExp(`^(?:${source})$`, "s").test(text);
      assert.equal(matchesWhole(source, text, false), expected, source);
    }),
    { numRuns: 3000 },
  );
  assert.equal(matchesWhole("ERR.*", "error", true), true);
  assert.equal(matchesWhole("ERR.*", "error", false), false);
  // A class such as [:alpha:] is refused when a character meets it, so never for an absent label's empty text.
  assert.equal(matchesWhole("[[:alpha:]]+\\b", "", false), false);
  assert.throws(() => matchesWhole("[[:alpha:]]+", "error", false), /not understood/);
  const began = processorClock();
  assert.equal(matchesWhole(`${"(|)".repeat(80)}x`, "", false), false);
  assert.equal(matchesWhole(`${"(".repeat(80)}e${"*)".repeat(80)}x`, "error", false), false);
  assert.ok(processorClock() - began < 1000);
});

Deno.test("label_replace refuses expressions that could take long", () => {
  const { kind, points } = { kind: "label_replace", points: new Map([[0, 1]]) } as const;
  const made = (pattern: string, replacement = "$1", value = "web-12") =>
    replaced(
      { kind, of: { kind: "vector", value: 1 }, target: "t", replacement, source: "s", pattern },
      [{ labels: { s: value }, points }],
    )[0].labels.t;
  assert.equal(made("(.*)-(.*)", "${2}.$1"), "12.web");
  assert.equal(made("(?P<name>[a-z]+)-.*", "$name"), "web");
  assert.equal(made("web"), undefined);
  for (
    const pattern of [
      "(a+)+b",
      "(a|a)*b",
      `${"a?".repeat(30)}${"a".repeat(30)}`,
      "(a|aa)".repeat(9),
      "(a)\\1",
      "\\q",
      "(?=a)a",
      "(",
    ]
  ) {
    assert.throws(() => made(pattern, "x", "a".repeat(200)), /not supported/, pattern);
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
