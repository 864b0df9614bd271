import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";
import {
  apiKey,
  assertAnswer,
  call,
  createKey,
  ingest,
  newTenant,
  rpc,
} from "../support/client.ts";
import {
  countRecords,
  type Database,
  openDatabase,
  queueIsEmpty,
  recordsOf,
} from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { keepRecords } from "../support/plans.ts";
import { stack } from "../support/stack.ts";

const accepted = (ingested: number) => ({ success: true, ingested, rejected: 0 });
const unauthenticated = { error: "Invalid token, API key, or missing tenant_id" };
const limit = 512_000;

/** Returns the partition of a record, without the number of a shard. */
const partition = (sql: Database) =>
  sql`regexp_replace(tableoid::regclass::text, '(_[0-9]{2}_[0-9]{2})_[0-9]+$', '\\1')`;

Deno.test("an array, one event and {logs: […]} are accepted; an empty array is no error", async () => {
  const tenant = await newTenant();
  assertAnswer(await ingest(tenant.headers, [{ msg: "a" }, { msg: "b" }]), 200, accepted(2));
  assertAnswer(await ingest(tenant.headers, { msg: "c" }), 200, accepted(1));
  assertAnswer(await ingest(tenant.headers, { logs: [{ msg: "d" }] }), 200, accepted(1));
  assertAnswer(await ingest(tenant.headers, []), 200, accepted(0));
  assertAnswer(await ingest(tenant.headers, { logs: [] }), 200, accepted(0));

  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, 4);
  assert.deepEqual(records.map(({ msg }) => msg), ["a", "b", "c", "d"]);
});

Deno.test("every field of an event arrives in the partition of its day", async () => {
  const tenant = await newTenant();
  const { key_value } = await createKey(tenant);
  const event = {
    ts: new Date().toISOString().replace("Z", "456Z"),
    level: "warn",
    msg: "disk is nearly full",
    service: "api",
    env: "production",
    req_id: "req-1",
    user_id: "user-1",
    route: "/users/:id",
    host: "web-1",
    attrs: { free: 0.25, mounts: ["/", "/data"] },
  };
  const before = Date.now();
  assertAnswer(await ingest(apiKey(key_value), [event]), 200, accepted(1));
  const after = Date.now();

  await using db = openDatabase();
  const [{ id, write_seq, received_at, ts, ...record }] = await recordsOf(db, tenant.id, 1);
  const { ts: sentTs, ...fields } = event;
  assert.deepEqual(record, { tenant_id: tenant.id, ...fields });
  assert.equal(ts, sentTs.replace("Z", "+00:00"));
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{8}0000$/);
  assert.ok(Number.isInteger(write_seq) && write_seq > 0);
  const received = Date.parse(received_at);
  assert.ok(received >= before - 1 && received <= after + 1, `${before} ${received} ${after}`);

  const [{ name }] = await db`
    select ${partition(db)} as name from logloom.logs where tenant_id = ${tenant.id}`;
  assert.equal(name, `logloom.logs_${sentTs.slice(0, 10).replaceAll("-", "_")}`);
});

Deno.test("an acknowledged event is visible seconds later, without any further call", async () => {
  const tenant = await newTenant();
  assertAnswer(await ingest(tenant.headers, [{ msg: "a" }, { msg: "b" }]), 200, accepted(2));
  await using db = openDatabase();
  await eventually("both events are records", async () => await countRecords(db, tenant.id) === 2);
});

Deno.test("an event without ts gets the time at which it was received", async () => {
  const tenant = await newTenant();
  assertAnswer(await ingest(tenant.headers, {}), 200, accepted(1));
  await using db = openDatabase();
  const [{ id: _id, write_seq: _write_seq, ts, received_at, tenant_id, ...rest }] = await recordsOf(
    db,
    tenant.id,
    1,
  );
  assert.equal(ts, received_at);
  assert.equal(tenant_id, tenant.id);
  assert.ok(Object.values(rest).every((value) => value === null), JSON.stringify(rest));
});

