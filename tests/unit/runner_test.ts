import assert from "node:assert/strict";
import { runApart } from "../runner/apart.ts";
import { output } from "../runner/step.ts";
import { sampleOf, sampleSeed } from "../support/sample.ts";

const quiet = () => null;

Deno.test("a tool that says nothing is ended, and what it said is kept", async () => {
  const { code, text } = await output(["bash", "-c", "echo begun; sleep 600"], {}, quiet, 1_000);
  assert.notEqual(code, 0);
  assert.equal(text, "begun\n\nIt has said nothing for 1 s and is ended.");
});

Deno.test("what a tool left behind does not hold up what comes after it", async () => {
  const { code, text } = await output(
    ["bash", "-c", "sleep 600 & echo $!"],
    {},
    quiet,
    60_000,
  );
  assert.equal(code, 0);
  Deno.kill(Number(text));
});

Deno.test("a sample is drawn by the seed, and without one all are tried", () => {
  const all = ["a", "b", "c", "d", "e"];
  const before = Deno.env.get(sampleSeed);
  const drawnBy = (seed: string) => {
    Deno.env.set(sampleSeed, seed);
    return sampleOf(all, 2);
  };
  try {
    assert.deepEqual(drawnBy("1"), drawnBy("1"));
    const samples = Array.from({ length: 50 }, (_, seed) => drawnBy(`${seed}`));
    assert.deepEqual(new Set(samples.map(({ length }) => length)), new Set([2]));
    assert.deepEqual([...new Set(samples.flat())].sort(), all);
    assert.deepEqual(samples.map((sample) => sample.toSorted()), samples);
    Deno.env.delete(sampleSeed);
    assert.deepEqual(sampleOf(all, 2), all);
  } finally {
    if (before !== undefined) Deno.env.set(sampleSeed, before);
  }
});

Deno.test("a step that runs apart has its row, and a run that ends later does not touch it", async () => {
  const ended = new AbortController();
  const env = Deno.env.toObject();
  const { row, text } = await runApart({ name: "sql" }, { env, signal: ended.signal });
  ended.abort();
  assert.deepEqual([row.name, row.failed, row.failures], ["sql", 0, []]);
  assert.ok(row.passed > 500, `${row.passed}`);
  assert.match(text, /^== sql: /m);
});

Deno.test("a step that is ended has failed", async () => {
  const env = Deno.env.toObject();
  const { row } = await runApart({ name: "types" }, { env, signal: AbortSignal.timeout(500) });
  assert.deepEqual([row.passed, row.failed], [0, 1]);
});
