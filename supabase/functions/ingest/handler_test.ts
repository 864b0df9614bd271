import assert from "node:assert/strict";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { keyChecksum, sha256Hex } from "../_shared/auth.ts";
import { closedUrl, type PeerRequest } from "../_shared/testing.ts";
import { apiKey, startDatabase, startIngest, token } from "./testing.ts";

const accepted = '{"success" : true, "ingested" : 1, "rejected" : 0}';
const unauthenticated = { error: "Invalid token, API key, or missing tenant_id" };
const json = { "Content-Type": "application/json" };
const withKey = { "X-API-Key": apiKey };
const withToken = { Authorization: `Bearer ${token}` };
const limit = 512_000;

/** A test's database, which accepts everything and knows one key. */
function database({ body }: PeerRequest): Response {
  const { p_key_digest: digest, p_ts: ts } = JSON.parse(body);
  if (digest !== undefined && digest !== sha256Hex(apiKey)) return refuseKey();
  return new Response(ts === undefined ? '{"authenticated" : true}' : accepted);
}

function refuseKey(): Response {
  return Response.json({ code: "PT401", message: unauthenticated.error }, { status: 401 });
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Headers;
}

async function post(
  url: string,
  headers: Record<string, string>,
  body?: BodyInit,
): Promise<Answer> {
  const response = await fetch(url, { method: "POST", headers: { ...json, ...headers }, body });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

function stream(...chunks: (string | Uint8Array<ArrayBuffer>)[]): ReadableStream<Uint8Array> {
  const bytes = chunks.map((chunk) =>
    typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk
  );
  return ReadableStream.from(bytes);
}

function text(bytes: number): string {
  const [before, after] = ['[{"msg":"', '"}]'];
  return before + "x".repeat(bytes - before.length - after.length) + after;
}

Deno.test("an API key goes to the database as a digest, in the same call as the events", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  for (const headers of [withKey, { Authorization: `Bearer ${apiKey}` }]) {
    const answer = await post(ingest.url, { ...headers }, '{"msg":"a"}');
    assert.deepEqual([answer.status, answer.body], [200, JSON.parse(accepted)]);
  }
  assert.equal(peer.requests.length, 2);
  for (const { path, body } of peer.requests) {
    assert.equal(path, "/rest/v1/rpc/ingest_text");
    assert.deepEqual(JSON.parse(body), {
      p_key_digest: sha256Hex(apiKey),
      p_bytes: 11,
      p_ts: [null],
      p_msg: ["a"],
    });
  }
});

Deno.test("a token's tenant goes to the database by name; a key wins over a token", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  assert.equal((await post(ingest.url, withToken, "[{}]")).status, 200);
  assert.equal((await post(ingest.url, { ...withToken, ...withKey }, "[{}]")).status, 200);
  const wrongKey = { ...withToken, "X-API-Key": "ll_wrong" };
  assert.equal((await post(ingest.url, wrongKey, "[{}]")).status, 401);
  const bodies = peer.requests.map(({ body }) => JSON.parse(body));
  assert.equal(bodies[0].p_claims.tenant_id, "acme");
  assert.equal(typeof bodies[0].p_claims.exp, "number");
  delete bodies[0].p_claims;
  assert.deepEqual(bodies, [
    { p_tenant_id: "acme", p_bytes: 4, p_ts: [null] },
    { p_key_digest: sha256Hex(apiKey), p_bytes: 4, p_ts: [null] },
  ]);
});

Deno.test("OPTIONS is 204, other methods 405 with Allow, all with CORS headers", async () => {
  await using ingest = startIngest(closedUrl());
  const options = await fetch(ingest.url, { method: "OPTIONS" });
  assert.equal(options.status, 204);
  assert.equal(await options.text(), "");
  assert.equal(options.headers.get("Access-Control-Allow-Origin"), "*");
  assert.equal(options.headers.get("Access-Control-Allow-Methods"), "POST, OPTIONS");
  assert.match(options.headers.get("Access-Control-Allow-Headers") ?? "", /x-api-key/);
  for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE"]) {
    const response = await fetch(ingest.url, { method });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("Allow"), "POST, OPTIONS");
    assert.equal(response.headers.get("Access-Control-Allow-Origin"), "*");
    assert.equal(response.headers.get("Content-Type"), "application/json");
    await response.body?.cancel();
  }
});

