import assert from "node:assert/strict";
import { shuffled } from "../support/random.ts";
import { allOrders, orderOf, stepsOf } from "./permutations.ts";

Deno.test("allOrders returns each order once", () => {
  assert.deepEqual(allOrders(2, 1), ["aab", "aba", "baa"]);
  assert.equal(new Set(allOrders(6, 5)).size, 462);
  assert.equal(allOrders(6, 5).length, 462);
});

Deno.test("steps have names", () => {
  assert.deepEqual(stepsOf("abba"), ["a1", "b1", "b2", "a2"]);
  assert.equal(orderOf(["a1", "b1", "b2", "a2"]), "abba");
});

Deno.test("the same seed draws the same orders", () => {
  const draw = (seed: number) => shuffled(allOrders(3, 3), seed).slice(0, 4);
  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
  assert.deepEqual(shuffled(allOrders(3, 3), 1).sort(), allOrders(3, 3).sort());
});
