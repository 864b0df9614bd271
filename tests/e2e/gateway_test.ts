import assert from "node:assert/strict";
import { publishableApiKey, secretApiKey, serviceRoleKey } from "../../local/signing_keys.ts";
import { functionNames } from "../../local/stack.ts";
import { maxTakenBytes } from "../../supabase/functions/_shared/request_body.ts";
import { assertAnswer, bearer, call, newTenant } from "../support/client.ts";
import { eventually } from "../support/eventually.ts";
import { keepDown } from "../support/processes.ts";
import { stack } from "../support/stack.ts";

const { hostname, port } = new URL(stack.url);

/** Sends bytes, which may not be HTTP, and returns the gateway's answer. */
async function send(bytes: string): Promise<string> {
  const connection = await Deno.connect({ hostname, port: Number(port) });
  await connection.write(new TextEncoder().encode(bytes));
  return await new Response(connection.readable).text();
}

Deno.test("all of the gateway's own answers are JSON with an error text", async () => {
  const long = "a".repeat(40_000);
  const malformed = { error: "Malformed HTTP request" };
  const cases: [string, string, unknown][] = [
    ["nonsense", "NONSENSE\r\n\r\n", malformed],
    ["an unknown version", "GET / HTTP/9.1\r\nHost: a\r\n\r\n", malformed],
    [
      "an unknown encoding",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
      malformed,
    ],
    ["a long header", `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${long}\r\n\r\n`, malformed],
    ["a long address", `GET /${long} HTTP/1.1\r\nHost: a\r\n\r\n`, {
      error: "Request address too long",
    }],
  ];
  for (const [name, bytes, body] of cases) {
    const answer = await send(bytes);
    assert.match(answer, /^HTTP\/1\.1 (400|414|501|505) /, name);
    assert.match(answer, /\r\nContent-Type: application\/json\r\n/, name);
    assert.deepEqual(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4)), body, name);
  }
});

Deno.test("an unknown path is 404 and names the API's paths", async () => {
  // The path is not "/", where the console is once it is built.
  for (const path of ["/functions/v1/unknown", "/functions/v1/ingestion", "/auth/v1/token"]) {
    const { status, body } = await call(path);
    assert.equal(status, 404, path);
    assert.deepEqual(body, {
      error: "No such path; the API is under /rest/v1/ and /functions/v1/",
    });
  }
});

Deno.test("a function's answer arrives for every body", async () => {
  const answers: [string, number, unknown][] = [
    ["health", 405, { error: "Method not allowed: POST" }],
    ["logloom-archive", 401, { error: "Invalid secret" }],
    ["logloom-notify", 401, { error: "Invalid secret" }],
    ["logloom-stream", 401, { error: "Invalid secret" }],
    ["logloom-read", 404, {
      code: "PT404",
      message: "Nothing is served at this path",
      details: null,
      hint: "Read by POST /v1/<operation>.",
    }],
    ["ingest", 400, { error: "Missing authorization header" }],
  ];
  assert.deepEqual(answers.map(([name]) => name).sort(), [...functionNames].sort());
  const body = new Uint8Array(10_000_000);
  for (const [name, status, said] of answers) {
    const path = `/functions/v1/${name}`;
    await Promise.all(Array.from({ length: 4 }, async () => {
      for (let n = 0; n < 5; n++) {
        assertAnswer(await call(path, { method: "POST", body }), status, said);
      }
    }));
  }
});

Deno.test("a body too large for any function is refused with 413", async () => {
  const path = "/functions/v1/health";
  const most = new Uint8Array(maxTakenBytes);
  assertAnswer(await call(path, { method: "POST", body: most }), 405, {
    error: "Method not allowed: POST",
  });
  assertAnswer(await call(path, { method: "POST", body: new Uint8Array(maxTakenBytes + 1) }), 413, {
    error: "Request body too large",
  });
});

Deno.test("a body too large for any operation is refused with 413", async () => {
  const { status, headers, body } = await call("/rest/v1/rpc/list_api_keys", {
    method: "POST",
    body: new Uint8Array(21 * 1024 * 1024),
  });
  assert.equal(status, 413);
  assert.equal(headers.get("access-control-allow-origin"), "*");
  assert.equal(body.message, "Request body too large: an operation takes at most 128 KB");
});

