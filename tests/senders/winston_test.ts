import assert from "node:assert/strict";
import { blockOf, declined, found, runNode, testNodeSender, withTrial } from "./sender.ts";

// Its HTTP transport sends nothing again.
testNodeSender({
  name: "winston",
  page: "json.md",
  block: "winston.mjs",
  query: declined,
  say: (n) => `logger.info("event " + ${n})`,
  promised: { lost: "some", doubled: "none" },
});

Deno.test("winston: levels of its own are understood, and kept", async () => {
  await withTrial("winston", async (trial) => {
    const program = await blockOf("json.md", "winston.mjs");
    await runNode(`${program}\nsetTimeout(() => process.exit(0), 1500);\n`, trial.env);
    const [log] = await found(trial, "level:debug attrs.order:8");
    assert.deepEqual(log.attrs, { order: 8, original_level: "silly" });
  });
});
