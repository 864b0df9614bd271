import assert from "node:assert/strict";
import fc from "fast-check";
import { processorClock } from "../../_shared/testing_processor.ts";
import { LogQuery } from "./logql_query.ts";
import { recordsOf } from "./loki_streams.ts";
import { parseLogql } from "./syntax_tree.ts";
import { type Answered, answers, asked, hour } from "./testing_requests.ts";

const start = 1795264200;

/** Series of log_series with a value in each second. */
function eachSecond(series: number, values: readonly number[]) {
  const points = values.map((value, n) => [new Date((start + n) * 1000).toISOString(), value]);
  return {
    series: Array.from({ length: series }, (_, n) => ({ group: { host: `${n}` }, points })),
  };
}

function queriedOver(seconds: number, query: string, log_series: unknown) {
  const parameters = { start: `${start}`, end: `${start + seconds}`, step: "1", query };
  const { series = [] } = log_series as Partial<ReturnType<typeof eachSecond>>;
  // The same values as rows.
  const log_stats = series.flatMap(({ group, points }) =>
    points.map(([ts, value]) => ({ group: { ts, ...group }, value, total_groups: 0 }))
  );
  return asked("query_range", parameters, "", { ...answers, log_series, log_stats });
}

Deno.test("every query and every parameter gets a 200 or a 400", async () => {
  const part = fc.constantFrom(
    ...[
      '{a="b"}',
      "{",
      "}",
      "|",
      "=",
      "=~",
      '"x"',
      "`",
      "json",
      "level",
      "detected_level",
      "(",
      ")",
    ],
    ...["sum", "by", "count_over_time", "[5m]", "rate", "unwrap", "or", "and", "1", "-", "+", ">"],
    ...["| drop a", "|= `x`", "topk(1,", "vector(1)", '"\\', "\0", "é", "offset 1m", "ip(", ","],
  );
  const query = fc.oneof(
    fc.array(part, { maxLength: 12 }).map((parts) => parts.join(" ")),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string().map((text) => `{service=${JSON.stringify(text)}}`),
    fc.string().map((text) => `{service=~${JSON.stringify(text)}, level!~${JSON.stringify(text)}}`),
  );
  const paths = fc.constantFrom(
    ...["query", "query_range", "series", "labels", "index/volume", "index/volume_range"],
    ...["patterns", "detected_fields", "label/a/values", "detected_field/%/values", "index/stats"],
  );
  const time = fc.constantFrom("", "0", "1795264200", "x", "2026-11-21T12:30:00Z", "9".repeat(19));
  await fc.assert(
    fc.asyncProperty(paths, query, time, time, time, async (path, text, start, end, step) => {
      const { status } = await asked(path, { query: text, "match[]": text, start, end, step });
      assert.ok(status === 200 || status === 400, `${path} ${text}`);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("nesting and the number of reads are limited", async () => {
  const within = (before: string, inner: string, after: string, times: number) =>
    before.repeat(times) + inner + after.repeat(times);
  const cases: [string, number, RegExp][] = [
    [within("(", "vector(1)", ")", 100), 200, /^/],
    [within("(", "vector(1)", ")", 2400), 400, /^query too complex/],
    [`{a="b"} | ${within("(", 'a="b"', ")", 2000)}`, 400, /^query too complex/],
    [`{a="b"}${"|=`x`".repeat(950)}`, 400, /^query too complex/],
    [`1${"+1".repeat(2400)}`, 400, /^query too complex/],
    [Array(100).fill('rate({env="b"}[1m])').join("+"), 200, /^/],
    [
      Array(101).fill('rate({env="b"}[1m])').join("+"),
      400,
      /^query too complex: it needs more than 100 reads/,
    ],
  ];
  for (const [query, status, words] of cases) {
    const answer = await asked("query_range", { ...hour, query });
    assert.deepEqual([answer.status, words.test(answer.text)], [status, true], answer.text);
  }
});

Deno.test("numbers and series cost little to compute", async () => {
  const inBrackets = (depth: number): string =>
    depth === 0 ? "1" : `(${inBrackets(depth - 1)}+${inBrackets(depth - 1)})`;
  const rows = Array.from({ length: 1000 }, (_, n) => ({
    group: { host: `${n}` },
    value: n + 1,
    total_groups: 1000,
  }));
  const ofRows = { ...answers, log_stats: rows };
  const ones = Array(500).fill(1);
  const rate = 'rate({env="b"}[1m])';
  const long = 'sum by (host) (count_over_time({env="b"}[5000s]))';
  const cases = [
    () => queriedOver(10_000, inBrackets(8), {}),
    () => queriedOver(10_000, Array(101).fill("vector(1)").join("+"), {}),
    () => asked("query", { query: Array(5).fill(rate).join("/") }, "", ofRows),
    () => queriedOver(5000, long, eachSecond(4, ones)),
  ];
  const costOf = async (run: () => Promise<Answered>) => {
    const began = processorClock();
    const { status, text } = await run();
    assert.equal(status, 200, text);
    return processorClock() - began;
  };
  for (const [n, run] of cases.entries()) {
    let [ofOneNumber, cost] = [Infinity, Infinity];
    // The best of five rounds, or of more on a busy machine.
    for (let round = 0; round < 5 || round < 25 && cost / ofOneNumber >= 10; round++) {
      const one = () => queriedOver(10_000, "vector(1)", {});
      ofOneNumber = Math.min(ofOneNumber, await costOf(one));
      cost = Math.min(cost, await costOf(run));
    }
    assert.ok(cost / ofOneNumber < 10, `${n}: ${cost / ofOneNumber} times what one number costs`);
  }
  const many = `sum by (host) (${rate})${"+1".repeat(50)}`;
  const { status, text } = await queriedOver(10_000, many, eachSecond(4, ones));
  assert.deepEqual(
    [status, text.split(". ")[0]],
    [400, "query too complex: it computes more than 2000000 points"],
  );
});

Deno.test("a step counts the records of its range, however long the range is", async () => {
  const values = Array.from({ length: 40 }, (_, n) => n % 7 === 3 ? 0 : n * n % 11);
  for (
    const [joins, join] of [
      ["sum", (found: number[]) => found.reduce((a, b) => a + b)],
      ["min", (found: number[]) => Math.min(...found)],
      ["max", (found: number[]) => Math.max(...found)],
    ] as const
  ) {
    for (const seconds of [1, 2, 3, 7, 20, 60]) {
      const query = `${joins}_over_time({env="b"} | unwrap took [${seconds}s]) by (host)`;
      const { text } = await queriedOver(20, query, eachSecond(1, values));
      const expected = Array.from({ length: 21 }, (_, n) => {
        // The first value belongs to the first second of the request.
        const range = values.filter((_, second) => second >= n - seconds && second < n);
        return range.length === 0 ? [] : [[start + n, `${join(range)}`]];
      }).flat();
      assert.deepEqual(JSON.parse(text).data.result[0].values, expected, query);
    }
  }
});

Deno.test("a number with too many digits is refused with a text", async () => {
  const digits = "9".repeat(320);
  const rate = 'count_over_time({a="b"}[1m])';
  const cases: [string, string, Record<string, string>][] = [
    ["query_range", rate, { since: `${digits}s` }],
    ["query_range", rate, { since: digits }],
    ["query_range", rate, { step: digits }],
    ["query_range", '{a="b"}', { interval: `${digits}h` }],
    ["query_range", `count_over_time({a="b"}[${digits}s])`, {}],
    ["query", `count_over_time({a="b"}[1m] offset ${digits}s)`, {}],
    ["query", `vector(${digits})`, {}],
    ["query", `1+${digits}`, {}],
  ];
  for (const [path, query, parameters] of cases) {
    const { status, text } = await asked(path, { query, ...parameters });
    assert.deepEqual([status, text.startsWith("{")], [400, false], `${path} ${query}: ${text}`);
  }
});

Deno.test("an answer of records ends before it is too large, and says so", async () => {
  const log = { ts: "2026-11-21T12:30:00+00:00", msg: "💡".repeat(500_000), attrs: null };
  const { found, isCut } = await recordsOf(
    new LogQuery(parseLogql('{host="h"}').children[0].children[0], new Map()),
    { start: 0n, end: 1n },
    { limit: 10, direction: "backward" },
    <T>() => Promise.resolve({ logs: [log, log, log, log], next_cursor: null } as T),
  );
  assert.deepEqual([found.length, isCut], [2, true]);
});