Deno.test("events of past days go to the partitions of those days", async () => {
  const tenant = await newTenant();
  const days = [0, 2, 30, 399].map((ago) => new Date(Date.now() - ago * 86_400_000).toISOString());
  await using db = openDatabase();
  await keepRecords(db, tenant.id, 400);
  assertAnswer(await ingest(tenant.headers, days.map((ts) => ({ ts }))), 200, accepted(4));
  await recordsOf(db, tenant.id, 4);
  const rows = await db`
    select ${partition(db)} as name from logloom.logs
    where tenant_id = ${tenant.id} order by ts desc`;
  assert.deepEqual(
    rows.map(({ name }) => name),
    days.map((day) => `logloom.logs_${day.slice(0, 10).replaceAll("-", "_")}`),
  );
});

Deno.test("concurrent requests are each answered and stored once", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  const { key_value } = await createKey(tenant);
  const callers = [tenant.headers, apiKey(key_value)];
  const sent = Array.from({ length: 300 }, (_, n) => `request ${n}`);
  const answers = await Promise.all(sent.map((msg, n) => {
    // Every tenth request also has an event that is rejected.
    const body = n % 10 === 0 ? ["no event", { msg }] : [{ msg }];
    return ingest(callers[n % callers.length], body);
  }));
  for (const [n, { status, body }] of answers.entries()) {
    const { success, ingested, rejected, errors } = body as {
      success: boolean;
      ingested: number;
      rejected: number;
      errors?: { index: number; code: string }[];
    };
    assert.deepEqual([status, success, ingested], [200, true, 1]);
    assert.equal(rejected, n % 10 === 0 ? 1 : 0);
    assert.deepEqual(
      errors?.map(({ index, code }) => [index, code]),
      n % 10 === 0 ? [[0, "not_an_object"]] : undefined,
    );
  }
  await queueIsEmpty(db);
  const stored = (await recordsOf(db, tenant.id, sent.length)).map(({ msg }) => msg);
  assert.deepEqual(stored.toSorted(), sent.toSorted());
});

Deno.test("a value that is not an event, or has a time out of range, is rejected alone, with its index and reason", async () => {
  const tenant = await newTenant();
  const hour = 3_600_000;
  const answer = await ingest(tenant.headers, [
    { msg: "first" },
    "not an event",
    { ts: new Date(Date.now() + 25 * hour).toISOString() },
    { ts: new Date(Date.now() - 401 * 24 * hour).toISOString() },
    { msg: "last", ts: new Date(Date.now() + 23 * hour).toISOString() },
  ]);
  const { errors, ...counts } = answer.body;
  assert.deepEqual([answer.status, counts], [200, { success: true, ingested: 2, rejected: 3 }]);
  assert.deepEqual(
    (errors as { index: number; code: string }[]).map(({ index, code }) => [index, code]),
    [[1, "not_an_object"], [2, "ts_out_of_range"], [3, "ts_out_of_range"]],
  );
  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, 2);
  assert.deepEqual(records.map(({ msg }) => msg), ["first", "last"]);
});

Deno.test("if nothing was accepted, success is false, and at most a hundred errors are listed", async () => {
  const tenant = await newTenant();
  const { status, body } = await ingest(tenant.headers, Array(250).fill(7));
  const { errors, ...counts } = body;
  assert.equal(status, 200);
  assert.deepEqual(counts, { success: false, ingested: 0, rejected: 250 });
  assert.deepEqual(
    (errors as { index: number }[]).map(({ index }) => index),
    Array.from({ length: 100 }, (_, index) => index),
  );
});

