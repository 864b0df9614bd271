import assert from "node:assert/strict";
import { findRuntime, hostedVersion } from "../../../local/deno_runtimes.ts";
import { checkout } from "../../../local/stack.ts";
import { functionPatterns } from "../../patterns/find_patterns.ts";
import { type Cost, mostForDouble } from "../../patterns/worst_cost.ts";

const all = await functionPatterns();
const atOnce = 25;

Deno.test("the functions' regular expressions are found", () => {
  assert.ok(all.some(({ place }) => place.startsWith("supabase/functions/ingest/protocols/")));
});

for (let from = 0; from < all.length; from += atOnce) {
  const patterns = all.slice(from, from + atOnce);
  const which = `${from + 1} to ${from + patterns.length}`;
  Deno.test(`the cost of regular expressions ${which} is linear in the text`, async () => {
    const runtime = await findRuntime(hostedVersion, () => {});
    const program = new Deno.Command(runtime.program, {
      args: ["run", "--allow-all", "--no-lock", `${checkout}/tests/patterns/worst_cost.ts`],
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
}
