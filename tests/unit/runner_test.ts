import assert from "node:assert/strict";
import { Failure } from "../../local/exit_on_failure.ts";
import { runApart } from "../runner/run_in_process.ts";
import { DenoFileTimes, proveFileTimes, slowest } from "../runner/file_times.ts";
import { concerns, divisions, longParts } from "../runner/long_parts.ts";
import {
  landings,
  nextTurn,
  sharesOf,
  type Turn,
  turnSeconds,
  wallSeconds,
} from "../runner/long_turn.ts";
import { closingLine, verdict } from "../runner/report.ts";
import { runStep } from "../runner/run_step.ts";
import { denoResult, denoTests, output, turnName } from "../runner/step.ts";
import { longSteps } from "../runner/steps.ts";

const quiet = () => null;

Deno.test("a tool without output is ended, and its earlier output is kept", async () => {
  const { code, text } = await output(["bash", "-c", "echo begun; sleep 600"], {}, quiet, 1_000);
  assert.notEqual(code, 0);
  assert.equal(text, "begun\n\nNo output for 1 s: it is ended.");
});

Deno.test("processes that a tool leaves behind do not delay the next one", async () => {
  const { code, text } = await output(["bash", "-c", "sleep 600 & echo $!"], {}, quiet, 60_000);
  assert.equal(code, 0);
  Deno.kill(Number(text));
});

Deno.test("a step in its own process returns its result, and a later run does not change it", async () => {
  const ended = new AbortController();
  const env = Deno.env.toObject();
  const { row, text } = await runApart({ name: "sql" }, { env, signal: ended.signal });
  ended.abort();
  assert.deepEqual([row.name, row.failed], ["sql", 0]);
  assert.ok(row.passed > 500, `${row.passed}`);
  assert.match(text, /^== sql: /m);
  assert.doesNotMatch(text, /== summary/);
});

Deno.test("a step that was ended counts as failed", async () => {
  const env = Deno.env.toObject();
  const { row } = await runApart({ name: "types" }, { env, signal: AbortSignal.timeout(500) });
  assert.deepEqual([row.passed, row.failed], [0, 1]);
});

Deno.test("a step that throws, or whose stack does not start, has failed with the reason", async () => {
  const step = { name: "s", title: "throws", needsStack: false };
  const noStack = () => Promise.reject(new Failure("no PostgreSQL"));
  const passes = () => Promise.resolve({ passed: 1, failed: 0 });
  const throws = () => Promise.reject(new Failure("The types are wrong"));
  for (
    const [{ needsStack, run }, passed, failures] of [
      [{ needsStack: false, run: passes }, 1, undefined],
      [{ needsStack: false, run: throws }, 0, ["The types are wrong"]],
      [{ needsStack: true, run: passes }, 0, ["no PostgreSQL"]],
    ] as const
  ) {
    const row = await runStep({ ...step, needsStack, run }, [], noStack);
    assert.deepEqual([row.name, row.passed, row.failed], ["s", passed, 1 - passed]);
    assert.deepEqual(row.failures, failures);
  }
});

const parts = await longParts();
const nobody = { after: "head", changedSince: () => [] };

Deno.test("every long step is divided into parts that fit a turn", async () => {
  assert.deepEqual(Object.keys(divisions).sort(), longSteps.map(({ name }) => name).sort());
  for (const part of parts) assert.ok(wallSeconds([part]) <= turnSeconds, part.name);
  for (const { slow = {} } of Object.values(divisions)) {
    for (const file of Object.keys(slow)) {
      await Deno.stat(new URL(`../../${file}`, import.meta.url));
    }
  }
});

for (
  const [changes, changed] of [
    ["nothing changes", []],
    ["the package changes", ["packages/logloom/src/index.ts"]],
    ["everything changes", parts.flatMap(({ file, step }) => [file ?? divisions[step].sources[0]])],
  ] as const
) {
  Deno.test(`all parts run within ten merges while ${changes}`, () => {
    let turns: Turn[] = [];
    const tried: string[][] = [];
    for (let landing = 0; landing < 3 * landings; landing++) {
      turns = nextTurn(parts, turns, { after: `${landing}`, changedSince: () => [...changed] });
      const chosen = parts.filter(({ name }) => turns.at(-1)?.parts.includes(name));
      assert.ok(wallSeconds(chosen) <= turnSeconds);
      tried.push(chosen.map(({ name }) => name));
    }
    const names = parts.map(({ name }) => name).sort();
    assert.deepEqual(turns.flatMap((turn) => turn.parts).sort(), names);
    for (let from = 0; from + landings <= tried.length; from++) {
      const within = new Set(tried.slice(from, from + landings).flat());
      assert.deepEqual(names.filter((name) => !within.has(name)), [], `from landing ${from}`);
    }
  });
}