Deno.test("of several faults the answer names the first: credentials, size, key, content", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  const answer = async (headers: Record<string, string>, body: string) => {
    const { status, body: said } = await post(ingest.url, headers, body);
    return [status, said];
  };
  const large = "x".repeat(limit + 1);
  const wrongToken = { Authorization: "Bearer wrong" };
  assert.deepEqual(await answer({}, large), [400, { error: "Missing authorization header" }]);
  assert.deepEqual(await answer(wrongToken, large), [
    413,
    { error: "Request body too large: 512001 bytes (max 512000)" },
  ]);
  assert.deepEqual(await answer(wrongToken, "{"), [401, unauthenticated]);
  assert.deepEqual(await answer({ Authorization: "Basic x" }, "{}"), [401, unauthenticated]);
  assert.deepEqual(await answer({ Authorization: "Digest x" }, "{}"), [401, unauthenticated]);
  assert.deepEqual(await answer(withToken, "{"), [400, {
    error: "Invalid JSON at line 1, column 2: it ends early",
  }]);
  assert.deepEqual(await answer(withToken, ""), [400, {
    error: "The request body is empty: send a JSON array of log events, or one log event",
  }]);
  const many = `[${"0,".repeat(10_000)}0]`;
  const tooMany = [400, { error: "Too many records: 10001 (max 10000)" }];
  assert.deepEqual(await answer(withToken, many), tooMany);
  for (const { body } of peer.requests) {
    const { p_claims: _, ...parameters } = JSON.parse(body);
    assert.deepEqual(parameters, { p_tenant_id: "acme" });
  }
});

Deno.test("WWW-Authenticate says where to put a key, and why a key was refused", async () => {
  const hint = "The API key was revoked: create_api_key makes another.";
  await using dead = startDatabase(() =>
    Response.json({ code: "PT401", message: unauthenticated.error, hint }, { status: 401 })
  );
  await using ingest = startIngest(dead.url);
  const realm = 'Bearer realm="logloom"';
  const place = "send the key as X-API-Key, or as Authorization: Bearer";
  const told = (description: string) =>
    `${realm}, error="invalid_token", error_description="${description}"`;
  const cases: [Record<string, string>, number, string][] = [
    [{}, 400, `${realm}, error_description="No API key or token: ${place}"`],
    [
      { apikey: apiKey },
      400,
      `${realm}, error_description="The header apikey is Supabase's: ${place}"`,
    ],
    [withKey, 401, told(hint)],
    [{ "X-API-Key": `'${apiKey}'` }, 401, told("The key is in quotes: send it without them")],
    [
      { Authorization: `Bearer Bearer ${apiKey}` },
      401,
      told("Write Authorization as Bearer, one space, and the key or token"),
    ],
  ];
  for (const [headers, status, header] of cases) {
    const answer = await post(ingest.url, headers, "[{}]");
    assert.deepEqual([answer.status, answer.headers.get("WWW-Authenticate")], [status, header]);
    assert.deepEqual(Object.keys(answer.body as object), ["error"]);
    assert.match(answer.headers.get("Access-Control-Expose-Headers") ?? "", /www-authenticate/);
  }
});

Deno.test("the fault of a body is only told to an active key", async () => {
  await using peer = startDatabase(database);
  await using dead = startDatabase(refuseKey);
  await using ingest = startIngest(peer.url);
  await using ingestOfDead = startIngest(dead.url);
  const faults: [Record<string, string>, string, string][] = [
    [{}, "{", "Invalid JSON at line 1, column 2: it ends early"],
    [{}, "7", 'Invalid body: expected an array of log events, a log event, or {"logs": [...]}'],
    [{}, `[${"0,".repeat(10_000)}0]`, "Too many records: 10001 (max 10000)"],
    [{ "Idempotency-Key": "k".repeat(256) }, "[]", "Idempotency-Key must have 1 to 255 characters"],
    [{ "Idempotency-Key": "" }, "[]", "Idempotency-Key must have 1 to 255 characters"],
    [{ "Content-Encoding": "gzip" }, "\0no gzip", "Request body is not valid gzip"],
    [
      { "Content-Encoding": "br" },
      "x",
      "Unsupported Content-Encoding: expected gzip, deflate, zstd or none",
    ],
  ];
  for (const [headers, body, error] of faults) {
    const answer = await post(ingest.url, { ...withKey, ...headers }, body);
    assert.deepEqual([answer.status, answer.body], [400, { error }]);
    const toDead = await post(ingestOfDead.url, { ...withKey, ...headers }, body);
    assert.deepEqual([toDead.status, toDead.body], [401, unauthenticated]);
  }
  for (const { body } of [...peer.requests, ...dead.requests]) {
    assert.deepEqual(JSON.parse(body), { p_key_digest: sha256Hex(apiKey) });
  }
  assert.equal(peer.requests.length, faults.length);
});

