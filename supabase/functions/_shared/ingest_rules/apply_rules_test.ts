import assert from "node:assert/strict";
import { parseJson } from "../../ingest/json_reader.ts";
import { levelOf } from "../../ingest/levels.ts";
import { processorMs } from "../testing_processor.ts";
import { IngestRules } from "./apply_rules.ts";
import { Budget } from "./budget.ts";
import type { Action, Test } from "./compiled_rule.ts";
import type { RecordColumns } from "./records.ts";
import { conditions } from "./testing_conditions.ts";

const hash = (text: string) => `#${text.length}`.padEnd(64, "_");

/** Applies rules, each of a condition and an action, within a time that never ends. */
function apply(batch: RecordColumns, rules: [Test[], Action][], budget = new Budget(() => 0)) {
  const compiled = rules.map(([when, action], n) => ({ id: `r${n}`, when, do: action }));
  return new IngestRules(compiled, { hash, levelOf }).apply(batch, budget);
}

/** Records with the same time. */
function records(columns: Omit<RecordColumns, "p_ts">, count = 1): RecordColumns {
  return { p_ts: new Array(count).fill("2026-11-28T12:00:00Z"), ...columns };
}

Deno.test("a condition finds what the search finds", () => {
  for (const [term, test, found, others] of conditions) {
    const [finds, misses] = [found, others].map((json) => parseJson(json) as object[]);
    for (const record of [...finds, ...misses]) {
      const members = Object.entries(record).map(([name, value]) => [`p_${name}`, [value]]);
      const drop: [Test[], Action] = [[JSON.parse(test)], { type: "drop" }];
      const { dropped } = apply(records(Object.fromEntries(members)), [drop]);
      assert.equal(dropped, finds.includes(record) ? 1 : 0, `${term} ${JSON.stringify(record)}`);
    }
  }
});

Deno.test("rules act in order, and each says what it did", () => {
  const batch = records({
    p_msg: ["GET /a took 5 ms", "ann@example.com", null],
    p_level: [null, "debug", "info"],
    p_attrs: [
      { method: "own", sev: "WARNING", "4111111111111111": 1, card: 4111111111111111 },
      null,
      { a: 1 },
    ],
    p_guessed: { 1: { t: "ann@example.com" }, 3: { time: "x" } },
  }, 3);
  const { batch: made, counts, dropped } = apply(batch, [
    [[{ f: "level", op: "=", value: "debug" }], { type: "drop" }],
    [[], { type: "parse", pattern: "<method> <path> took <_> ms" }],
    [[], { type: "level", from: { a: "sev" } }],
    [[{ a: "path", op: "=", value: "/a" }], { type: "set", f: "service", value: "api" }],
    [[], { type: "remove", a: "a" }],
    [[], {
      type: "mask",
      what: ["email", "card"],
      pattern: "/[a-z]+",
      label: "path",
      in: "everywhere",
      hash: true,
    }],
  ]);
  const { attrTexts: _, ...columns } = made;
  assert.deepEqual(columns, {
    p_ts: ["2026-11-28T12:00:00Z", "2026-11-28T12:00:00Z"],
    p_msg: ["GET [path:#2______] took 5 ms", null],
    p_level: ["warn", "info"],
    p_service: ["api", null],
    p_attrs: [{
      "[card:#16_____]": 1,
      method: "own",
      sev: "WARNING",
      card: "[card:#16_____]",
      path: "[path:#2______]",
    }, null],
    p_positions: [0, 2],
    p_guessed: { 1: { t: "[email:#15_____]" }, 2: { time: "x" } },
    ...Object.fromEntries(
      ["env", "req_id", "user_id", "route", "host"].map((name) => [`p_${name}`, undefined]),
    ),
  });
  assert.equal(dropped, 1);
  assert.deepEqual(
    counts.map((
      { seen, matched, masked, dropped, bytes },
    ) => [seen, matched, masked, dropped, bytes]),
    [
      [3, 1, 0, 1, 20],
      [2, 2, 0, 0, 0],
      [2, 2, 0, 0, 0],
      [2, 1, 0, 0, 0],
      [2, 2, 0, 0, 7],
      [2, 2, 5, 0, 0],
    ],
  );
});

