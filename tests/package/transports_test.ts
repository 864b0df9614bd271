import assert from "node:assert/strict";
import { newTrial, proxy, records, runProgram } from "./programs.ts";

const options = `{
  url: process.env.LOGLOOM_URL,
  key: process.env.LOGLOOM_API_KEY,
  service: "shop",
}`;

const pino = (version: string) => `
import pino from "${version}";
const logger = pino(
  { level: "trace", customLevels: { audit: 35 } },
  pino.transport({ target: "logloom/pino", options: ${options} }),
);
for (let n = 0; n < 47; n++) logger.info({ n }, "event");
logger.error(new Error("card declined"));
logger.trace("a detail");
logger.audit("card checked");
`;

for (const version of ["pino", "pino-9"]) {
  for (const end of ["", "process.exit(0);"]) {
    Deno.test(`${version}: fifty events are one request, sent before the program ends ${end}`, async () => {
      await using between = await proxy();
      const { tenant, env } = await newTrial("package-pino", between.url);
      const { code, said } = await runProgram(pino(version) + end, env);
      assert.deepEqual({ code, said }, { code: 0, said: "" });
      assert.deepEqual(between.requests.map(({ events }) => events), [50]);
      const all = await records(tenant);
      assert.equal(all.length, 50);
      const known = all.filter(({ msg }) => msg === "event");
      assert.deepEqual(
        known.map((
          { level, service, attrs },
        ) => [level, service, typeof attrs?.pid, attrs?.original_level]),
        Array(47).fill(["info", "shop", "number", undefined]),
      );
      const others = new Map(all.map((one) => [one.msg, one]));
      const failure = others.get("card declined");
      assert.equal(failure?.level, "error");
      assert.equal((failure?.attrs?.err as Record<string, unknown>).type, "Error");
      assert.deepEqual(
        ["a detail", "card checked"].map((msg) => {
          const one = others.get(msg);
          return [one?.level, one?.attrs?.original_level];
        }),
        [["debug", 10], ["info", 35]],
      );
    });
  }
}

Deno.test("pino: an answer that is lost doubles nothing", async () => {
  await using between = await proxy((before) => before === 0);
  const { tenant, env } = await newTrial("package-pino-lossy", between.url);
  assert.equal((await runProgram(pino("pino"), env)).code, 0);
  assert.equal(between.requests.length, 2);
  assert.equal((await records(tenant)).length, 50);
});

Deno.test("winston: fifty events are one request, sent before the program ends", async () => {
  await using between = await proxy();
  const { tenant, env } = await newTrial("package-winston", between.url);
  const { code, said } = await runProgram(
    `
import winston from "winston";
import { LogloomTransport } from "logloom/winston";
const logger = winston.createLogger({
  levels: { fatal: 0, error: 1, warn: 2, info: 3, verbose: 4, silly: 5 },
  level: "verbose",
  format: winston.format.combine(winston.format.errors({ stack: true }), winston.format.splat()),
  transports: [new LogloomTransport(${options})],
});
for (let n = 0; n < 47; n++) logger.info("event", { n });
logger.error(new Error("card declined"));
logger.verbose("card %d checked", 8);
logger.log("fatal", { message: "the end", order: 7 });
logger.silly("not sent");
`,
    env,
  );
  assert.deepEqual({ code, said }, { code: 0, said: "" });
  assert.deepEqual(between.requests.map(({ events }) => events), [50]);
  const all = await records(tenant);
  const others = new Map(all.map((one) => [one.msg, one]));
  assert.equal(all.filter(({ msg, level }) => msg === "event" && level === "info").length, 47);
  assert.match(String(others.get("card declined")?.attrs?.stack), /^Error: card declined\n +at /);
  assert.deepEqual(
    ["card 8 checked", "the end"].map((msg) => {
      const one = others.get(msg);
      return [one?.level, one?.attrs?.original_level, one?.attrs?.order];
    }),
    [["debug", "verbose", undefined], ["error", "fatal", 7]],
  );
});

Deno.test("winston: ending the logger waits for what is on its way", async () => {
  const { tenant, env } = await newTrial("package-winston-end");
  const { code } = await runProgram(
    `
import winston from "winston";
import { LogloomTransport } from "logloom/winston";
const transport = new LogloomTransport(${options});
const logger = winston.createLogger({ transports: [transport] });
logger.info("last words");
transport.on("finish", () => process.exit(0));
logger.end();
setTimeout(() => process.exit(3), 300_000);
`,
    env,
  );
  assert.equal(code, 0);
  assert.deepEqual((await records(tenant)).map(({ msg }) => msg), ["last words"]);
});
