import assert from "node:assert/strict";
import { createLines } from "./in_line.ts";

Deno.test("work of one name is done in turn, and holds up no other name", async () => {
  const inLine = createLines(60_000);
  const done: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const first = inLine("a", async () => {
    await held;
    done.push("a1");
    return 1;
  });
  const second = inLine("a", () => {
    done.push("a2");
    return Promise.resolve(2);
  });
  assert.equal(await inLine("b", () => Promise.resolve(done.push("b"))), 1);
  release();
  assert.deepEqual(await Promise.all([first, second]), [1, 2]);
  assert.deepEqual(done, ["b", "a1", "a2"]);
});

Deno.test("whoever has waited too long leaves the line", async () => {
  const inLine = createLines(20);
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const first = inLine("a", () => held.then(() => 1));
  let isDone = false;
  const second = await inLine("a", () => {
    isDone = true;
    return Promise.resolve(2);
  });
  assert.equal(second, undefined);
  release();
  assert.equal(await first, 1);
  // Who comes after is not held up by who left.
  assert.equal(await inLine("a", () => Promise.resolve(3)), 3);
  assert.equal(isDone, false);
});

Deno.test("work that fails ends nobody else's", async () => {
  const inLine = createLines(60_000);
  const failing = inLine("a", () => Promise.reject(new Error("no")));
  const next = inLine("a", () => Promise.resolve(2));
  await assert.rejects(failing, /no/);
  assert.equal(await next, 2);
});