Deno.test("sampling keeps whole requests, and its rates multiply", () => {
  const ids = Array.from({ length: 4000 }, (_, n) => `r-${n >> 1}`);
  const batch = records(
    { p_req_id: ids, p_attrs: ids.map(() => ({ sample_rate: 0.5 })) },
    ids.length,
  );
  const half: [Test[], Action] = [[], { type: "sample", rate: 0.5, by: "req_id" }];
  const once = apply(batch, [half]);
  const twice = apply(batch, [half, half]).batch;
  assert.deepEqual(once.batch, apply(batch, [half]).batch);
  const kept = once.batch.p_req_id!;
  assert.ok(kept.every((id, at) => kept[at % 2 === 0 ? at + 1 : at - 1] === id));
  assert.ok(Math.abs(kept.length - 2000) < 200, String(kept.length));
  assert.ok(Math.abs(twice.p_ts.length - 1000) < 200, String(twice.p_ts.length));
  assert.ok(twice.p_req_id!.every((id) => kept.includes(id)));
  assert.deepEqual([once.batch.p_attrs![0], twice.p_attrs![0]], [{ sample_rate: 0.25 }, {
    sample_rate: 0.125,
  }]);
  // Equal events without a time are not all kept or all left out.
  const same = { p_ts: new Array(1000).fill(null), p_msg: new Array(1000).fill("up") };
  const left = apply(same, [[[], { type: "sample", rate: 0.5, by: "record" }]]).dropped;
  assert.ok(left > 400 && left < 600, String(left));
});

Deno.test("a mask lets nothing through when its time is over, or when it cannot be understood", () => {
  const batch = records({
    p_msg: ["ann@example.com", "safe"],
    p_attrs: [{ a: "x" }, { b: [1, "y"] }],
  }, 2);
  const mask = { type: "mask", what: ["email"], in: "everywhere" } as const;
  const hidden = {
    p_msg: ["[not checked]", "[not checked]"],
    p_attrs: [{ not_checked: "[not checked]" }, { not_checked: "[not checked]" }],
  };
  const late = apply(batch, [[[{ op: "has", value: "nothing" }], mask], [[], {
    type: "remove",
    a: "a",
  }]], new Budget(undefined, 0));
  assert.deepEqual([late.batch.p_msg, late.batch.p_attrs], [hidden.p_msg, hidden.p_attrs]);
  assert.deepEqual([late.counts[0].not_checked, late.counts[0].masked], [4, 0]);
  const unknown = [{ what: ["dna"] }, { what: [], pattern: "(?=a)" }].map((part) => ({
    ...mask,
    ...part,
    in: { fields: ["msg"] },
  }));
  for (const action of unknown) {
    assert.deepEqual(apply(batch, [[[], action]]).batch.p_msg, hidden.p_msg);
  }
  assert.equal(
    apply(batch, [[[{ f: "service", op: "=", value: "a" }], mask]], new Budget(undefined, 0))
      .batch.p_msg,
    batch.p_msg,
  );
  // A long text is looked at piece by piece, and hidden if it has no place to divide it.
  const long = ["a".repeat(100_000), `${"a".repeat(40_000)},`.repeat(9) + "ann@example.com"];
  const [one, other] = apply(records({ p_msg: long.map((text) => `ann@example.com${text}`) }, 2), [[
    [],
    mask,
  ]]).batch.p_msg!;
  assert.deepEqual([one, other?.slice(-9), other?.includes("@")], [
    "[not checked]",
    "a,[email]",
    false,
  ]);
});

Deno.test("rules take 300 ms at most, and an expression's time grows with the text only", () => {
  const patterns = ["(a|a)*b", "(?:a?){50}a{50}b", "a(.*b)?", "(?i)x*x*y", "[a-z]+@"];
  for (const pattern of patterns) {
    const mask: Action = { type: "mask", what: [], pattern, in: "everywhere" };
    const times = [20_000, 40_000, 80_000].map((length) => {
      const batch = records({ p_msg: ["a".repeat(length)] });
      return processorMs(() => apply(batch, [[[], mask]]));
    });
    assert.ok(times[2] < 10 * times[0] + 20, `${pattern}: ${times}`);
  }
  const text = "aAKIA@1.2:3:4+5 DE89 4111 ".repeat(40_000);
  const mask: Action = {
    type: "mask",
    what: ["email", "card", "iban", "ipv6", "phone", "jwt"],
    pattern: "(?:a?){30}b",
    in: "everywhere",
  };
  const rules = new IngestRules(new Array(20).fill({ id: "r", when: [], do: mask }), { levelOf });
  const batch = records({ p_msg: [text, text], p_attrs: [{ text }, { text: [text] }] }, 2);
  const took = processorMs(() => rules.apply(batch, new Budget()));
  assert.ok(took < 400, `${took} ms`);
});

