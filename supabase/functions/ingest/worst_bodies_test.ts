import assert from "node:assert/strict";
import { bodyOf, type Recipe, runBody } from "./body_costs.ts";
import { worstBodies } from "./worst_bodies.ts";

/** What the function is for. The same code reads it, so a slow machine is slow at both. */
const usual: Recipe = {
  name: "usual events",
  path: "/lines",
  again: '{"level":"info","msg":"request # was served in # ms","attrs":{"status":200,"user":"#"}}',
  between: "\n",
};

/** Times what as many bytes of usual events cost: as much as a hosted function may use for a whole body. */
const most = 20;
/** A quarter of the largest body, for what costs as a square shows there, too. */
const part = 0.25;
/** One run proves that a body is cheap; another process, or a collection of garbage, may spoil any of them. */
const runs = 20;
/** No noise is as much: it is not tried again. */
const hopeless = 20 * most;

Deno.test("no body costs more than twenty times what usual events of its length do", async () => {
  const usualBody = bodyOf(usual, part / 2);
  const faults: unknown[] = [];
  for (const recipe of worstBodies) {
    const body = bodyOf(recipe, part);
    let least = Infinity;
    for (let run = 0; run < runs && least > most && !(run > 0 && least > hopeless); run++) {
      const { milliseconds: reference } = await runBody(usual, usualBody);
      const { status, milliseconds } = await runBody(recipe, body);
      // Refused for what it is, or taken; never an error of ours, which senders would repeat.
      assert.ok([200, 202, 204, 400, 413].includes(status), `${recipe.name}: ${status}`);
      // An answer is never free: a short body may cost what the usual one does.
      const bytes = Math.max(body.length, usualBody.length);
      least = Math.min(least, milliseconds / (reference * bytes / usualBody.length));
    }
    if (least > most) faults.push({ name: recipe.name, least });
  }
  assert.deepEqual(faults, []);
});
