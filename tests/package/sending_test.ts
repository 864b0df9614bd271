import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { newTrial, proxy, records, runProgram } from "./programs.ts";
import { project } from "./project.ts";

const create = `
import { createLogger } from "logloom";
const log = createLogger({
  url: process.env.LOGLOOM_URL,
  key: process.env.LOGLOOM_API_KEY,
  service: "shop",
  env: "test",
});
`;

Deno.test("the package has no dependencies, and its sending part is 5 KiB at most", async () => {
  const there = [...Deno.readDirSync(`${project}/node_modules`)].map(({ name }) => name);
  const own = JSON.parse(await Deno.readTextFile(`${project}/node_modules/.package-lock.json`));
  assert.ok(there.includes("logloom"));
  assert.deepEqual(Object.keys(own.packages), ["node_modules/logloom"]);
  const sending = await Deno.readFile(`${project}/node_modules/logloom/dist/index.js`);
  const size = gzipSync(sending, { level: 9 }).length;
  console.log(`sending: ${size} bytes gzipped`);
  assert.ok(size <= 5120, `${size}`);
});

Deno.test("every event arrives once, through a proxy that loses half of all answers", async () => {
  await using between = await proxy((before) => before % 2 === 0);
  const { tenant, env } = await newTrial("package-lossy", between.url);
  const { code, said } = await runProgram(
    `${create}
for (let n = 0; n < 2000; n++) {
  log.info("event " + n, { n });
  if (n % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  // Leaves only one batch for the ten seconds at the end.
  if (n === 1900) await log.flush();
}
// The program ends without a flush, and the remaining events are sent.
`,
    env,
  );
  assert.deepEqual({ code, said }, {
    code: 0,
    said: "logloom: 502 without a reason: trying again\n",
  });
  const keys = new Set(between.requests.map(({ idempotencyKey }) => idempotencyKey));
  assert.ok(keys.size < between.requests.length, "an answer was lost");
  const numbers = (await records(tenant)).map(({ attrs }) => attrs?.n);
  assert.deepEqual(numbers.toSorted((a, b) => Number(a) - Number(b)), [...Array(2000).keys()]);
});

Deno.test("the order in which events were logged is kept", async () => {
  const { tenant, env } = await newTrial("package-order");
  await runProgram(
    `${create}
for (let n = 0; n < 20; n++) {
  log.info("event", { n });
  await new Promise((resolve) => setTimeout(resolve, 2));
}
await log.flush();
`,
    env,
  );
  assert.deepEqual(
    (await records(tenant)).map(({ service, attrs }) => [service, attrs]),
    Array.from({ length: 20 }, (_, n) => ["shop", { n }]),
  );
});

Deno.test("an error that ends a program is logged, and the program fails as without logging", async () => {
  const { tenant, env } = await newTrial("package-crash");
  const { code, said } = await runProgram(
    `${create}
log.captureErrors();
setTimeout(() => { throw new TypeError("no such cart"); }, 10);
setTimeout(() => {}, 60_000);
`,
    env,
  );
  assert.equal(code, 1);
  assert.match(said, /TypeError: no such cart\n +at /);
  const [{ level, msg, attrs }, ...more] = await records(tenant);
  assert.deepEqual(more, []);
  assert.deepEqual([level, msg], ["error", "uncaught error: no such cart"]);
  assert.equal((attrs?.error as Record<string, unknown>).name, "TypeError");
});

Deno.test("a rejection that nobody handles is logged too", async () => {
  const { tenant, env } = await newTrial("package-rejection");
  const { code } = await runProgram(
    `${create}
log.captureErrors();
Promise.reject(new Error("no such order"));
setTimeout(() => {}, 60_000);
`,
    env,
  );
  assert.equal(code, 1);
  assert.deepEqual((await records(tenant)).map(({ msg }) => msg), [
    "uncaught error: no such order",
  ]);
});

Deno.test("several loggers that capture errors each log a crash, and the program prints it once", async () => {
  const { tenant, env } = await newTrial("package-crashes");
  const { code, said } = await runProgram(
    `${create}
import { captureConsole } from "logloom/console";
import { createLoggers } from "logloom/tenants";
captureConsole(log);
log.captureErrors();
log.with({ part: "jobs" }).captureErrors();
log.with({ part: "mail" }).captureErrors()();
const loggers = createLoggers({
  url: process.env.LOGLOOM_URL,
  key: "sb_secret_none",
  onError() {},
});
loggers.forTenant("t-1").captureErrors();
setTimeout(() => { throw new TypeError("no such cart"); }, 10);
setTimeout(() => {}, 60_000);
`,
    env,
  );
  assert.equal(code, 1);
  assert.equal(said.match(/TypeError: no such cart/g)?.length, 1, said);
  assert.deepEqual(
    (await records(tenant)).map(({ msg, attrs }) => [msg, attrs?.part]),
    [["uncaught error: no such cart", undefined], ["uncaught error: no such cart", "jobs"]],
  );
});

