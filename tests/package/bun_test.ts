import assert from "node:assert/strict";
import { packages } from "../../local/npm_package.ts";
import { newTrial, records, runProgram } from "./programs.ts";

const name = Deno.build.arch === "aarch64" ? "bun-linux-aarch64" : "bun-linux-x64-baseline";

Deno.test("on Bun the package reads, and sends the remaining events at the end", async () => {
  const { tenant, env } = await newTrial("package-bun");
  const bun = [`${packages}/node_modules/@oven/${name}/bin/bun`, "run"];
  const sending = `
import { createLogger } from "logloom";
const { LOGLOOM_URL: url, LOGLOOM_API_KEY: key } = process.env;
const log = createLogger({ url, key, service: "shop" });
for (let n = 0; n < 50; n++) log.info("event", { n });
`;
  assert.deepEqual(await runProgram(sending, env, bun), { code: 0, said: "" });
  assert.equal((await records(tenant)).length, 50);
  const reading = `
import { createReader } from "logloom/read";
const logs = createReader({ url: process.env.LOGLOOM_URL, token: process.env.LOGLOOM_TOKEN });
let count = 0;
for await (const { msg } of logs.records("service:shop")) count += msg === "event" ? 1 : 0;
console.log(count);
`;
  assert.deepEqual(await runProgram(reading, env, bun), { code: 0, said: "50\n" });
});
