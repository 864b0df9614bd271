import assert from "node:assert/strict";
import type { LogRecord } from "../../packages/logloom/src/read.ts";
import { checkout } from "../../local/stack.ts";
import type { Tenant } from "../support/client.ts";
import { freePort } from "../support/free_port.ts";
import { newTrial, records, runProgram } from "./programs.ts";

const page = await Deno.readTextFile(`${checkout}/docs/guides/send/programs.md`);
const example = (name: string) => page.split(`\`\`\`js ${name}\n`)[1].split("```")[0];

const trace = "5b8efff798038103d269b633813fc60c";
const headers = `{ traceparent: "00-${trace}-eee19b7ec3c1b174-01", "X-Request-Id": "r-1" }`;

const create = `
import { createLogger } from "logloom";
const log = createLogger({
  url: process.env.LOGLOOM_URL,
  key: process.env.LOGLOOM_API_KEY,
  service: "shop",
});
`;

/** Returns a tenant's records by route and message, because several may have the same time. */
async function sortedRecords(tenant: Tenant): Promise<LogRecord[]> {
  const place = ({ route, msg }: LogRecord) => `${route} ${msg}`;
  return (await records(tenant)).toSorted((a, b) => place(a) < place(b) ? -1 : 1);
}

const errorOf = ({ attrs }: LogRecord) => Object(attrs?.error) as Partial<Error>;

/** What a person sees of a record. */
function seen(record: LogRecord): unknown[] {
  const { level, msg, route, attrs } = record;
  return [level, msg, route, attrs?.status, attrs?.aborted, errorOf(record).message];
}

const answers: Record<string, string> = {
  "express.mjs": `
const ask = (path, headers) => fetch("http://127.0.0.1:" + process.env.PORT + path, { headers });`,
  "hono.mjs": `
const ask = async (path, headers) => app.request(path, { headers });`,
  "route.mjs": `
const ask = (path, headers) =>
  GET(new Request("http://shop.example" + path, { headers }), { params: { id: path[8] } })
    .catch(() => {});`,
};

for (const [name, ask] of Object.entries(answers)) {
  Deno.test(`docs/guides/send/programs.md: ${name} logs each request once`, async () => {
    const { tenant, env } = await newTrial("package-requests");
    const { code } = await runProgram(
      `${create}${example(name)}${ask}
await ask("/orders/7?token=secret", ${headers});
await ask("/orders/8", {});
await log.flush();
process.exit(0);
`,
      { ...env, PORT: `${freePort()}`, NODE_ENV: "test" },
    );
    assert.equal(code, 0);
    const all = await sortedRecords(tenant);
    assert.deepEqual(all.map(seen), [
      ["info", "GET /orders/7 200", "/orders/7", 200, undefined, undefined],
      ["info", "reading", "/orders/7", undefined, undefined, undefined],
      ["error", "GET /orders/8 500", "/orders/8", 500, undefined, "no such order"],
      ["info", "reading", "/orders/8", undefined, undefined, undefined],
    ]);
    const [record, inside, failed, other] = all;
    assert.deepEqual([inside, record].map(({ req_id }) => req_id), ["r-1", "r-1"]);
    assert.deepEqual([other.req_id, inside.attrs?.trace_id], [failed.req_id, trace]);
    const { duration_ms, span_id, ...attrs } = record.attrs ?? {};
    assert.equal(typeof duration_ms, "number");
    assert.equal(inside.attrs?.span_id, span_id);
    assert.deepEqual(attrs, {
      kind: "span",
      span_kind: "server",
      parent_id: "eee19b7ec3c1b174",
      method: "GET",
      status: 200,
      trace_id: trace,
    });
    assert.match(errorOf(failed).stack ?? "", /^Error: no such order\n +at /);
  });
}

Deno.test("Express: errors, and responses that a client does not wait for, are logged once", async () => {
  const { tenant, env } = await newTrial("package-express");
  const { code, said } = await runProgram(
    `${create}
import express from "express";
import { logErrors, logRequests } from "logloom/express";
import { EventEmitter, once } from "node:events";
const happened = new EventEmitter();
const shop = express.Router().use(logRequests(log))
  .get("/sync", () => { throw new TypeError("sync"); })
  .get("/refused", async () => { throw Object.assign(new Error("not yours"), { status: 403 }); })
  .post("/body", express.json(), (request, response) => {
    log.info("parsed", request.body);
    response.status(201).end();
  })
  .get("/broken", (_request, response) => {
    response.write("part");
    throw new Error("broken");
  })
  .get("/slow", async (_request, response) => {
    happened.emit("reached");
    await once(response, "close");
    throw new Error("too late");
  });
const server = express().use(logRequests(log)).use("/shop", shop).use(logErrors)
  .use((error, _request, _response, next) => {
    happened.emit(error.message);
    next(error);
  })
  .listen(0, "127.0.0.1", async () => {
    const ask = (path, more) => fetch("http://127.0.0.1:" + server.address().port + path, more);
    await ask("/shop/sync");
    await ask("/shop/refused");
    const headers = { "Content-Type": "application/json" };
    await ask("/shop/body", { method: "POST", headers, body: '{"order":7}' });
    await ask("/shop/broken").then((response) => response.text()).catch(() => {});
    const leaving = new AbortController();
    ask("/shop/slow", leaving).catch(() => {});
    await once(happened, "reached");
    leaving.abort();
    await once(happened, "too late");
    await log.flush();
    process.exit(0);
  });
`,
    { ...env, NODE_ENV: "test" },
  );
  assert.deepEqual({ code, said }, { code: 0, said: "" });
  const all = await sortedRecords(tenant);
  assert.deepEqual(all.map(seen), [
    ["info", "POST /shop/body 201", "/shop/body", 201, undefined, undefined],
    ["info", "parsed", "/shop/body", undefined, undefined, undefined],
    ["info", "GET /shop/broken 200", "/shop/broken", 200, true, undefined],
    ["error", "broken", "/shop/broken", undefined, undefined, "broken"],
    ["warn", "GET /shop/refused 403", "/shop/refused", 403, undefined, "not yours"],
    ["warn", "GET /shop/slow 499", "/shop/slow", 499, true, undefined],
    ["error", "too late", "/shop/slow", undefined, undefined, "too late"],
    ["error", "GET /shop/sync 500", "/shop/sync", 500, undefined, "sync"],
  ]);
  for (const one of [0, 2, 5]) assert.equal(all[one].req_id, all[one + 1].req_id);
});

