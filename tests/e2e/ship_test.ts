import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { call, createKey, newTenant, rpc } from "../support/client.ts";
import { countRecords, openDatabase, queueIsEmpty, recordsOf } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { keepDown, stackState } from "../support/processes.ts";
import { stack } from "../support/stack.ts";
import { tempFolder } from "../support/temp_folder.ts";

const checkout = new URL("../..", import.meta.url).pathname;

/** Starts `npm run ship` for a tenant. */
async function start(args: string[], tenant = newTenant(), key?: string) {
  const { id, token } = await tenant;
  const key_value = key ?? (await createKey(await tenant)).key_value;
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      "--cached-only",
      `--config=${checkout}deno.json`,
      `${checkout}cli/logloom.ts`,
      "ship",
      ...args,
    ],
    env: { LOGLOOM_URL: stack.url, LOGLOOM_API_KEY: key_value, NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const said = { stderr: "" };
  const stderr = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
      said.stderr += chunk;
    }
  })();
  const stdout = new Response(child.stdout).text();
  const end = async (input?: string) => {
    const writer = child.stdin.getWriter();
    if (input !== undefined) await writer.write(new TextEncoder().encode(input));
    await writer.close();
    const { code } = await child.status;
    await stderr;
    return { code, stdout: await stdout, stderr: said.stderr };
  };
  return { tenantId: id, token, child, said, end };
}

const counts = (stdout: string) => stdout.split("\n")[0].replace(/ \(.*/, "");

Deno.test("text, NDJSON and compressed files arrive, and rejected events are reported", async () => {
  await using folder = await tempFolder();
  const text = `${folder.path}/app.log`;
  const json = `${folder.path}/app.ndjson`;
  const packed = `${folder.path}/old.log.gz`;
  await Deno.writeTextFile(text, "first line\n\n  second line\r\n");
  await Deno.writeTextFile(json, '{"level":"warn","msg":"third","n":3}\n{"ts":"1999-01-01"}\n');
  await Deno.writeFile(packed, gzipSync("fourth line\nfifth line"));

  const run = await start(["--service=web", "--gzip", text, json, packed]);
  const { code, stdout } = await run.end();
  assert.equal(counts(stdout), "5 events accepted, 1 rejected");
  assert.match(stdout, /app\.ndjson, line 2: ts_out_of_range: /);
  assert.equal(code, 2);

  await using db = openDatabase();
  const records = await recordsOf(db, run.tenantId, 5);
  assert.deepEqual(
    records.map(({ msg, level, service, attrs }) => ({ msg, level, service, attrs })),
    [
      { msg: "first line", level: null, service: "web", attrs: null },
      { msg: "  second line", level: null, service: "web", attrs: null },
      { msg: "third", level: "warn", service: "web", attrs: { n: 3 } },
      { msg: "fourth line", level: null, service: "web", attrs: null },
      { msg: "fifth line", level: null, service: "web", attrs: null },
    ],
  );
});

Deno.test("a file is followed through its rotation, each line once", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/app.log`;
  await Deno.writeTextFile(path, "before\n");
  const run = await start([`--follow=${path}`, "--from-start"]);
  await using db = openDatabase();
  await recordsOf(db, run.tenantId, 1);

  await Deno.writeTextFile(path, "appended\n", { append: true });
  await Deno.rename(path, `${path}.1`);
  await Deno.writeTextFile(`${path}.1`, "late\n", { append: true });
  await Deno.writeTextFile(path, "rotated\n");
  await recordsOf(db, run.tenantId, 4);
  await Deno.writeTextFile(path, "after\n", { append: true });
  await recordsOf(db, run.tenantId, 5);

  run.child.kill("SIGTERM");
  const { code, stdout } = await run.end();
  assert.deepEqual([code, counts(stdout)], [0, "5 events accepted, 0 rejected"]);
  const records = await recordsOf(db, run.tenantId, 5);
  const messages = records.map(({ msg }) => msg);
  assert.deepEqual(messages, ["before", "appended", "late", "rotated", "after"]);
});

Deno.test("events that cannot be sent are sent later, once", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/app.log`;
  await Deno.writeTextFile(path, Array.from({ length: 20_000 }, (_, n) => `line ${n}`).join("\n"));
  const tenant = await newTenant();
  const { key_value } = await createKey(tenant);
  let run: Awaited<ReturnType<typeof start>>;
  {
    // PostgREST is down before the shipper starts, because the shipper sends everything at once.
    await using _down = await keepDown("postgrest");
    run = await start([path], Promise.resolve(tenant), key_value);
    await eventually("the shipper tries again", () => {
      return Promise.resolve(/trying again/.test(run.said.stderr));
    });
  }
  const { code, stdout, stderr } = await run.end();
  assert.deepEqual([code, counts(stdout)], [0, "20,000 events accepted, 0 rejected"]);
  assert.match(stderr, /^503 The database is unavailable, try again; trying again$/m);
  await using db = openDatabase();
  await queueIsEmpty(db);
  const [{ lines }] = await db`
    select count(distinct msg)::integer as lines from logloom.logs where tenant_id = ${tenant.id}`;
  assert.deepEqual([await countRecords(db, tenant.id), lines], [20_000, 20_000]);
});

