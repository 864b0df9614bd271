import assert from "node:assert/strict";
import {
  blockOf,
  declined,
  events,
  found,
  intoAnOutage,
  isLong,
  runProgram,
  type Trial,
  withTrial,
} from "./sender.ts";
import { checkout } from "../../local/stack.ts";

/** Runs a program that logs, its lines sent as the page shows it. */
async function runPiped(trial: Trial, program: string): Promise<void> {
  const folder = `${checkout}/tests/senders`;
  const app = await Deno.makeTempFile({ dir: folder, prefix: ".run-", suffix: ".mjs" });
  try {
    await Deno.writeTextFile(app, program);
    const script = await blockOf("json.md", "pino.sh");
    const env = { ...trial.env, APP: app };
    await runProgram({ program: "bash", args: ["-ec", script], env, cwd: folder });
  } finally {
    await Deno.remove(app);
  }
}

Deno.test("pino: its lines, levels of one's own among them, through curl", async () => {
  await withTrial("pino", async (trial) => {
    await runPiped(trial, await blockOf("json.md", "pino.mjs"));
    const [error] = await found(trial, declined);
    assert.equal(error.attrs?.original_level, 50);
    const [audit] = await found(trial, "service:shop level:info attrs.order:8");
    assert.equal(audit.attrs?.original_level, 35);
  });
});

Deno.test({
  name: "pino: through an outage of five seconds",
  ignore: !isLong,
  fn: () =>
    withTrial("pino", async (trial) => {
      const program = `${await blockOf("json.md", "pino.mjs")}
for (let n = 0; n < ${events}; n++) logger.info("event " + n);
`;
      const promised = { lost: "none", doubled: "none" } as const;
      await intoAnOutage(trial, () => runPiped(trial, program), promised);
    }),
});
