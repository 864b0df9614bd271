import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { createReader } from "../../packages/logloom/src/read.ts";
import { apiKey, bearer, call, createKey, ingest, newTenant } from "../support/client.ts";
import {
  callAsOwner,
  type Database,
  openDatabase,
  recordsOf,
  stopJob,
} from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { stack } from "../support/stack.ts";

interface Line {
  id: string;
  ts: string;
  msg: string;
  complete?: boolean;
  next_cursor?: string;
  error?: string;
}

const path = `${stack.url}/functions/v1/logloom-read/v1/export`;

function get(headers: Record<string, string>, parameters: Record<string, string> = {}) {
  return fetch(`${path}?${new URLSearchParams(parameters)}`, {
    headers: { "accept-encoding": "identity", ...headers },
  });
}

function linesOf(text: string): Line[] {
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Waits until the watermark has passed the records, because an export has only records before it. */
async function watermarkPasses(db: Database, received: Date): Promise<void> {
  await eventually("the watermark has passed", async () => {
    const [{ passed }] = await db`
      select logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
        > ${received.toISOString()}::timestamptz as passed`;
    return passed;
  });
}

async function withRecords(name: string, events: Record<string, unknown>[]) {
  const tenant = await newTenant(name);
  await ingest(tenant.headers, events);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, events.length);
  // Makes the records' time of receipt earlier, so that the export need not wait for the watermark.
  await db`
    update logloom.logs set received_at = received_at - interval '5 minutes'
    where tenant_id = ${tenant.id}`;
  const { key_value } = await createKey(tenant, { p_scopes: ["read"] });
  return { tenant, headers: apiKey(key_value) };
}

const at = (seconds: number) => new Date(Date.now() - 600_000 + seconds * 1000).toISOString();

Deno.test("an export has each record in the form of search_logs, oldest first, and says that it is complete", async () => {
  const { tenant, headers } = await withRecords("export", [
    { ts: at(2), msg: "two 💡", n: 1 },
    { ts: at(1), msg: "one", big: 1e21, nested: { a: [1.50, "x"] } },
    { ts: at(3), msg: 'three "quoted"\nline' },
  ]);
  await using db = openDatabase();
  await db`
    update logloom.logs set attrs = '{"n": 123456789012345678}'
    where tenant_id = ${tenant.id} and msg like 'two%'`;
  const answer = await get(headers);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "application/x-ndjson");
  const text = await answer.text();
  const lines = text.trimEnd().split("\n");
  assert.equal(lines.pop(), '{"complete":true}');
  const page = await call(`/functions/v1/logloom-read/v1/search_logs`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: '{"p_order": "asc"}',
  });
  const { logs } = page.body as { logs: unknown[] };
  assert.deepEqual(lines.map((line) => JSON.parse(line)), logs);
  assert.match(text, /"n": 123456789012345678[,}]/);
  const sinceEver = await get(headers, { from: "1970-01-01T00:00:00Z" });
  assert.equal(await sinceEver.text(), text);
  const newest = linesOf(
    await (await get(headers, { order: "desc", query: "two OR three" })).text(),
  );
  assert.deepEqual(newest.map(({ msg }) => msg).slice(0, -1), ['three "quoted"\nline', "two 💡"]);

  const byUser = await (await get(bearer(tenant.token))).text();
  assert.equal(byUser, text);
  const posted = await fetch(path, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ query: "one" }),
  });
  assert.equal(linesOf(await posted.text()).length, 2);
});

Deno.test("the package's reader exports by a read key, each record once, over all pages", async () => {
  // A page has 2500 records at most.
  const sent = Array.from({ length: 5200 }, (_, n) => ({
    // Several records with the same time.
    ts: at(Math.floor(n / 7) / 10),
    msg: `event ${n}`,
  }));
  const { tenant, headers } = await withRecords("export-reader", sent);
  const reader = createReader({ url: stack.url, key: headers["x-api-key"] });
  const pages = await Array.fromAsync(reader.export("", { since: "1h" }));
  assert.ok(pages.length >= 3, `${pages.length} pages`);
  for (const { text, records } of pages) assert.equal(text.split("\n").length - 1, records);
  const lines = linesOf(pages.map(({ text }) => text).join(""));
  assert.deepEqual(lines.map(({ msg }) => msg).sort(), sent.map(({ msg }) => msg).sort());
  assert.deepEqual(lines.map(({ ts }) => ts), lines.map(({ ts }) => ts).sort());
  await using db = openDatabase();
  const stored = await recordsOf(db, tenant.id, sent.length);
  assert.deepEqual(lines.map(({ id }) => id).sort(), stored.map(({ id }) => id).sort());
});