Deno.test("a thrown value without a message is logged, and ends the program as an error does", async () => {
  const { tenant, env } = await newTrial("package-crash-textless");
  const { code, said } = await runProgram(
    `${create}
log.captureErrors();
setTimeout(() => { throw Object.assign(Object.create(null), { code: 51 }); }, 10);
setTimeout(() => {}, 60_000);
`,
    env,
  );
  assert.deepEqual({ code, said }, { code: 1, said: "[Object: null prototype] { code: 51 }\n" });
  assert.deepEqual((await records(tenant)).map(({ msg, attrs }) => [msg, attrs]), [
    ["uncaught error", { error: { code: 51 } }],
  ]);
});

Deno.test("a thrown symbol is logged with its text", async () => {
  const { tenant, env } = await newTrial("package-crash-symbol");
  const { code } = await runProgram(
    `${create}
log.captureErrors();
setTimeout(() => { throw Symbol("no such cart"); }, 10);
setTimeout(() => {}, 60_000);
`,
    env,
  );
  assert.equal(code, 1);
  assert.deepEqual((await records(tenant)).map(({ msg }) => msg), [
    "uncaught error: Symbol(no such cart)",
  ]);
});

Deno.test("another listener for uncaught errors decides when the program ends, as without logging", async () => {
  const { tenant, env } = await newTrial("package-crash-other");
  const { code, said } = await runProgram(
    `${create}
log.captureErrors();
process.on("uncaughtException", async ({ message }) => {
  console.log(process.listenerCount("uncaughtException"), message);
  await log.flush();
  process.exit(7);
});
setTimeout(() => { throw new TypeError("no such cart"); }, 10);
`,
    env,
  );
  assert.deepEqual({ code, said }, { code: 7, said: "1 no such cart\n" });
  assert.deepEqual((await records(tenant)).map(({ msg }) => msg), ["uncaught error: no such cart"]);
});

Deno.test("an unreachable service delays a program's end by at most ten seconds", async () => {
  const { code, said } = await runProgram(`${create}\nlog.info("a");\n`, {
    LOGLOOM_URL: "http://127.0.0.1:9",
    LOGLOOM_API_KEY: "ll_key",
  });
  assert.equal(code, 0);
  assert.match(said, /^logloom: .*: trying again\nlogloom: not everything was sent within 10 s\n$/);
});

Deno.test("the console shows twenty failures a minute, each once", async () => {
  const { said } = await runProgram(
    `
import { createLogger } from "logloom";
const now = performance.now.bind(performance);
let ahead = 0;
performance.now = () => now() + ahead;
const transform = ({ msg }) => { throw new Error(msg); };
const log = createLogger({ url: "http://127.0.0.1:9", key: "ll_key", service: "shop", transform });
for (let n = 0; n < 50; n++) log.info("fault " + n % 25);
ahead = 60_000;
log.info("fault 24");
`,
    {},
  );
  const told = [...Array(20).keys(), 24].map((n) => `logloom: fault ${n}\n`);
  assert.equal(said, told.join(""));
});

Deno.test("await using sends the remaining events", async () => {
  const { tenant, env } = await newTrial("package-using");
  const dispose = `
{
  const log = create();
  log.info("a");
  await log[Symbol.asyncDispose]();
}
process.exit(0);
`;
  const made = create.replace("const log =", "const create = () =>");
  assert.equal((await runProgram(`${made}${dispose}`, env)).code, 0);
  assert.deepEqual((await records(tenant)).map(({ msg }) => msg), ["a"]);
});

/** A program that logs 2,500 events and gets a signal at once. `own` is its own handler for the signal. */
function signalled(signal: string, own = ""): string {
  return `
import { createRequire } from "node:module";
const { createLogger } = createRequire(import.meta.url)("logloom");
const log = createLogger({ url: process.env.LOGLOOM_URL, key: process.env.LOGLOOM_API_KEY, service: "shop" });
${own}
for (let n = 0; n < 2500; n++) log.info("n", { n });
setInterval(() => {}, 1000);
process.kill(process.pid, "${signal}");
`;
}

Deno.test("a program that gets a signal sends the remaining events, and ends by that signal", async () => {
  const own = `process.once("SIGTERM", () => setTimeout(() => process.exit(7), 3000));`;
  for (
    const [signal, program, code] of [
      ["SIGTERM", signalled("SIGTERM"), 143],
      ["SIGINT", signalled("SIGINT"), 130],
      // A program with its own handler decides when it ends.
      ["own", signalled("SIGTERM", own), 7],
    ] as const
  ) {
    const { tenant, env } = await newTrial(`package-${signal}`);
    assert.equal((await runProgram(program, env)).code, code);
    assert.equal((await records(tenant)).length, 2500);
  }
});