Deno.test("protocols that answer for each event list every rejected one", async () => {
  const tenant = await newTenant();
  const ts = (n: number) => n === 100 ? new Date().toISOString() : "2001-01-01";
  const body = Array.from({ length: 150 }, (_, n) => `{"create":{}}\n{"@timestamp":"${ts(n)}"}\n`);
  const expected = Array.from({ length: 150 }, (_, n) => n === 100 ? 201 : 400);
  for (const _ of ["sent", "repeated"]) {
    const response = await fetch(`${stack.url}/functions/v1/ingest/es/_bulk`, {
      method: "POST",
      headers: { ...tenant.headers, "Content-Type": "application/x-ndjson" },
      body: body.join(""),
    });
    const { items } = await response.json();
    const statuses = items.map(({ create }: { create: { status: number } }) => create.status);
    assert.deepEqual(statuses, expected);
  }
});

Deno.test("methods other than POST are refused before anything else", async () => {
  for (const method of ["GET", "PUT", "PATCH", "DELETE"]) {
    const answer = await call("/functions/v1/ingest", { method });
    assertAnswer(answer, 405, { error: `Method not allowed: ${method}` });
    assert.equal(answer.headers.get("allow"), "POST, OPTIONS");
  }
});

Deno.test("10,000 events are accepted, one more is not", async () => {
  const tenant = await newTenant();
  const events = (count: number) => `[${Array(count).fill("{}").join(",")}]`;
  assertAnswer(await ingest(tenant.headers, events(10_001)), 400, {
    error: "Too many records: 10001 (max 10000)",
  });
  assertAnswer(await ingest(tenant.headers, events(10_000)), 200, accepted(10_000));
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 10_000);
  const [{ ids }] = await db`
    select count(distinct id)::integer as ids from logloom.logs where tenant_id = ${tenant.id}`;
  assert.equal(ids, 10_000);
});

Deno.test("512,000 bytes are accepted and arrive whole, more is refused", async () => {
  const tenant = await newTenant();
  const body = (size: number) => `{"msg":"${"x".repeat(size - 10)}"}`;
  assertAnswer(await ingest(tenant.headers, body(limit)), 200, accepted(1));
  assertAnswer(await ingest(tenant.headers, body(limit + 1)), 413, {
    error: `Request body too large: ${limit + 1} bytes (max 512000)`,
  });
  // This also works for much larger bodies: the answer reaches a client that reads only after sending everything.
  assertAnswer(await ingest(tenant.headers, new Uint8Array(30_000_000)), 413, {
    error: "Request body too large: 30000000 bytes (max 512000)",
  });
  await using db = openDatabase();
  const [{ msg }] = await recordsOf(db, tenant.id, 1);
  assert.equal(msg?.length, limit - 10);
});

Deno.test("a chunked body is held to the limit as well", async () => {
  const tenant = await newTenant();
  const chunked = (chunks: number) =>
    ReadableStream.from((function* () {
      const text = new TextEncoder();
      yield text.encode('{"msg":"');
      for (let i = 0; i < chunks; i++) yield new Uint8Array(1000).fill(0x61);
      yield text.encode('"}');
    })());
  assertAnswer(await ingest(tenant.headers, chunked(511)), 200, accepted(1));
  assertAnswer(await ingest(tenant.headers, chunked(512)), 413, {
    error: "Request body too large: 512010 bytes (max 512000)",
  });
});

Deno.test("the limit holds for a compressed body as sent and as decompressed", async () => {
  const tenant = await newTenant();
  const gzip = { ...tenant.headers, "content-encoding": "gzip" };
  const body = (size: number) => new TextEncoder().encode(`{"msg":"${"x".repeat(size - 10)}"}`);
  assertAnswer(await ingest(gzip, gzipSync(body(limit))), 200, accepted(1));
  assertAnswer(await ingest(gzip, gzipSync(body(limit + 1))), 413, {
    error: `Request body too large: ${limit + 1} bytes (max 512000)`,
  });
  const bomb = await ingest(gzip, gzipSync(new Uint8Array(200_000_000), { level: 9 }));
  assert.equal(bomb.status, 413);
  assert.match(String(bomb.body.error), /^Request body too large: \d+ bytes \(max 512000\)$/);

  // The body's first bytes show that it is not compressed.
  assertAnswer(await ingest(gzip, body(100)), 200, accepted(1));
  assertAnswer(await ingest(gzip, gzipSync(body(10_000)).subarray(0, 40)), 400, {
    error: "Request body is not valid gzip",
  });
  const deflate = { ...tenant.headers, "content-encoding": "deflate" };
  assertAnswer(await ingest(deflate, deflateSync(body(100))), 200, accepted(1));
  assertAnswer(await ingest({ ...tenant.headers, "content-encoding": "br" }, body(100)), 400, {
    error: "Unsupported Content-Encoding: expected gzip, deflate, zstd or none",
  });
});