Deno.test("512,000 bytes are taken, one more is 413, with a length or chunked", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  const exact = text(limit);
  const over = text(limit + 1);
  const tooLarge = { error: "Request body too large: 512001 bytes (max 512000)" };
  assert.equal((await post(ingest.url, withKey, exact)).status, 200);
  assert.equal(JSON.parse(peer.requests[0].body).p_bytes, limit);
  const declared = await post(ingest.url, withKey, over);
  assert.deepEqual([declared.status, declared.body], [413, tooLarge]);
  const half = limit / 2;
  const chunks = (body: string) => stream(body.slice(0, half), body.slice(half));
  assert.equal((await post(ingest.url, withKey, chunks(exact))).status, 200);
  const chunked = await post(ingest.url, withKey, chunks(over));
  assert.deepEqual([chunked.status, chunked.body], [413, tooLarge]);
  const large = await post(ingest.url, withKey, "x".repeat(3_000_000));
  assert.deepEqual(large.body, { error: "Request body too large: 3000000 bytes (max 512000)" });
  const stored = peer.requests.filter(({ body }) => JSON.parse(body).p_ts !== undefined);
  assert.equal(stored.length, 2);
});

Deno.test("compressed bodies are read, and their content is limited", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  const body = text(limit);
  const compress: [string, (data: string) => Uint8Array<ArrayBuffer>][] = [
    ["gzip", (data) => new Uint8Array(gzipSync(data))],
    ["GZIP", (data) => new Uint8Array(gzipSync(data))],
    ["deflate", (data) => new Uint8Array(deflateSync(data))],
    ["deflate", (data) => new Uint8Array(deflateRawSync(data))],
  ];
  for (const [encoding, compressed] of compress) {
    const headers = { ...withKey, "Content-Encoding": encoding };
    assert.equal((await post(ingest.url, headers, compressed(body))).status, 200);
    const sent = JSON.parse(peer.requests.at(-1)?.body ?? "");
    assert.equal(sent.p_bytes, limit);
    assert.equal(sent.p_msg[0].length, limit - 12);
    const over = await post(ingest.url, headers, compressed(text(limit + 1)));
    assert.deepEqual([over.status, over.body], [413, {
      error: "Request body too large: 512001 bytes (max 512000)",
    }]);
  }
  const cut = compress[0][1](body).slice(0, -9);
  const answer = await post(ingest.url, { ...withKey, "Content-Encoding": "gzip" }, cut);
  assert.deepEqual([answer.status, answer.body], [400, {
    error: "Request body is not valid gzip",
  }]);
});

Deno.test("a decompression bomb is given up early", async () => {
  await using ingest = startIngest(closedUrl());
  const bomb = new Uint8Array(gzipSync(new Uint8Array(400_000_000), { level: 9 }));
  assert.ok(bomb.length < limit);
  const answer = await post(ingest.url, { ...withKey, "Content-Encoding": "gzip" }, bomb);
  assert.equal(answer.status, 413);
  const { error } = answer.body as { error: string };
  const counted = Number(/^Request body too large: (\d+) bytes \(max 512000\)$/.exec(error)?.[1]);
  assert.ok(counted > 16 * limit && counted < 17 * limit, error);
});

Deno.test("an idempotency key goes with the digest of the body, decompressed", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  const body = '[{"msg":"é"}]';
  const headers = { ...withKey, "Idempotency-Key": "k".repeat(255) };
  await post(ingest.url, headers, body);
  await post(
    ingest.url,
    { ...headers, "Content-Encoding": "gzip" },
    new Uint8Array(gzipSync(body)),
  );
  for (const { body: sent } of peer.requests) {
    const { p_idempotency_key, p_body_digest } = JSON.parse(sent);
    assert.equal(p_idempotency_key, "k".repeat(255));
    assert.equal(p_body_digest, sha256Hex(body));
  }
  assert.equal(peer.requests.length, 2);
});

