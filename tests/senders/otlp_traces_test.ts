import assert from "node:assert/strict";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free_port.ts";
import { stack } from "../support/stack.ts";
import {
  asNodeFile,
  blockOf,
  duringAnOutage,
  longTest,
  type Tell,
  tellProgram,
  type Trial,
  withTrial,
} from "./sender.ts";

/** A service: it answers at a port by calling the next service, or by asking the database. Told, it calls itself. */
const service = `
const http = require("node:http");
const { Client } = require("pg");
const [, , port, next] = process.argv;
const call = (url) => new Promise((resolve, reject) =>
  http.get(url, (answer) => answer.resume().on("end", () => resolve(answer.statusCode)))
    .on("error", reject));
const database = next.startsWith("postgres") ? new Client({ connectionString: next }) : undefined;
const connected = database?.connect();
http.createServer(async (request, response) => {
  await connected;
  if (database === undefined) response.statusCode = await call(next + request.url);
  else {
    await database.query(request.url === "/broken" ? "select 1 / 0" : "select 1")
      .catch(() => response.statusCode = 500);
  }
  response.end();
}).listen(Number(port), "127.0.0.1", () => {
  let done = 0;
  require("node:readline").createInterface({ input: process.stdin }).on("line", async (line) => {
    const [path, times] = line.split(" ");
    if (path === "end") await sdk.shutdown();
    else for (let n = 0; n < Number(times); n++) await call("http://127.0.0.1:" + port + path);
    console.log("\\ndone " + ++done);
  });
});
`;

const names = ["web", "api", "orders"];
/** Both ends of three calls, and the query. */
const spansOfCall = 7;

/** Runs three services. `act` tells the first one; then all send what they still have. */
async function withServices(trial: Trial, act: (tell: Tell) => Promise<void>): Promise<void> {
  const ports = names.map(freePort);
  const source = await blockOf("opentelemetry.md", "traces.cjs") + service;
  const run = async (at: number, tells: readonly Tell[]): Promise<void> => {
    if (at < 0) {
      await act(tells[0]);
      await Promise.all(tells.map((tell) => tell("end")));
      return;
    }
    const next = at + 1 < names.length ? `http://127.0.0.1:${ports[at + 1]}` : stack.databaseUrl;
    const env = {
      ...trial.env,
      OTEL_SERVICE_NAME: names[at],
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${stack.url}/functions/v1/ingest/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: `X-API-Key=${trial.key}`,
      OTEL_LOGS_EXPORTER: "none",
    };
    await asNodeFile(source, env, (file) => {
      const args = [...file.args, String(ports[at]), next];
      return tellProgram({ ...file, args }, async (tell) => {
        await tell("/ 0");
        await run(at - 1, [tell, ...tells]);
      });
    }, ".cjs");
  };
  await run(names.length - 1, []);
}

interface Span {
  readonly msg: string;
  readonly level: string;
  readonly service: string;
  readonly req_id: string;
  readonly attrs: Record<string, unknown>;
}

async function spansOf({ tenant, db }: Trial, count: number): Promise<Span[]> {
  // A connection is made once, before any call.
  const search = () =>
    db<Span[]>`
      select msg, level, service, req_id, attrs from logloom.logs
      where tenant_id = ${tenant.id} and attrs ->> 'kind' = 'span' and msg <> 'pg.connect'`;
  await eventually(`${count} spans`, async () => (await search()).length >= count);
  return await search();
}

Deno.test("spans of three services make one tree, with its error", async () => {
  await withTrial("otlp-traces", async (trial) => {
    await withServices(trial, (tell) => tell("/broken 1"));
    const spans = await spansOf(trial, spansOfCall);
    assert.equal(new Set(spans.map(({ req_id }) => req_id)).size, 1);
    const tree: unknown[] = [];
    let parent: unknown;
    for (let at = 0; at < spansOfCall; at++) {
      const span = spans.find(({ attrs }) => attrs.parent_id === parent);
      assert.ok(span, `a child of ${parent}`);
      tree.push([span.service, span.msg, span.attrs.span_kind, span.level]);
      assert.equal(typeof span.attrs.duration_ms, "number");
      parent = span.attrs.span_id;
    }
    assert.deepEqual(tree, [
      ["web", "GET", "client", "error"],
      ["web", "GET", "server", "error"],
      ["web", "GET", "client", "error"],
      ["api", "GET", "server", "error"],
      ["api", "GET", "client", "error"],
      ["orders", "GET", "server", "error"],
      ["orders", "pg.query:SELECT postgres", "client", "error"],
    ]);
  });
});

longTest({
  name: "1,001 spans arrive once each through an outage of five seconds",
  fn: () =>
    withTrial("otlp-traces", async (trial) => {
      const calls = 143;
      await withServices(trial, async (tell) => {
        await tell("/fine 43");
        await duringAnOutage(trial, () => tell("/fine 100"));
      });
      const spans = await spansOf(trial, calls * spansOfCall);
      assert.equal(spans.length, calls * spansOfCall);
      assert.equal(new Set(spans.map(({ attrs }) => attrs.span_id)).size, calls * spansOfCall);
    }),
});