Deno.test("a refused key ends shipping with the reason", async () => {
  const run = await start([], newTenant(), "ll_wrong");
  const { code, stdout, stderr } = await run.end("line\n");
  assert.deepEqual([code, counts(stdout)], [1, "0 events accepted, 0 rejected"]);
  assert.match(stderr, /401 Invalid token, API key, or missing tenant_id/);
});

Deno.test("the gateway's access log arrives, without secrets and without the shipper's requests", async () => {
  const { accessLog } = await stackState();
  const began = new Date();
  const run = await start([`--follow=${accessLog}`, "--from-start"]);
  const secret = crypto.randomUUID();
  const operation = `nothing_${crypto.randomUUID().replaceAll("-", "_")}`;
  assert.equal((await rpc(run.token, operation)).status, 404);
  assert.equal((await call(`/rest/v1/${operation}?apikey=${secret}`)).status, 400);

  await using db = openDatabase();
  const logged = (count: number) =>
    eventually(`${count} requests are records`, async () => {
      const rows = await db`
        select level, msg, service, route, attrs, req_id from logloom.logs
        where tenant_id = ${run.tenantId} and route like ${`%${operation}`} order by ts, msg desc`;
      return rows.length === count && rows;
    });
  const [refused] = await logged(2);
  const { req_id, attrs: { duration_ms, bytes, request_bytes, ...attrs }, ...record } = refused;
  assert.deepEqual(record, {
    level: "warn",
    msg: `POST /rest/v1/rpc/${operation} 404`,
    service: "gateway",
    route: `/rest/v1/rpc/${operation}`,
  });
  assert.deepEqual(attrs, { method: "POST", status: 404 });
  assert.match(req_id, /^[0-9a-f]{32}$/);
  assert.ok(duration_ms >= 0 && bytes > 0 && request_bytes > 0);

  // If the shipper's own requests were logged, they would arrive with the next event.
  await rpc(run.token, operation);
  await logged(3);
  run.child.kill("SIGTERM");
  const { code } = await run.end();
  assert.equal(code, 0);
  await queueIsEmpty(db);
  const [{ leaked, own }] = await db`
    select
      count(*) filter (where to_jsonb(l)::text like ${`%${secret}%`})::integer as leaked,
      count(*) filter (where l.route = '/functions/v1/ingest' and l.ts >= ${began})::integer as own
    from logloom.logs l where l.tenant_id = ${run.tenantId}`;
  assert.deepEqual({ leaked, own }, { leaked: 0, own: 0 });
});