Deno.test("checks come in the documented order", async () => {
  const tenant = await newTenant();
  const tooLarge = "x".repeat(limit + 1);
  const tooLargeError = { error: `Request body too large: ${limit + 1} bytes (max 512000)` };
  const mistyped = { "x-api-key": "ll_not_a_key" };
  const unknownKey = { "x-api-key": `ll_${"0".repeat(30)}${checksum(`ll_${"0".repeat(30)}`)}` };

  // The size is checked after missing credentials, and before wrong ones.
  assertAnswer(await ingest({}, tooLarge), 400, { error: "Missing authorization header" });
  for (const headers of [mistyped, unknownKey, tenant.headers]) {
    assertAnswer(await ingest(headers, tooLarge), 413, tooLargeError);
  }
  // Unknown callers learn nothing about the body.
  for (const headers of [mistyped, unknownKey, { authorization: "Bearer x.y.z" }]) {
    for (const body of ["{", "[".repeat(9), `[${Array(10_001).fill("1").join(",")}]`, "[]"]) {
      assertAnswer(await ingest(headers, body), 401, unauthenticated);
    }
  }
});

Deno.test("an answer that does not depend on the body arrives however large the body is", async () => {
  const tenant = await newTenant();
  const body = "x".repeat(2_000_000);
  for (let n = 0; n < 60; n++) {
    assertAnswer(await ingest({}, body), 400, { error: "Missing authorization header" });
    const nowhere = await fetch(`${stack.url}/functions/v1/ingest/nowhere`, {
      method: "POST",
      headers: tenant.headers,
      body,
    });
    assert.deepEqual([nowhere.status, await nowhere.json()], [404, {
      error: "No receiver at this path: /nowhere",
    }]);
    assertAnswer(await ingest(tenant.headers, { msg: "beside it" }), 200, accepted(1));
  }
});