Deno.test("20 rules over one long text, or over very many attributes, keep to the time", () => {
  const test: Test = { op: "has", value: `${"a".repeat(400)}?b` };
  const keep = [[test]];
  const attrs = Object.fromEntries(Array.from({ length: 190_000 }, (_, n) => [`k${n}`, 1]));
  const long = records({ p_msg: ["a".repeat(4_500_000)] });
  const wide = records({ p_attrs: [attrs] });
  const many = records({ p_msg: new Array(1000).fill("a".repeat(1000)) }, 1000);
  const cases: [RecordColumns, Test[], (n: number) => Action][] = [
    [long, [test], () => ({ type: "drop" })],
    [long, [], () => ({ type: "sample", rate: 0.5, by: "record", keep })],
    [wide, [], (n) => ({ type: "set", a: `x${n}`, value: 1 })],
    [wide, [], (n) => ({ type: "remove", a: `k${n}` })],
    [wide, [], () => ({ type: "sample", rate: 0.999999, by: "record" })],
    [many, [], () => ({ type: "mask", what: [], pattern: "a?a?a?.*b", in: "everywhere" })],
  ];
  const mask: Action = { type: "mask", what: ["email"], in: { fields: ["msg"], attrs: ["k1"] } };
  const { p_msg: hidden } = apply(long, [[[test], mask]], new Budget()).batch;
  assert.deepEqual(hidden, ["[not checked]"]);
  for (const [batch, when, action] of cases) {
    const rules = Array.from({ length: 20 }, (_, n): [Test[], Action] => [when, action(n)]);
    let dropped = 0;
    const took = processorMs(() => ({ dropped } = apply(batch, rules, new Budget())));
    assert.ok(took < 600 && dropped === 0, `${action(0).type}: ${took} ms, ${dropped} dropped`);
  }
  assert.equal(Object.keys(attrs).length, 190_000);
});

Deno.test("the name of an attribute tells what its value is, as in a text", () => {
  const key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  const attrsWith = (aws: string, word: string, token: string, basic: string) => ({
    aws_secret_access_key: aws,
    other: key,
    a: [{ authorization: [word, basic] }],
    bearer: token,
    json: `{\\"secretAccessKey\\":\\"${aws}\\",\\"Authorization\\":\\"${word}\\"}`,
  });
  const batch = records({
    p_attrs: [attrsWith(key, "Bearer abcdefghij", "abcd1234", "Basic abc")],
  });
  for (const place of ["everywhere", { attrs: Object.keys(batch.p_attrs![0]!) }] as const) {
    const what = ["aws_key", "bearer"];
    const mask: Action = { type: "mask", what, pattern: "^Basic .*", label: "basic", in: place };
    const masked = attrsWith("[aws_key]", "[bearer]", "[bearer]", "[basic]");
    assert.deepEqual(apply(batch, [[[], mask]]).batch.p_attrs, [masked]);
  }
});

Deno.test("a wait for the processor is no work, but must end too", () => {
  /** How many of 20 steps, which read so many characters and last so long, are done within 100 ms. */
  const done = (characters: number, ms: number) => {
    let now = 0;
    const budget = new Budget(() => now, 100);
    budget.begin();
    const isInTime = () => !budget.check(characters) && (now += ms, !budget.check());
    return new Array(20).fill(0).filter(isInTime).length;
  };
  // A step of 10,000 characters takes 10.3 ms at most.
  assert.deepEqual([done(0, 30), done(10_000, 8), done(10_000, 30), done(0, 100)], [20, 12, 9, 7]);
});

Deno.test("five rules check 10,000 usual events in time", () => {
  const count = 10_000;
  const attrs = { status: 200, method: "GET", client_ip: "37.11.0.8", user_agent: "Chrome/32.0.1" };
  const batch = records({
    p_msg: Array.from({ length: count }, (_, n) => `GET /images/${n}.png for user u${n}@a.example`),
    p_attrs: Array.from({ length: count }, (_, n) => ({ ...attrs, bytes: n, trace: `${n}-${n}` })),
  }, count);
  const rules = [
    { what: ["email", "card"] },
    { what: ["ipv4", "ipv6", "jwt", "bearer", "phone"] },
    { what: [], pattern: "(?:password|token|secret)[=:]\\s*\\S+" },
    { what: [], pattern: "[A-Z]{2}[0-9]{6}" },
  ].map((mask): [Test[], Action] => [[], { type: "mask", in: "everywhere", ...mask }]);
  rules.push([[{ f: "level", op: "=", value: "debug" }], { type: "drop" }]);
  const { counts } = apply(batch, rules, new Budget());
  assert.deepEqual(counts.map((one) => one.not_checked), [0, 0, 0, 0, 0]);
  assert.deepEqual(counts.map((one) => one.masked), [count, count, 0, 0, 0]);
});

Deno.test("sampling keeps what passes one of the lists of tests, without a rate", () => {
  const batch = records({
    p_level: ["error", "info", "info", "info"],
    p_req_id: ["r", "r", "r", "r"],
    p_attrs: [null, { duration_ms: 501 }, { duration_ms: 500 }, null],
  }, 4);
  const keep: Test[][] = [
    [{ f: "level", op: "=", value: "error" }],
    [{ a: "duration_ms", op: ">", value: 500 }],
  ];
  const { batch: kept, counts } = apply(batch, [
    [[], { type: "sample", rate: 1e-9, by: "req_id", keep }],
  ]);
  assert.deepEqual(kept.p_level, ["error", "info"]);
  assert.deepEqual(kept.p_attrs, [null, { duration_ms: 501 }]);
  assert.equal(counts[0].sampled, 2);
});