Deno.test("a CSV has a header, quotes by RFC 4180, and no formulas", async () => {
  const { headers } = await withRecords("export-csv", [
    { ts: at(1), msg: '=HYPERLINK("x")', level: "info", delta: -5 },
    { ts: at(2), msg: 'a "b", c\nd', delta: "-5+cmd", note: "@sum" },
    { ts: at(3), msg: "" },
  ]);
  const answer = await get(headers, {
    format: "csv",
    query: "| fields msg, level, attrs.delta, @note",
  });
  assert.match(answer.headers.get("content-type") ?? "", /^text\/csv/);
  const rows = (await answer.text()).split("\r\n");
  assert.equal(rows[0], "ts,id,msg,level,attrs.delta,@note");
  assert.deepEqual(rows.slice(1).map((row) => row.split(",").slice(2).join(",")), [
    `"'=HYPERLINK(""x"")",info,-5,`,
    `"a ""b"", c\nd",,"'-5+cmd","'@sum"`,
    `"",,,`,
    "",
  ]);
  const all = (await (await get(headers, { format: "csv" })).text()).split("\r\n")[0];
  assert.equal(all, "ts,id,received_at,level,msg,service,env,req_id,user_id,route,host,attrs");
});

Deno.test("a client that accepts gzip gets gzip", async () => {
  const { headers } = await withRecords("export-gzip", [{ ts: at(1), msg: "one" }]);
  const answer = await fetch(`${path}?format=csv&query=${encodeURIComponent("| fields msg")}`, {
    headers: { ...headers, "accept-encoding": "br, gzip;q=0.5" },
  });
  // fetch has decompressed the body.
  assert.match(await answer.text(), /^ts,id,msg\r\n[^\r]+,one\r\n$/);
  const socket = await new Deno.Command("curl", {
    args: [
      "--silent",
      "--header",
      "Accept-Encoding: gzip",
      "--header",
      `X-API-Key: ${headers["x-api-key"]}`,
      path,
    ],
  }).output();
  assert.match(gunzipSync(socket.stdout).toString(), /"msg":"one"/);
});

Deno.test("invalid parameters are refused before anything is sent", async () => {
  const { headers } = await withRecords("export-refused", [{ ts: at(1), msg: "one" }]);
  for (
    const [parameters, message] of [
      [{ format: "xml" }, "Invalid format: ndjson or csv"],
      [{ limit: "5" }, "Unknown parameter: limit"],
      [{ order: "up" }, "Invalid p_order: desc or asc"],
      [{ cursor: "x" }, "Invalid p_cursor"],
      [{ after: "yesterday" }, "Invalid p_after: <ts>,<id> of a record"],
      ...["infinity", "01/02/2026"].map((ts) =>
        [
          { after: `${ts},${crypto.randomUUID()}` },
          "Invalid p_after: <ts>,<id> of a record",
        ] as unknown as [Record<string, string>, string]
      ),
      // The range has moved on, so records between would be missing.
      [
        { after: `${at(-3600)},${crypto.randomUUID()}` },
        "Invalid p_after: it lies outside the range",
      ],
      // In the other order, the other end of the range moves.
      ...[{ order: "desc" }, { query: "* | sort by ts desc", from: "now-1h" }].map((moving) =>
        [
          { after: `${at(0)},${crypto.randomUUID()}`, ...moving },
          "Invalid p_after: it lies outside the range",
        ] as unknown as [Record<string, string>, string]
      ),
      [
        { after: `${at(0)},${crypto.randomUUID()}`, query: "* | limit 5" },
        "Invalid p_after: the query has a limit",
      ],
      [{ query: "| count()" }, "Invalid p_query_dsl: this operation returns records, not count()"],
    ] as [Record<string, string>, string][]
  ) {
    const answer = await get(headers, parameters);
    const body = await answer.json();
    assert.deepEqual([answer.status, body.message], [400, message]);
  }
  const nobody = await get({});
  assert.equal(nobody.status, 401);
  await nobody.body?.cancel();
});

