import assert from "node:assert/strict";
import { bodyOf, costOfBody } from "./body_costs.ts";
import { worstBodies } from "./worst_bodies.ts";

/** Times JSON.parse of the same bytes. */
const most = 20;
/**
 * What a machine may add to it: JSON.parse only copies a body of one text, at a speed that differs from machine to
 * machine. What costs as a square costs hundreds of times.
 */
const noise = 3;

Deno.test("no body costs more than twenty times what JSON.parse takes for its bytes", async () => {
  const faults: unknown[] = [];
  for (const recipe of worstBodies) {
    // Half as large as may be: what costs as its square shows there, too, and the rest takes half.
    const body = bodyOf(recipe, 0.5);
    const cost = await costOfBody(recipe, body, 15, most);
    // Refused for what it is, or taken; never an error of ours, which senders would repeat.
    assert.ok(
      [200, 202, 204, 400, 413].includes(cost.status),
      `${recipe.name}: ${cost.status}`,
    );
    if (cost.ratio > noise * most) faults.push({ name: recipe.name, ...cost });
  }
  assert.deepEqual(faults, []);
});
