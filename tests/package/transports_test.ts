import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
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

Deno.test("pino: a signal handler that exits, as in the guide, loses nothing", async () => {
  const { tenant, env } = await newTrial("package-pino-signal");
  const page = await Deno.readTextFile(`${checkout}/docs/guides/send/programs.md`);
  const [asExit] = /^process\.once\("SIGTERM".*$/m.exec(page) ?? [];
  const { code } = await runProgram(
    `${pino("pino")}${asExit}
process.kill(process.pid, "SIGTERM");
setTimeout(() => {}, 60_000);
`,
    env,
  );
  assert.equal(code, 143);
  assert.equal((await records(tenant)).length, 50);
});

Deno.test("pino: an answer that is lost doubles nothing", async () => {
  await using between = await proxy((before) => before === 0);
  const { tenant, env } = await newTrial("package-pino-lossy", between.url);
  assert.equal((await runProgram(pino("pino"), env)).code, 0);
  assert.equal(between.requests.length, 2);
  assert.equal((await records(tenant)).length, 50);
});

Deno.test("pino: a large event keeps its message, and a long number its digits", async () => {
  const { tenant, env } = await newTrial("package-pino-large");
  const { code, said } = await runProgram(
    `
import pino from "pino";
const options = { ...${options}, messageKey: "text" };
const logger = pino(
  { messageKey: "text" },
  pino.transport({ target: "logloom/pino", options }),
);
logger.info({ body: "x".repeat(40_000) }, "payment failed");
logger.info({ id: 9007199254740993n, list: [1.5, -12345678901234567890n] }, "exact");
logger.info({ msg: "of a mail", attrs: { to: 3 } }, "sent");
logger.info({ msg: "alone" });
`,
    env,
  );
  assert.deepEqual({ code, said }, { code: 0, said: "" });
  const all = new Map((await records(tenant)).map((one) => [one.msg, one]));
  assert.equal(String(all.get("payment failed")?.attrs?.body).length > 30_000, true);
  assert.deepEqual(
    [all.get("sent")?.attrs?.msg, all.get("sent")?.attrs?.to, all.has("alone")],
    ["of a mail", 3, true],
  );
  const { id, list } = all.get("exact")?.attrs ?? {};
  assert.deepEqual({ id, list }, { id: "9007199254740993", list: [1.5, "-12345678901234567890"] });
});

Deno.test("pino: events that could not be sent before the end are reported", async () => {
  const { code, said } = await runProgram(pino("pino"), {
    LOGLOOM_URL: "http://127.0.0.1:9",
    LOGLOOM_API_KEY: "ll_key",
  });
  assert.equal(code, 0);
  assert.match(said, /^logloom: not everything was sent within 8 s$/m);
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

Deno.test("winston: formats for people change neither level nor time", async () => {
  const { tenant, env } = await newTrial("package-winston-formats");
  const at = new Date(Date.now() - 600_000).toISOString();
  const { code, said } = await runProgram(
    `
process.env.TZ = "Asia/Tokyo";
const { default: winston } = await import("winston");
const { LogloomTransport } = await import("logloom/winston");
const { colorize, combine, timestamp } = winston.format;
const log = (msg, ...formats) =>
  winston.createLogger({ format: combine(...formats), transports: [new LogloomTransport(${options})] })
    .warn(msg);
log("for people", colorize(), timestamp({ format: "YYYY-MM-DD HH:mm:ss" }));
log("exact", winston.format((info) => ({ ...info, timestamp: "${at.replace("Z", "+00:00")}" }))());
`,
    env,
  );
  assert.deepEqual({ code, said }, { code: 0, said: "" });
  const all = new Map((await records(tenant)).map((one) => [one.msg, one]));
  const [shown, exact] = [all.get("for people"), all.get("exact")];
  assert.deepEqual([shown?.level, exact?.level], ["warn", "warn"]);
  assert.ok(Math.abs(Date.parse(shown?.ts ?? "") - Date.now()) < 60_000, shown?.ts);
  assert.match(String(shown?.attrs?.timestamp), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  assert.deepEqual([Date.parse(exact?.ts ?? ""), exact?.attrs?.timestamp], [
    Date.parse(at),
    undefined,
  ]);
});

Deno.test("winston: ending the logger waits until its events are sent", async () => {
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
