import assert from "node:assert/strict";
import { inTurn } from "../../console/src/portal/requests-in-turn.ts";

// The places that frames share are tested in a browser: tests/package/viewer_together_test.ts.
Object.defineProperty(navigator, "locks", { value: undefined });

Deno.test("a search that nobody waits for keeps its place until it is answered", async () => {
  const sent: { query: string; answer: () => void; signal?: AbortSignal | null }[] = [];
  const ask = inTurn((input, init) => {
    const { promise, resolve } = Promise.withResolvers<Response>();
    const answer = () => resolve(new Response());
    sent.push({ query: String(input), answer, signal: init?.signal });
    return promise;
  });
  const queries = () => sent.map(({ query }) => query);
  const leave = new AbortController();
  const { signal } = leave;
  const left = [ask("a", { signal }), ask("b", { signal }), ask("c", { signal })];
  const next = ask("d");
  leave.abort();
  for (const search of left.slice(0, 2)) await assert.rejects(search, { name: "AbortError" });
  assert.deepEqual(queries(), ["a", "b"]);
  sent[0].answer();
  await assert.rejects(left[2], { name: "AbortError" });
  await Promise.resolve();
  assert.deepEqual(queries(), ["a", "b", "d"]);
  assert.deepEqual(sent.map((one) => one.signal?.aborted), [true, false, false]);
  sent[1].answer();
  sent[2].answer();
  assert.equal((await next).status, 200);
});
