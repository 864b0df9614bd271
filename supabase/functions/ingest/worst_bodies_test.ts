import assert from "node:assert/strict";
import { bodyOf, type Recipe, runBody } from "./testing_body_costs.ts";
import { worstBodies } from "./testing_worst_bodies.ts";

/** Usual events, to compare with: a slow machine is slow at both. */
const usual: Recipe = {
  name: "usual events",
  path: "/lines",
  again: '{"level":"info","msg":"request # was served in # ms","attrs":{"status":200,"user":"#"}}',
  between: "\n",
};

/** The most that a body may cost, as a multiple of usual events of the same length. */
const most = 20;
/** A quarter of the largest body is enough to show a quadratic cost. */
const part = 0.25;
/** The most attempts: other processes or garbage collection can disturb a run, and one cheap run is proof. */
const runs = 20;
/** A cost that noise cannot explain, so it is not tried again. */
const hopeless = 20 * most;

Deno.test("no body costs more than twenty times as much as usual events of its length", async () => {
  const usualBody = bodyOf(usual, part / 2);
  const faults: unknown[] = [];
  for (const recipe of worstBodies) {
    const body = bodyOf(recipe, part);
    let least = Infinity;
    for (let run = 0; run < runs && least > most && !(run > 0 && least > hopeless); run++) {
      const { milliseconds: reference } = await runBody(usual, usualBody);
      const { status, milliseconds } = await runBody(recipe, body);
      // The answer is never an error of ours (5xx), because senders would repeat the request.
      assert.ok([200, 202, 204, 400, 413].includes(status), `${recipe.name}: ${status}`);
      // Every answer has a cost, so a short body may cost as much as the usual one.
      const bytes = Math.max(body.length, usualBody.length);
      least = Math.min(least, milliseconds / (reference * bytes / usualBody.length));
    }
    if (least > most) faults.push({ name: recipe.name, least });
  }
  assert.deepEqual(faults, []);
});
