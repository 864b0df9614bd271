import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { assertAnswer, call, ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import { callAsOwner, changeSettings, openDatabase, recordsOf } from "../support/database.ts";

const maxRecordBytes = 1024 * 1024;

/** Sends events as compressed lines. */
function sendLines(tenant: Tenant, events: unknown[]) {
  return call("/functions/v1/ingest/lines", {
    method: "POST",
    headers: {
      ...tenant.headers,
      "Content-Type": "application/x-ndjson",
      "Content-Encoding": "gzip",
    },
    body: gzipSync(
      events.map((event) => typeof event === "string" ? event : JSON.stringify(event)).join("\n"),
    ),
  });
}

interface Page {
  logs: { msg: string; attrs: Record<string, unknown> }[];
}

async function search(tenant: Tenant, query = ""): Promise<{ page: Page; bytes: number }> {
  const { status, body } = await rpc<Page>(tenant.token, "search_logs", {
    p_query_dsl: query,
    p_ts_from: "now-3d",
    p_ts_to: "now+1h",
  });
  assert.equal(status, 200, JSON.stringify(body).slice(0, 500));
  return { page: body, bytes: JSON.stringify(body.logs).length };
}

const dayBeforeYesterday = new Date(Date.now() - 2 * 86_400_000).toISOString();

Deno.test("590,000 large numbers are a record of less than a mebibyte, as a row and sealed", async () => {
  const tenant = await newTenant();
  // Written by hand, because JSON.stringify writes 1e+300.
  const numbers = Array(590_000).fill("1e300").join(",");
  const line = (msg: string) => `{"ts":"${dayBeforeYesterday}","msg":"${msg}","n":[${numbers}]}`;
  for (const msg of ["first", "second"]) {
    const answer = await sendLines(tenant, [line(msg)]);
    assertAnswer(answer, 200, { success: true, ingested: 1, rejected: 0, cut: 1 });
  }
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 2);

  const check = async () => {
    const { page, bytes } = await search(tenant);
    assert.deepEqual(page.logs.map(({ msg }) => msg).sort(), ["first", "second"]);
    for (const { attrs } of page.logs) {
      const { n, logloom_cut } = attrs as { n: string[]; logloom_cut: unknown };
      assert.deepEqual(logloom_cut, { "attrs.n": 590_000 });
      assert.ok(n.length > 70_000 && n.every((number) => number === "1e300"));
    }
    assert.ok(bytes < 2 * maxRecordBytes, String(bytes));
    assert.equal((await search(tenant, "any:1e300")).page.logs.length, 2);
    const fields = await rpc(tenant.token, "list_log_fields", { p_ts_from: "now-3d" });
    assert.equal(fields.status, 200);
    assert.ok(JSON.stringify(fields.body).length < 100_000);
  };
  await check();
  const sizes = await db`
    select
      l.record_bytes as kept,
      octet_length(to_json(jsonb_populate_record(null::public.logloom_log_record, to_jsonb(l)))::text)
        as answered
    from logloom.logs l where l.tenant_id = ${tenant.id}`;
  for (const { kept, answered } of sizes) {
    assert.equal(kept, answered);
    assert.ok(kept <= maxRecordBytes && kept > 0.6 * maxRecordBytes, String(kept));
  }

  await callAsOwner(
    db,
    `select pg_advisory_xact_lock(logloom_private.lock_key('deletion')),
      logloom_private.seal_block('${tenant.id}', array[date '${dayBeforeYesterday.slice(0, 10)}'])`,
  );
  const [{ blocks }] = await db`
    select count(*)::integer as blocks
    from logloom_private.blocks c where c.tenant_id = ${tenant.id}`;
  assert.ok(blocks >= 1);
  await check();
});

Deno.test("the native endpoint also cuts long records, and its answer counts them", async () => {
  const tenant = await newTenant();
  // In the answer a space follows each comma, so each number takes one byte more than in the request.
  const long = { msg: "long", n: Array(79_000).fill(12345) };
  const answer = await ingest(tenant.headers, [{ msg: "a" }]);
  assertAnswer(answer, 200, { success: true, ingested: 1, rejected: 0 });
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 1);
  // 474 kB as sent are 553 kB as answered, which is less than a record may have.
  assertAnswer(await ingest(tenant.headers, [long]), 200, {
    success: true,
    ingested: 1,
    rejected: 0,
  });
  const whole = (await recordsOf(db, tenant.id, 2)).find(({ msg }) => msg === "long");
  assert.equal((whole?.attrs as { n: number[] }).n.length, 79_000);
  // 1e39 is stored as its 40 digits: 500 kB become 4 MB.
  const grown = `[{"msg":"grown","n":[${Array(100_000).fill("1e39").join(",")}]},{"msg":"b"},7]`;
  assertAnswer(await ingest(tenant.headers, grown), 200, {
    success: true,
    ingested: 2,
    rejected: 1,
    cut: 1,
    errors: [{ index: 2, code: "not_an_object", message: "A log event must be a JSON object" }],
  });
  const [cut] = (await recordsOf(db, tenant.id, 4)).filter(({ msg }) => msg === "grown");
  assert.deepEqual((cut.attrs as Record<string, unknown>).logloom_cut, { "attrs.n": 100_000 });
});

