import { doesNotThrow, throws } from "node:assert/strict";
import { requireSameWorkers } from "./nodes.ts";

Deno.test("a stack with data refuses another number of workers", () => {
  const stack = { name: "dev" } as const;
  throws(() => requireSameWorkers(stack, 0, 2), {
    name: "Failure",
    message: "The dev stack's data are on a single server. npm run reset removes them; " +
      "then it starts with --citus 2.",
  });
  throws(() => requireSameWorkers(stack, 2, 3), {
    message: "The dev stack's data are sharded over 2 workers. npm run reset removes them; " +
      "then it starts with --citus 3.",
  });
  doesNotThrow(() => requireSameWorkers(stack, 2, 2));
  doesNotThrow(() => requireSameWorkers(stack, 2, undefined));
  doesNotThrow(() => requireSameWorkers(stack, 0, undefined));
});