Deno.test("an export continues after its cursor and after any line, without a gap or a duplicate", async () => {
  const count = 2500;
  const events = Array.from({ length: count }, (_, n) => ({
    // Several records with the same time.
    ts: at(Math.floor(n / 7) / 10),
    msg: `event ${n}`,
  }));
  const { tenant, headers } = await withRecords("export-resume", events);
  const whole = linesOf(await (await get(headers)).text()).slice(0, -1);
  assert.equal(new Set(whole.map(({ id }) => id)).size, count);

  // The export is cut off in the middle of a line of the second page.
  const answer = await get(headers);
  const cursor = answer.headers.get("x-logloom-cursor") ?? "";
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);
  let text = "";
  while (text.split("\n").length < 1300) {
    const { done, value } = await reader.read();
    assert.ok(!done, text.slice(-300));
    text += value;
  }
  await reader.cancel();
  const kept = text.slice(0, 1 + text.lastIndexOf("\n", text.length - 40));
  const had = linesOf(kept);
  const last = had[had.length - 1];

  // Records that arrive meanwhile are not part of it.
  await ingest(tenant.headers, [{ ts: at(600), msg: "late" }]);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, count + 1);
  const rest = linesOf(
    await (await get(headers, { cursor, after: `${last.ts},${last.id}` })).text(),
  );
  assert.deepEqual(rest.pop(), { complete: true });
  assert.deepEqual([...had, ...rest].map(({ id }) => id), whole.map(({ id }) => id));
  // This is also true if the export began before all of the records were visible.
  const csv = await get(headers, { format: "csv", cursor, after: `${last.ts},${last.id}` });
  assert.equal((await csv.text()).trimEnd().split("\r\n").length, rest.length);
  const end = whole[whole.length - 1];
  const over = await get(headers, { format: "csv", cursor, after: `${end.ts},${end.id}` });
  assert.equal(over.status, 204);

  await watermarkPasses(db, new Date());
  const later = linesOf(await (await get(headers)).text());
  assert.equal(later.length, count + 2);
});

Deno.test("an export continues although a day was sealed and late records arrived meanwhile", async () => {
  await using db = openDatabase();
  // The job could seal the day before its records are made older.
  await using _job = await stopJob(db, "seal_logs");
  const count = 5300;
  const day = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10);
  const events = Array.from({ length: count }, (_, n) => ({
    // More records with the same time than fit a page.
    ts: `${day}T12:00:0${n < 2700 ? 0 : 1}.25Z`,
    msg: `event ${n}`,
  }));
  const { tenant, headers } = await withRecords("export-sealed", events);
  const range = { from: `${day}T00:00:00Z`, to: `${day}T23:00:00Z` };
  const whole = linesOf(await (await get(headers, range)).text()).slice(0, -1);
  assert.equal(new Set(whole.map(({ id }) => id)).size, count);

  const page = async (parameters: Record<string, unknown>) => {
    const { status, body } = await call<{ text: string; next_cursor: string | null }>(
      "/functions/v1/logloom-read/v1/export_logs",
      {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ p_ts_from: range.from, p_ts_to: range.to, ...parameters }),
      },
    );
    assert.equal(status, 200);
    return body;
  };
  const first = await page({});
  await ingest(tenant.headers, [{ ts: `${day}T12:00:00.75Z`, msg: "late" }]);
  await recordsOf(db, tenant.id, count + 1);
  await callAsOwner(
    db,
    `select pg_advisory_xact_lock(logloom_private.lock_key('deletion')),
      logloom_private.seal_block('${tenant.id}', array[date '${day}'])`,
  );
  const [{ rows, blocks }] = await db`
    select
      (select count(*)::integer from logloom.logs l where l.tenant_id = ${tenant.id}) as rows,
      (select count(*)::integer from logloom_private.blocks c
        where c.tenant_id = ${tenant.id}) as blocks`;
  assert.deepEqual([rows, blocks > 0], [0, true]);

  const rest = linesOf(await (await get(headers, { ...range, cursor: first.next_cursor! })).text());
  assert.deepEqual(rest.pop(), { complete: true });
  const had = linesOf(first.text);
  assert.deepEqual([...had, ...rest].map(({ id }) => id), whole.map(({ id }) => id));
  // Continues after any line, also after a line whose time other records share.
  for (const n of [0, 700, 2699, 2700, count - 1]) {
    const answer = await get(headers, {
      ...range,
      cursor: first.next_cursor!,
      after: `${whole[n].ts},${whole[n].id}`,
    });
    const lines = linesOf(await answer.text()).slice(0, -1);
    assert.deepEqual(lines.map(({ id }) => id), whole.slice(n + 1).map(({ id }) => id));
  }
  const newest = linesOf(await (await get(headers, { ...range, order: "desc" })).text());
  assert.deepEqual(
    newest.slice(0, -1).map(({ id }) => id).filter((id) => whole.some((line) => line.id === id)),
    whole.map(({ id }) => id).reverse(),
  );
});

Deno.test("an export of rare records continues over empty pages", async () => {
  const { headers } = await withRecords("export-rare", [{ ts: at(1), msg: "needle" }]);
  const answer = await get(headers, { from: "now-30d", query: "needle" });
  assert.equal(linesOf(await answer.text()).length, 2);
});