Deno.test("the number of streams that passed an event on is kept; of several numbers, the greatest", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  const cases: [string, number | undefined][] = [
    ["2", 2],
    ["3, 0", 3],
    ["0, 12", 12],
    ["0", undefined],
    ["2, 300", 99],
    ["x", 99],
    ["", 99],
  ];
  for (const [hops, kept] of cases) {
    await post(ingest.url, { ...withKey, "Logloom-Stream-Hops": hops }, '{"msg":"a"}');
    const { p_attrs: [attrs] = [] } = JSON.parse(peer.requests.at(-1)?.body ?? "");
    assert.equal(attrs?.logloom_hops, kept, hops);
  }
});

/** The idempotency key that a request gets. */
async function repeatOf(
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<unknown[]> {
  await using peer = startDatabase(() => new Response(accepted));
  await using ingest = startIngest(peer.url);
  const response = await fetch(`${ingest.url}${path}`, { method: "POST", headers, body });
  const said = await response.text();
  assert.ok(response.ok, said);
  const { p_idempotency_key, p_body_digest } = JSON.parse(peer.requests[0].body);
  return [p_idempotency_key, p_body_digest];
}

const line = '{"ts":"2026-11-21T12:34:56Z","msg":"a"}';
const bulk = `{"create":{}}\n${line}\n`;
const ndjson = { "Content-Type": "application/x-ndjson" };

Deno.test("an equal body is not a repeat if another part of the request changes its records", async () => {
  const others: [string, Record<string, string>, string][][] = [
    [
      ["/lines", {}, line],
      ["/lines?service=web", {}, line],
      ["/lines?service=web&host=web-1", {}, line],
      ["/lines?service=web&host=web-2", {}, line],
      ["/lines?service=web-1&env=test", {}, line],
      ["", ndjson, line],
      ["?service=web", ndjson, line],
    ],
    [["/es/_bulk", {}, bulk], ["/es/a/_bulk", {}, bulk], ["/es/b/_bulk", {}, bulk]],
    [
      ["/v1/ingest/shop", {}, line],
      ["/v1/ingest/blog", {}, line],
      ["/v1/ingest/blog?timestamp-field=at", {}, line],
    ],
    [["/api/v2/logs", {}, line], ["/api/v2/logs?ddtags=env:test", {}, line]],
    [["/logs/ingest", {}, line], ["/logs/ingest?tags=a", {}, line]],
    [["/lines", { "Logloom-Stream-Hops": "1" }, line], [
      "/lines",
      { "Logloom-Stream-Hops": "2" },
      line,
    ]],
  ];
  for (const requests of others) {
    const keys = new Set<unknown>();
    const digests = new Set<unknown>();
    for (const [path, headers, body] of requests) {
      const [key, digest] = await repeatOf(path, { ...withKey, ...headers }, body);
      assert.equal(key, `sha256:${digest}`, path);
      keys.add(key);
      const sent = { ...withKey, ...headers, "Idempotency-Key": "k" };
      const [own, ownDigest] = await repeatOf(path, sent, body);
      assert.equal(own, "k");
      digests.add(ownDigest);
    }
    assert.deepEqual([keys.size, digests.size], [requests.length, requests.length], requests[0][0]);
  }
});

Deno.test("a repeat is recognised with other credentials, another order or further parameters", async () => {
  const other = `ll_${"Z".repeat(30)}`;
  const otherKey = `${other}${keyChecksum(other)}`;
  const same: [string, Record<string, string>, string][][] = [
    [
      ["/lines?service=web&host=web-1", withKey, line],
      ["/lines?host=web-1&service=web", withToken, line],
      [`/lines?token=${apiKey}&host=web-1&service=web`, {}, line],
      [`/lines/?DD-API-KEY=${otherKey}&host=web-1&service=web&now=1`, {}, line],
    ],
    [[`/v1/input/${apiKey}`, {}, line], [`/v1/input/${otherKey}`, {}, line]],
    [
      ["/api/v2/logs?dd-request-id=1&batch_time=1", withKey, line],
      ["/api/v2/logs?dd-request-id=2&batch_time=2", withKey, line],
    ],
  ];
  for (const [[path, headers, body], ...requests] of same) {
    const first = await repeatOf(path, headers, body);
    for (const request of requests) assert.deepEqual(await repeatOf(...request), first, request[0]);
  }
});

Deno.test("an empty array also goes to the database, which checks the key", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  assert.equal((await post(ingest.url, withKey, "[]")).status, 200);
  assert.deepEqual(JSON.parse(peer.requests[0].body), {
    p_key_digest: sha256Hex(apiKey),
    p_bytes: 2,
    p_ts: [],
  });
});