Deno.test("Hono: a refusal or no answer has its status, a part's logger adds no record, and a thrown value that is no error is thrown on", async () => {
  const { tenant, env } = await newTrial("package-hono");
  const { code, said } = await runProgram(
    `${create}
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { logRequests } from "logloom/hono";
const app = new Hono();
app.use(logRequests(log));
app.get("/refused", () => { throw new HTTPException(401, { message: "sign in" }); });
app.get("/odd", () => { throw "odd"; });
app.get("/nothing", () => {});
app.onError((error, context) => error.getResponse?.() ?? context.text("own", 500));
app.route("/part", new Hono().use(logRequests(log)).get("/in", (context) => context.text("in")));
const { status } = await app.request("/refused");
const thrown = await Promise.resolve(app.request("/odd")).catch((error) => error);
const statusOf = async (path) => (await app.request(path)).status;
console.log(status, thrown, await statusOf("/none"), await statusOf("/nothing"), await statusOf("/part/in"));
await log.flush();
`,
    env,
  );
  assert.deepEqual({ code, said }, { code: 0, said: "401 odd 404 500 200\n" });
  const [none, nothing, odd, part, refused, ...more] = await sortedRecords(tenant);
  assert.deepEqual(more, []);
  assert.deepEqual([none, nothing, part, refused].map(seen), [
    ["warn", "GET /none 404", "/none", 404, undefined, undefined],
    ["error", "GET /nothing 500", "/nothing", 500, undefined, undefined],
    ["info", "GET /part/in 200", "/part/in", 200, undefined, undefined],
    ["warn", "GET /refused 401", "/refused", 401, undefined, "sign in"],
  ]);
  assert.deepEqual([odd.level, odd.attrs?.status, odd.attrs?.error], ["error", 500, "odd"]);
});

const denos = { today: Deno.execPath(), hosted: Deno.env.get("LOGLOOM_HOSTED_DENO") ?? "" };
for (const [name, deno] of Object.entries(denos)) {
  Deno.test(`on Deno (${name}) requests at the same time keep their ids, bodies pass, errors are thrown on`, async () => {
    const { tenant, env } = await newTrial(`package-edge-${name}`);
    const { code, said } = await runProgram(
      `${create}
import { logged } from "logloom/edge";
const both = Promise.withResolvers();
let inside = 0;
const handler = logged(log, async (request, { remoteAddr }) => {
  const { pathname } = new URL(request.url);
  if (pathname === "/fails") throw new RangeError("from " + remoteAddr.hostname);
  if (++inside === 2) both.resolve();
  await both.promise;
  log.info("inside", { path: pathname });
  return new Response(request.body);
});
const onError = () => new Response("own", { status: 503 });
const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {}, onError }, handler);
const ask = async (path, body) => {
  const response = await fetch("http://127.0.0.1:" + server.addr.port + path, { method: "POST", body });
  return await response.text();
};
const bodies = await Promise.all(["/a", "/b"].map((path) => ask(path, path.repeat(2_000_000))));
console.log(bodies[0] === "/a".repeat(2_000_000), bodies[1].length, await ask("/fails"));
await server.shutdown();
await log.flush();
`,
      env,
      [deno, "run", "--allow-all", "--node-modules-dir=manual", "--no-lock", "--quiet"],
    );
    assert.deepEqual({ code, said }, { code: 0, said: "true 4000000 own\n" });
    const all = await sortedRecords(tenant);
    for (const path of ["/a", "/b"]) {
      const [record, inside, ...more] = all.filter(({ route }) => route === path);
      assert.deepEqual(more, []);
      assert.deepEqual([inside.attrs?.path, record.msg], [path, `POST ${path} 200`]);
      assert.equal(inside.req_id, record.req_id);
    }
    assert.equal(new Set(all.map(({ req_id }) => req_id)).size, 3);
    const failed = all.filter(({ route }) => route === "/fails");
    assert.deepEqual(
      failed.map((one) => [one.level, one.attrs?.status, errorOf(one).message]),
      [["error", 500, "from 127.0.0.1"]],
    );
  });
}
