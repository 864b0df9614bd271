import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";
import { freePort } from "../support/free_port.ts";
import { newTrial, records, type Trial } from "./programs.ts";
import { project } from "./project.ts";

/** Runs an example as a server until it has answered a request. */
async function serving(
  name: string,
  [program, ...args]: string[],
  env: Record<string, string>,
  request: () => Promise<Response>,
): Promise<{ answer: string; said: string; code: number }> {
  await Deno.copyFile(`${checkout}/examples/${name}`, `${project}/${name}`);
  const server = new Deno.Command(program, {
    args,
    cwd: project,
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const answer = await eventually(`an answer of ${name}`, async () => {
    const response = await request();
    return `${response.status} ${await response.text()}`;
  });
  server.kill("SIGTERM");
  const { stdout, stderr, code } = await server.output();
  const decoder = new TextDecoder();
  return { answer, said: decoder.decode(stdout) + decoder.decode(stderr), code };
}

const arrived = ({ tenant }: Trial, count: number) =>
  eventually(`${count} records`, async () => {
    const all = await records(tenant);
    return all.length >= count && all;
  });

Deno.test("examples/node_pino.mjs: a server logs its requests, and sends the last ones before it ends", async () => {
  const trial = await newTrial("example-pino");
  const port = freePort();
  const { answer, said, code } = await serving(
    "node_pino.mjs",
    ["node", "node_pino.mjs"],
    { ...trial.env, PORT: `${port}` },
    () => fetch(`http://127.0.0.1:${port}/cart`, { headers: { "X-Request-Id": "r-1" } }),
  );
  assert.deepEqual([answer, code], ["200 Hello\n", 0]);
  assert.match(said, /"msg":"GET \/cart"/);
  const [listening, request] = await arrived(trial, 2);
  assert.deepEqual([listening.msg, listening.service], ["listening", "shop"]);
  assert.deepEqual([request.msg, request.req_id, request.attrs?.status], ["GET /cart", "r-1", 200]);
});

Deno.test("examples/edge_function.ts: the answer does not wait, the function lives until the log is sent", async () => {
  const trial = await newTrial("example-edge");
  const port = freePort();
  // Copies the files like docs/guides/send/edge-functions.md.
  await Deno.mkdir(`${project}/functions/_shared`, { recursive: true });
  await Deno.mkdir(`${project}/functions/checkout`, { recursive: true });
  const built = `${project}/node_modules/logloom/dist/edge.js`;
  await Deno.copyFile(built, `${project}/functions/_shared/logloom.js`);
  const example = `${checkout}/examples/edge_function.ts`;
  await Deno.copyFile(example, `${project}/functions/checkout/index.ts`);
  // The objects that the hosted runtime gives to a function.
  await Deno.writeTextFile(
    `${project}/edge_runtime.ts`,
    `
    let kept = 0;
    const { serve } = Deno;
    const options = { hostname: "127.0.0.1", port: ${port} };
    Deno.serve = ((handler: Deno.ServeHandler) => serve(options, handler)) as typeof Deno.serve;
    Object.assign(globalThis, {
      EdgeRuntime: {
        waitUntil(promise: Promise<unknown>) {
          kept++;
          promise.then(() => Deno.writeTextFileSync("kept.txt", String(kept)));
        },
      },
    });
    await import("./functions/checkout/index.ts");`,
  );
  const { env } = trial;
  // The request is logged after its answer, so the answer must not wait for the log.
  const answered = Promise.withResolvers<void>();
  const held = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  await using between = Deno.serve(held, async (request) => {
    const { pathname } = new URL(request.url);
    await answered.promise;
    const { method, headers } = request;
    return await fetch(`${stack.url}${pathname}`, { method, headers, body: await request.text() });
  });
  const { answer } = await serving(
    "edge_function.ts",
    [
      Deno.env.get("LOGLOOM_HOSTED_DENO") ?? "",
      "run",
      "--allow-all",
      "--no-check",
      "--no-lock",
      "--node-modules-dir=manual",
      "edge_runtime.ts",
    ],
    {
      SUPABASE_URL: `http://127.0.0.1:${between.addr.port}`,
      LOGLOOM_API_KEY: env.LOGLOOM_API_KEY,
    },
    async () => {
      const response = await fetch(`http://127.0.0.1:${port}/checkout`, {
        method: "POST",
        body: '{"order":7}',
        signal: AbortSignal.timeout(60_000),
      });
      answered.resolve();
      await eventually(
        "what was to be waited for is over",
        () => Deno.readTextFile(`${project}/kept.txt`),
      );
      return response;
    },
  );
  assert.equal(answer, '200 {"order":7,"state":"placed"}');
  assert.equal(await Deno.readTextFile(`${project}/kept.txt`), "1");
  // The request's span has the time of its start.
  const [request, placed] = await arrived(trial, 2);
  const { kind, trace_id, span_id } = Object(request.attrs);
  assert.deepEqual(
    [request.msg, request.level, request.req_id, kind],
    ["POST /checkout 200", "info", placed.req_id, "span"],
  );
  assert.deepEqual([placed.msg, placed.attrs], ["order placed", { order: 7, trace_id, span_id }]);
});

Deno.test("each example has ten to fifty lines", async () => {
  const lengths: Record<string, number> = {};
  const folders = [`${checkout}/examples`, `${checkout}/examples/portal`];
  for (const folder of folders) {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (!isFile) continue;
      const lines = (await Deno.readTextFile(`${folder}/${name}`)).split("\n").length - 1;
      lengths[name] = lines;
    }
  }
  assert.deepEqual(Object.keys(lengths).toSorted(), [
    "browser.html",
    "edge_function.ts",
    "mcp.mjs",
    "node_pino.mjs",
    "page.css",
    "page.html",
    "page.js",
    "server.mjs",
  ]);
  assert.ok(
    Object.values(lengths).every((lines) => lines >= 10 && lines <= 50),
    JSON.stringify(lengths),
  );
});
