import assert from "node:assert/strict";
import { longSteps, steps } from "../runner/steps.ts";
import { talliesIn, tell } from "../support/trial_counts.ts";
import { reportOf } from "../trial/report.ts";
import { kindsOf, nextKind } from "../trial/trial_turns.ts";

const kinds = kindsOf([]);

Deno.test("the kind that is furthest from its target has the next turn", () => {
  assert.equal(nextKind(kinds, {}).name, kinds[0].name);
  const reached = Object.fromEntries(kinds.map(({ counts, wanted }) => [counts, wanted / 2]));
  assert.equal(nextKind(kinds, { ...reached, kills: 499 }).name, "kills under load");
  assert.equal(nextKind(kinds, { ...reached, kills: 499, bodies: 0 }).name, "fuzzed bodies");
});

Deno.test("kinds are named by their counts, and the help lists all", async () => {
  assert.deepEqual(kindsOf(["kills", "bodies"]).map(({ name }) => name), [
    "fuzzed bodies",
    "kills under load",
  ]);
  assert.throws(
    () => kindsOf(["kill"]),
    /^Failure: There is no kind of trial kill; there are .*kills/,
  );
  const help = await Deno.readTextFile(new URL("../../local/run.mjs", import.meta.url));
  const names = kinds.map(({ counts }) => counts);
  assert.ok(help.includes(`${names.slice(0, -1).join(", ")} or ${names.at(-1)}\n`));
});

Deno.test("every kind is an existing step or test, and its count is in the report", async () => {
  const known = new Set([...steps, ...longSteps].map(({ name }) => name));
  for (const { repeat, counts } of kinds) {
    const [step, ...files] = repeat.split(" ");
    assert.ok(known.has(step), repeat);
    for (const file of files) await Deno.stat(new URL(`../../${file}`, import.meta.url));
    const report = reportOf({ ...state, reached: { [counts]: 123_456 } });
    assert.match(report, /^\| .* \| 123,456 +\|/m);
  }
});

const state = {
  commit: "a27ffef5",
  began: "2026-11-26T16:00:00.000Z",
  seconds: 5400,
  reached: { bodies: 12_000, queries: 1_000, sealedQueries: 200, hiddenQueries: 34 },
  disagreements: [],
};

Deno.test("a report has date, commit, hours, counts and each disagreement", () => {
  const report = reportOf(state);
  assert.match(report, /^2026-11-26, commit a27ffef5, 1\.5 hours\.\n/);
  assert.match(report, /^\| fuzzed bodies, over all protocols \| 12,000 \| 1,000,000 \|$/m);
  assert.match(report, /^\| random queries, all kinds \| 1,234 \| 10,000,000 \|$/m);
  assert.match(report, /\nNo disagreement was found\.\n$/);
  const found = reportOf({ ...state, disagreements: ["QUERY_SEED=1 npm test -- query\nwhy"] });
  assert.match(found, /\nDisagreements:\n\n- `QUERY_SEED=1 npm test -- query`\n$/);
});

Deno.test("the counts of tests are read from their file", async () => {
  const file = await Deno.makeTempFile();
  Deno.env.set("LOGLOOM_TALLY_FILE", file);
  tell({ bodies: 16 });
  tell({ runs: 1, commands: 20 });
  Deno.env.delete("LOGLOOM_TALLY_FILE");
  tell({ bodies: 1 });
  assert.deepEqual(await talliesIn(file), [{ bodies: 16 }, { runs: 1, commands: 20 }]);
  await Deno.remove(file);
});