Deno.test("a changed part runs again, and so do all parts that use changed helpers", () => {
  let turns: Turn[] = [];
  for (let landing = 0; landing < landings; landing++) turns = nextTurn(parts, turns, nobody);
  const unchanged = nextTurn(parts, turns, nobody).at(-1)?.parts;
  const waiting = parts.filter(({ name, file }) => file && !unchanged?.includes(name)).at(-1);
  const changedSince = () => [waiting?.file ?? ""];
  const next = nextTurn(parts, turns, { ...nobody, changedSince }).at(-1);
  assert.ok(waiting && next?.parts.includes(waiting.name));
  const ofPackage = parts.filter(({ step }) => step === "package");
  assert.ok(ofPackage.every((part) => concerns(["tests/package/programs.ts"], part)));
  assert.deepEqual(
    ofPackage.filter((part) => concerns(["tests/package/bun_test.ts"], part)).length,
    1,
  );
});

Deno.test("several parts of a file are named together", () => {
  const of = (name: string) => parts.filter((part) => part.name.startsWith(name));
  const some = [
    ...of("archive tests/archive/kills_test.ts").slice(1, 3),
    ...of("archive tests/archive/duckdb"),
  ];
  assert.deepEqual(sharesOf(some), { "tests/archive/kills_test.ts": ["2/5", "3/5"] });
});

Deno.test("what a turn has no time for is named, each share by itself", async () => {
  const file = "tests/unit/circles_test.ts";
  const shares = { [file]: ["1/5", "3/5"] };
  Deno.env.set(turnName, JSON.stringify({ until: 0, shares }));
  const { skipped, notRun } = await denoTests([], { files: [file], stack: undefined })
    .finally(() => Deno.env.delete(turnName));
  assert.deepEqual(
    [skipped, notRun],
    [2, [`no time was left for ${file} 1/5`, `no time was left for ${file} 3/5`]],
  );
});

Deno.test("the time of a file is measured between the lines that announce files", () => {
  let now = 0;
  const times = new DenoFileTimes(() => now);
  for (
    const [at, line] of [[0, "x"], [1000, "running 1 test from ./a_test.ts"], [
      1500,
      "a ... ok (1s)",
    ], [3000, "running 2 tests from ./b_test.ts"]] as const
  ) {
    now = at;
    times.hear(line);
  }
  now = 7000;
  assert.deepEqual(times.end(), { "a_test.ts": 2, "b_test.ts": 4 });
  const proved = proveFileTimes(
    "[17:00:01] a/x.test.sql ... ok     1500 ms ( 0.00 usr)\n[17:00:02] b.test.sql .... \n# note\nok      250 ms\na/x.test.sql .. ok 500 ms\n",
  );
  const failed = "c.sql .. Failed 1/3 subtests\nd.sql .. ok 2000 ms";
  assert.deepEqual(proveFileTimes(failed), { "d.sql": 2 });
  assert.deepEqual(proved, { "a/x.test.sql": 2, "b.test.sql": 0.25 });
  const rows = [{ name: "e2e", files: times.times }, { name: "pgtap", files: proved }, {
    name: "sql",
  }];
  assert.deepEqual(slowest(rows, 2), [
    { step: "e2e", file: "b_test.ts", seconds: 4 },
    { step: "e2e", file: "a_test.ts", seconds: 2 },
  ]);
});

Deno.test("skipped tests are counted separately, with their reason", () => {
  const text =
    "not run: curl is not installed\nrunning 2 tests from ./a_test.ts\n\nok | 3 passed | 0 failed | 2 ignored (1s)\n";
  const ignored = denoResult(text, 0);
  assert.deepEqual(ignored, {
    passed: 3,
    failed: 0,
    skipped: 2,
    failures: [],
    notRun: ["curl is not installed"],
  });
  assert.equal(verdict(ignored), "ok; 2 not run: curl is not installed");
  const citus = { passed: 0, failed: 0, skipped: 1, notRun: ["Citus is not installed"] };
  assert.equal(verdict(citus), "not run: Citus is not installed");
  assert.equal(closingLine([ignored, citus]), "3 passed, 0 failed, 3 skipped");
  assert.equal(closingLine([{ passed: 3, failed: 1 }]), "3 passed, 1 failed");
});