Deno.test("without a token the project's key counts, and the gateway replaces it with the token of its role", async () => {
  const [user, other] = [await newTenant(), await newTenant()];
  /** Returns the statuses of an operation for users and of an operation for the service only. */
  const statuses = (headers: Record<string, string>) =>
    Promise.all([user, other].map(async ({ id }) => {
      const { status } = await call("/rest/v1/rpc/list_api_keys", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ p_tenant_id: id }),
      });
      return status;
    }));
  const cases: [Record<string, string>, number[]][] = [
    [{ apikey: secretApiKey }, [200, 200]],
    // The header as supabase-js sends it.
    [{ apikey: secretApiKey, ...bearer(secretApiKey) }, [200, 200]],
    [{ apikey: secretApiKey, ...bearer(user.token) }, [200, 403]],
    [{ apikey: publishableApiKey, ...bearer(user.token) }, [200, 403]],
    [{ apikey: publishableApiKey, ...bearer(publishableApiKey) }, [401, 401]],
    [{ apikey: publishableApiKey, ...bearer(secretApiKey) }, [401, 401]],
    [{ apikey: publishableApiKey }, [401, 401]],
    // Without Bearer it does not count as a token.
    [{ apikey: serviceRoleKey }, [401, 401]],
    [bearer(secretApiKey), [400, 400]],
    [{}, [400, 400]],
  ];
  for (const [headers, expected] of cases) {
    assert.deepEqual(await statuses(headers), expected, JSON.stringify(Object.keys(headers)));
  }
});

Deno.test("the public half of the signing key is published, and nothing more", async () => {
  const { status, body } = await call<{ keys: Record<string, unknown>[] }>(
    "/auth/v1/.well-known/jwks.json",
  );
  assert.equal(status, 200);
  assert.deepEqual(body.keys.map(({ kty, alg, d, k }) => ({ kty, alg, d, k })), [
    { kty: "EC", alg: "ES256", d: undefined, k: undefined },
  ]);
});

Deno.test("a request is a log event, without its query string, headers or body", async () => {
  const { accessLog } = JSON.parse(await Deno.readTextFile(stack.stateFile));
  const mark = crypto.randomUUID();
  // Requests of the shipper are not logged. If this one were, its line would be found instead of the next request's.
  await call(`/functions/v1/health/${mark}`, { headers: { "user-agent": "logloom-ship" } });
  await call(`/marked-${mark}?token=secret-${mark}`, {
    method: "PUT",
    headers: { authorization: `Bearer secret-${mark}` },
    body: `secret-${mark}`,
  });

  const line = await eventually(
    "the request's line",
    async () => (await Deno.readTextFile(accessLog)).split("\n").find((one) => one.includes(mark)),
  );
  const { ts, req_id, attrs: { duration_ms, bytes, request_bytes, ...attrs }, ...event } = JSON
    .parse(line);
  assert.deepEqual({ ...event, attrs }, {
    level: "warn",
    msg: `PUT /marked-${mark} 404`,
    service: "gateway",
    env: JSON.parse(await Deno.readTextFile(stack.stateFile)).name,
    route: `/marked-${mark}`,
    attrs: { status: 404, method: "PUT" },
  });
  assert.ok(Math.abs(ts * 1000 - Date.now()) < 60_000);
  assert.match(req_id, /^[0-9a-f]{32}$/);
  for (const number of [duration_ms, bytes, request_bytes]) assert.equal(typeof number, "number");

  const text = await Deno.readTextFile(accessLog);
  assert.equal(text.includes(`secret-${mark}`), false);
  assert.equal(text.includes(`/functions/v1/health/${mark}`), false);
});

Deno.test("/logs, to which pino-logflare sends, is answered by the receiver for Logflare", async () => {
  const { status, body } = await call("/logs?source=shop", {
    method: "POST",
    headers: { "x-api-key": "ll_x", "content-type": "application/json" },
    body: '{"batch":[]}',
  });
  // The error has Logflare's form.
  assert.deepEqual([status, Object.keys(body)], [401, ["error", "message"]]);
});

Deno.test("while PostgREST is down an operation is 503, in JSON, with Retry-After", async () => {
  await using _down = await keepDown("postgrest");
  const { status, headers, body } = await call("/rest/v1/rpc/search_logs", { method: "POST" });
  assert.deepEqual(
    [status, headers.get("retry-after"), headers.get("access-control-allow-origin"), body],
    [503, "3", "*", { error: "Service unavailable, try again in a moment" }],
  );
});

Deno.test("while ingest is down a bulk request gets no answer, so that senders repeat it; other requests get 503", async () => {
  await using _down = await keepDown("ingest");
  const post = { method: "POST", headers: { "x-api-key": "ll_x" }, body: "{}" };
  const { status, headers } = await call("/functions/v1/ingest", post);
  assert.deepEqual([status, headers.get("retry-after")], [503, "3"]);
  await assert.rejects(fetch(`${stack.url}/functions/v1/ingest/es/_bulk`, post), TypeError);
});
