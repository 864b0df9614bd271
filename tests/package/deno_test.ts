import assert from "node:assert/strict";
import { newTrial, records, runProgram } from "./programs.ts";

const program = `
import { createLogger } from "logloom";
import { captureConsole } from "logloom/console";
import { createReader } from "logloom/read";
import process from "node:process";
import { createClient } from "@supabase/supabase-js";

const { LOGLOOM_URL: url, LOGLOOM_API_KEY: key, LOGLOOM_TOKEN: token, LOGLOOM_ANON_KEY: anonKey } =
  process.env;
const log = createLogger({ url, key, service: "shop" });
captureConsole(log);
for (let n = 0; n < 49; n++) log.info("event", { n });
console.warn("by the console");
await log.flush();

// Sends as the signed-in user.
const supabase = createClient(url, anonKey, { accessToken: () => Promise.resolve(token) });
const mine = createLogger({ supabase, service: "page" });
mine.info("by a session");
await mine.flush();

const logs = createReader({ url, token });
while ((await logs.stats("", { since: "1h" }))[0].value < 51) {
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const seen = await Array.fromAsync(logs.records("", { since: "1h" }));
process.stdout.write(String(seen.length));
log.info("at the end");
`;

const run = (deno: string) => [
  deno,
  "run",
  "--allow-all",
  "--node-modules-dir=manual",
  "--no-lock",
  "--quiet",
];

for (
  const [name, deno] of [["today", Deno.execPath()], [
    "hosted",
    Deno.env.get("LOGLOOM_HOSTED_DENO") ?? "",
  ]]
) {
  Deno.test(`on Deno (${name}) an error that ends a program is logged`, async () => {
    const { tenant, env } = await newTrial(`package-deno-${name}`);
    const source = `
import { createLogger } from "logloom";
import process from "node:process";
const { LOGLOOM_URL: url, LOGLOOM_API_KEY: key } = process.env;
const log = createLogger({ url, key, service: "shop" });
log.captureErrors();
setTimeout(() => { throw new TypeError("no such cart"); }, 10);
`;
    const { code } = await runProgram(source, env, run(deno));
    assert.equal(code, 1);
    assert.deepEqual((await records(tenant)).map(({ msg }) => msg), [
      "uncaught error: no such cart",
    ]);
  });

  Deno.test(`on Deno (${name}) the package sends, reads, and sends the remaining events at the end`, async () => {
    const { tenant, env } = await newTrial(`package-deno-${name}`);
    const { code, said } = await runProgram(program, env, run(deno));
    assert.deepEqual({ code, said }, { code: 0, said: "51by the console\n" });
    const all = await records(tenant);
    assert.equal(all.length, 52);
    const count = (service: string) => all.filter((one) => one.service === service).length;
    assert.deepEqual([count("shop"), count("page")], [51, 1]);
  });
}
