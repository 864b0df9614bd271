import assert from "node:assert/strict";
import { type Batch, Batcher, halves } from "./batches.ts";

const origin = { source: "app.log", line: 1 };

function bodyBytes({ events }: Batch): number {
  return new TextEncoder().encode(`[${events.join(",")}]`).length;
}

Deno.test("a batch holds at most 10,000 events", () => {
  const batcher = new Batcher();
  for (let n = 0; n < 10_000; n++) assert.equal(batcher.add("{}", origin), undefined);
  assert.equal(batcher.add("{}", origin)?.events.length, 10_000);
  assert.equal(batcher.take()?.events.length, 1);
  assert.equal(batcher.take(), undefined);
});

Deno.test("a batch is at most 490,000 bytes, whatever the characters", () => {
  const batcher = new Batcher();
  const event = JSON.stringify({ msg: "é😀".repeat(100) });
  let full: Batch | undefined;
  while (full === undefined) full = batcher.add(event, origin);
  const eventBytes = new TextEncoder().encode(event).length + 1;
  assert.ok(bodyBytes(full) <= 490_000);
  assert.ok(bodyBytes(full) > 490_000 - 2 * eventBytes);
  assert.ok(Batcher.fits("x".repeat(489_998)));
  assert.ok(!Batcher.fits("x".repeat(489_999)));
  assert.ok(!Batcher.fits("é".repeat(245_000)));
});

Deno.test("halves of a batch keep every event with its origin", () => {
  const origins = [1, 2, 3].map((line) => ({ source: "app.log", line }));
  const [first, second] = halves({ events: ["a", "b", "c"], origins, bytes: 9 });
  assert.deepEqual([first.events, second.events], [["a", "b"], ["c"]]);
  assert.deepEqual([...first.origins, ...second.origins], origins);
});
