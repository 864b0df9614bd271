import assert from "node:assert/strict";
import { oneAtATime } from "./one_at_a_time.ts";

Deno.test("work of one key is done in turn, independent of other keys", async () => {
  const inTurn = oneAtATime(60_000);
  const done: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const first = inTurn("a", async () => {
    await held;
    done.push("a1");
    return 1;
  });
  const second = inTurn("a", () => {
    done.push("a2");
    return Promise.resolve(2);
  });
  assert.equal(await inTurn("b", () => Promise.resolve(done.push("b"))), 1);
  release();
  assert.deepEqual(await Promise.all([first, second]), [1, 2]);
  assert.deepEqual(done, ["b", "a1", "a2"]);
});

Deno.test("work that has waited too long is not done", async () => {
  const inTurn = oneAtATime(20);
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const first = inTurn("a", () => held.then(() => 1));
  let isDone = false;
  const second = await inTurn("a", () => {
    isDone = true;
    return Promise.resolve(2);
  });
  assert.equal(second, undefined);
  release();
  assert.equal(await first, 1);
  // The next one is not delayed.
  assert.equal(await inTurn("a", () => Promise.resolve(3)), 3);
  assert.equal(isDone, false);
});

Deno.test("work that fails does not stop other work", async () => {
  const inTurn = oneAtATime(60_000);
  const failing = inTurn("a", () => Promise.reject(new Error("no")));
  const next = inTurn("a", () => Promise.resolve(2));
  await assert.rejects(failing, /no/);
  assert.equal(await next, 2);
});
