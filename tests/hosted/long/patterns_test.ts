import assert from "node:assert/strict";
import { findRuntime, hostedVersion } from "../../../local/runtime.ts";
import { checkout } from "../../../local/stack.ts";
import { functionPatterns } from "../../patterns/find.ts";
import { sampleOf } from "../../support/sample.ts";
import { type Cost, mostForDouble } from "../../patterns/measure.ts";

Deno.test("every regular expression of the functions costs as much as its text is long", async () => {
  const runtime = await findRuntime(hostedVersion, () => {});
  const all = await functionPatterns();
  const patterns = sampleOf(all, 50);
  assert.ok(all.some(({ place }) => place.startsWith("supabase/functions/ingest/protocols/")));
  const program = new Deno.Command(runtime.program, {
    args: ["run", "--allow-all", "--no-lock", `${checkout}/tests/patterns/measure.ts`],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = program.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(patterns)));
  await writer.close();
  const { success, stdout } = await program.output();
  assert.ok(success);
  const costs: Cost[] = JSON.parse(new TextDecoder().decode(stdout));
  assert.equal(costs.length, patterns.length);
  const faults = costs
    .map((cost, n) => ({ pattern: patterns[n], ...cost }))
    .filter(({ doubling }) => doubling > mostForDouble);
  assert.deepEqual(faults, []);
});