Deno.test("if a record has too many values, the first ones are kept, at every endpoint", async () => {
  const tenant = await newTenant();
  const numbers = Array.from({ length: 340_000 }, (_, i) => i % 10);
  const objects = Array.from({ length: 30_000 }, (_, i) => ({ a: i % 10 }));
  // Commas and brackets in a text do not count as values.
  const text = "[1], {2}, ".repeat(40_000);
  const answer = { success: true, ingested: 1, rejected: 0 };
  const ts = dayBeforeYesterday;
  assertAnswer(await sendLines(tenant, [{ ts, msg: "1", numbers }]), 200, { ...answer, cut: 1 });
  assertAnswer(await ingest(tenant.headers, [{ ts, msg: "2", objects }]), 200, {
    ...answer,
    cut: 1,
  });
  assertAnswer(await ingest(tenant.headers, [{ ts, msg: "3", text }]), 200, answer);
  await using db = openDatabase();
  const kept = await recordsOf(db, tenant.id, 3);
  const [first, second, third] = kept.sort((a, b) => a.msg! < b.msg! ? -1 : 1)
    .map(({ attrs }) => attrs as Record<string, unknown[]>);
  assert.deepEqual(first.logloom_cut, { "attrs.numbers": 340_000 });
  assert.deepEqual(second.logloom_cut, { "attrs.objects": 30_000 });
  assert.deepEqual(third, { text });
  assert.ok(first.numbers.length > 149_000 && first.numbers.length < 160_000);
  assert.deepEqual(first.numbers, numbers.slice(0, first.numbers.length));
  assert.ok(second.objects.length > 10_000 && second.objects.length < 11_500);
  assert.deepEqual(second.objects, objects.slice(0, second.objects.length));
});

Deno.test("a repeat of a cut event gets the first answer, and stores nothing", async () => {
  const tenant = await newTenant();
  const event = { ts: new Date().toISOString(), msg: "x".repeat(3_000_000) };
  const first = { success: true, ingested: 1, rejected: 0, cut: 1 };
  assertAnswer(await sendLines(tenant, [event]), 200, first);
  assertAnswer(await sendLines(tenant, [event]), 200, first);
  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, 1);
  assert.equal(records.length, 1);
  assert.deepEqual(records[0].attrs, { logloom_cut: { msg: 3_000_000 } });
  assert.ok((records[0].msg?.length ?? 0) > 0.9 * maxRecordBytes);
});

Deno.test("a lower limit holds from the next request on", async () => {
  const tenant = await newTenant();
  await using db = openDatabase();
  const event = { msg: "é".repeat(100_000) };
  {
    await using _limit = await changeSettings(db, { max_record_bytes: 65_536 });
    const answer = await ingest(tenant.headers, [event, { msg: "b" }]);
    assertAnswer(answer, 200, { success: true, ingested: 2, rejected: 0, cut: 1 });
  }
  assertAnswer(await ingest(tenant.headers, [event]), 200, {
    success: true,
    ingested: 1,
    rejected: 0,
  });
  const records = await recordsOf(db, tenant.id, 3);
  const [cut, short, whole] = records.map(({ msg }) => msg ?? "");
  assert.ok(cut.length > 25_000 && cut.length < 32_768);
  assert.equal(cut, "é".repeat(cut.length));
  assert.deepEqual([short, whole], ["b", event.msg]);
});

Deno.test("a direct call of the database refuses a record that is too large", async () => {
  await using db = openDatabase();
  await db`
    insert into logloom.tenants (tenant_id, plan_id) values ('long-records', 'free')
    on conflict do nothing`;
  for (
    const [record, message] of [
      [
        `"p_attrs": [{"n": 1${"0".repeat(900)}}], "p_msg": ["${"x".repeat(1_048_576)}"]`,
        "A record is longer than 1048576 bytes",
      ],
      [`"p_attrs": [{"n": [${Array(340_000).fill(1)}]}]`, "A record has more than 160000 values"],
    ]
  ) {
    const request = `{"p_tenant_id": "long-records", "p_ts": [null], ${record}}`;
    const [{ answers: [answer] }] = await db`select public.ingest_text(${request}) as answers`;
    assert.equal(answer.status, 413);
    assert.deepEqual([JSON.parse(answer.body).code, JSON.parse(answer.body).message], [
      "PT413",
      message,
    ]);
  }
});