Deno.test("a refusal by the database reaches the client with Retry-After", async () => {
  for (const status of [401, 409, 429, 503]) {
    await using peer = startDatabase(() =>
      Response.json({ code: `PT${status}`, message: `said ${status}` }, {
        status,
        headers: { "Retry-After": "7" },
      })
    );
    await using ingest = startIngest(peer.url);
    const answer = await post(ingest.url, withKey, "[{}]");
    assert.deepEqual([answer.status, answer.body], [status, { error: `said ${status}` }]);
    assert.equal(answer.headers.get("Retry-After"), "7");
    assert.equal(answer.headers.get("Access-Control-Allow-Origin"), "*");
    assert.equal(answer.headers.get("Content-Type"), "application/json");
  }
});

Deno.test("an unreachable database gives 503 with Retry-After, also for a faulty body", async () => {
  await using ingest = startIngest(closedUrl());
  for (const headers of [withKey, withToken]) {
    for (const body of ["[{}]", "{"]) {
      const answer = await post(ingest.url, headers, body);
      assert.deepEqual([answer.status, answer.body], [503, {
        error: "The database is unavailable, try again",
      }]);
      assert.match(answer.headers.get("Retry-After") ?? "", /^[3-5]$/);
    }
  }
});

Deno.test("only requests that the database recognises as repeats are retried", async () => {
  await using peer = startDatabase(() => new Response("{}", { status: 503 }));
  await using ingest = startIngest(peer.url);
  const now = new Date().toISOString();
  const cases: [event: object, headers: HeadersInit, calls: number][] = [
    [{ message: "a", timestamp: now }, {}, 4],
    [{ message: "a" }, {}, 1],
    // If the tenant keeps no time this old, its event gets the time of receipt.
    [{ message: "a", timestamp: "2005-03-01T10:00:00Z" }, {}, 1],
    [{ message: "a", timestamp: "2005-03-01T10:00:00Z" }, { "Idempotency-Key": "one" }, 4],
  ];
  for (const [event, headers, calls] of cases) {
    const before = peer.requests.length;
    const answer = await post(
      `${ingest.url}/drain/vercel`,
      { ...withKey, ...headers },
      JSON.stringify([event]),
    );
    assert.deepEqual(
      [answer.status, peer.requests.length - before],
      [503, calls],
      JSON.stringify(event),
    );
  }
});

Deno.test("a client that disconnects within its body does no harm", async () => {
  await using peer = startDatabase(database);
  await using ingest = startIngest(peer.url);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: ingest.port });
  await connection.write(new TextEncoder().encode(
    `POST /ingest HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nContent-Length: 100\r\n\r\n[{`,
  ));
  connection.close();
  assert.equal((await post(ingest.url, withKey, "[{}]")).status, 200);
});

Deno.test("nothing secret is logged when something fails", async () => {
  const logged: unknown[] = [];
  const { error } = console;
  console.error = (...values: unknown[]) => logged.push(...values);
  try {
    await using peer = startDatabase(() =>
      Response.json({ code: "22P02", message: "secret-body" }, { status: 400 })
    );
    await using ingest = startIngest(peer.url);
    const answer = await post(
      ingest.url,
      { ...withKey, "Idempotency-Key": "s-id" },
      '["secret-body"]',
    );
    assert.equal(answer.status, 503);
  } finally {
    console.error = error;
  }
  assert.deepEqual(logged.map((line) => JSON.parse(String(line))), [{
    level: "error",
    msg: "database refused the call",
    call: "ingest_text",
    status: 400,
    why: "The database refused to answer (22P02)",
    code: "22P02",
  }]);
});