/** Returns the last six characters of an API key: the CRC32 of those before, in base 62. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let rest = ~crc >>> 0;
  let digits = "";
  for (let i = 0; i < 6; i++) {
    digits = base62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

Deno.test("a repeat with the same Idempotency-Key gets the first answer and stores nothing", async () => {
  const tenant = await newTenant();
  const headers = { ...tenant.headers, "idempotency-key": "batch-1" };
  const events = [{ msg: "once" }, 7];
  const first = await ingest(headers, events);
  assert.equal(first.status, 200);
  assert.deepEqual([first.body.ingested, first.body.rejected], [1, 1]);
  assertAnswer(await ingest(headers, events), 200, first.body);

  // Compressed it is the same body.
  const packed = gzipSync(JSON.stringify(events));
  assertAnswer(await ingest({ ...headers, "content-encoding": "gzip" }, packed), 200, first.body);

  assertAnswer(await ingest(headers, [{ msg: "other" }]), 409, {
    error: "Idempotency-Key was used with another body",
  });
  for (const key of ["", "k".repeat(256)]) {
    assertAnswer(await ingest({ ...headers, "idempotency-key": key }, events), 400, {
      error: "Idempotency-Key must have 1 to 255 characters",
    });
  }
  const longest = { ...headers, "idempotency-key": "k".repeat(255) };
  assertAnswer(await ingest(longest, [{ msg: "long" }]), 200, accepted(1));

  // Another tenant can use the same key.
  const other = await newTenant();
  assertAnswer(
    await ingest({ ...other.headers, "idempotency-key": "batch-1" }, [{ msg: "other" }]),
    200,
    accepted(1),
  );
  await using db = openDatabase();
  await queueIsEmpty(db);
  assert.equal(await countRecords(db, tenant.id), 2);
});

Deno.test("many repeats at once with one Idempotency-Key store the events once", async () => {
  const tenant = await newTenant();
  const headers = { ...tenant.headers, "idempotency-key": "at-once" };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => ingest(headers, [{ msg: "once" }])),
  );
  for (const answer of answers) assertAnswer(answer, 200, accepted(1));
  await using db = openDatabase();
  await queueIsEmpty(db);
  assert.equal(await countRecords(db, tenant.id), 1);
});

Deno.test("after a connection that was cut, a retry with the Idempotency-Key stores the events once", async () => {
  const tenant = await newTenant();
  const body = JSON.stringify([{ msg: "cut" }]);
  const url = new URL("/functions/v1/ingest", Deno.env.get("LOGLOOM_URL"));
  const keys = Array.from({ length: 10 }, (_, index) => `cut-${index}`);
  for (const [index, key] of keys.entries()) {
    const connection = await Deno.connect({ hostname: url.hostname, port: Number(url.port) });
    const request = `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n` +
      `Authorization: ${tenant.headers.authorization}\r\nIdempotency-Key: ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    await connection.write(new TextEncoder().encode(request));
    // Half of them are cut at once, the others when the answer begins.
    if (index % 2 === 1) await connection.read(new Uint8Array(1));
    connection.close();
  }
  for (const key of keys) {
    const answer = await ingest({ ...tenant.headers, "idempotency-key": key }, body);
    assertAnswer(answer, 200, accepted(1));
  }
  await using db = openDatabase();
  await queueIsEmpty(db);
  assert.equal(await countRecords(db, tenant.id), keys.length);
});

Deno.test("GitHub signs markers with the digest of a key, and only markers", async () => {
  const tenant = await newTenant();
  const { key_id, key_value } = await createKey(tenant);
  const secret = createHash("sha256").update(key_value).digest("hex");
  // The members of GitHub's documented event that a marker is made of.
  const deployed = JSON.stringify({
    deployment_status: { state: "success", created_at: new Date().toISOString() },
    deployment: { sha: "9f1c2d3e4b5a6978", ref: "main", environment: "production" },
    repository: { html_url: "https://github.com/acme/shop" },
  });
  const signed = (body: string, { key = secret, id = key_id, path = "/marker" } = {}) =>
    call(`/functions/v1/ingest${path}?service=shop&key_id=${id}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-GitHub-Event": body === "{}" ? "ping" : "deployment_status",
        "X-Hub-Signature-256": `sha256=${createHmac("sha256", key).update(body).digest("hex")}`,
      },
      body,
    });
  const why = ({ headers }: { headers: Headers }) => headers.get("WWW-Authenticate") ?? "";
  assertAnswer(await signed("{}"), 200, accepted(0));
  assertAnswer(await signed(deployed), 200, accepted(1));
  assertAnswer(await signed(deployed), 200, accepted(1));
  for (const wrong of [{ key: key_value }, { id: crypto.randomUUID() }]) {
    const answer = await signed(deployed, wrong);
    assert.equal(answer.status, 401);
    assert.match(why(answer), /The signature does not fit/);
  }
  assert.equal((await signed(deployed, { path: "" })).status, 400);
  assert.equal((await signed(deployed, { path: "/lines" })).status, 401);

  await using db = openDatabase();
  const records = await recordsOf(db, tenant.id, 1);
  assert.deepEqual(records.map(({ msg, service, env, attrs }) => [msg, service, env, attrs?.url]), [
    [
      "Release 9f1c2d3e4b5a",
      "shop",
      "production",
      "https://github.com/acme/shop/commit/9f1c2d3e4b5a6978",
    ],
  ]);
  await rpc(tenant.token, "revoke_api_key", { p_key_id: key_id });
  const revoked = await signed(deployed);
  assert.equal(revoked.status, 401);
  assert.match(why(revoked), /The API key was revoked/);
});
