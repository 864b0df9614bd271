import assert from "node:assert/strict";
import { isHosted } from "../_shared/processor.ts";
import { bodyOf, costOfBody } from "./body_costs.ts";
import { worstBodies } from "./worst_bodies.ts";

/** Times JSON.parse of the same bytes. */
const most = 20;

/** Wait for numbers to be told from texts without a look at each letter of a text. */
const waiting = ["tags of ever new names"];

Deno.test("no body costs more than twenty times what JSON.parse takes for its bytes", async () => {
  const faults: unknown[] = [];
  for (
    const recipe of worstBodies.filter(({ name }) => !waiting.includes(name))
  ) {
    const body = bodyOf(recipe);
    const cost = await costOfBody(recipe, body, isHosted ? 15 : 5, most);
    // Refused for what it is, or taken; never an error of ours, which senders would repeat.
    assert.ok(
      [200, 202, 204, 400, 413].includes(cost.status),
      `${recipe.name}: ${cost.status}`,
    );
    if (cost.ratio > most) faults.push({ name: recipe.name, ...cost });
  }
  assert.deepEqual(faults, []);
});
