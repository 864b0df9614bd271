import assert from "node:assert/strict";
import { blockOf, declined, found, runProgram, withTrial } from "./sender.ts";
import { checkout } from "../../local/stack.ts";

Deno.test("pino: its lines, levels of one's own among them, through curl", async () => {
  await withTrial("pino", async (trial) => {
    const folder = `${checkout}/tests/senders`;
    const app = await Deno.makeTempFile({ dir: folder, prefix: ".run-", suffix: ".mjs" });
    try {
      await Deno.writeTextFile(app, await blockOf("json.md", "pino.mjs"));
      const script = await blockOf("json.md", "pino.sh");
      const env = { ...trial.env, APP: app };
      await runProgram({ program: "bash", args: ["-ec", script], env, cwd: folder });
    } finally {
      await Deno.remove(app);
    }
    const [error] = await found(trial, declined);
    assert.equal(error.attrs?.original_level, 50);
    const [audit] = await found(trial, "service:shop level:info attrs.order:8");
    assert.equal(audit.attrs?.original_level, 35);
  });
});
