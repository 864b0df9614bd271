import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { besideSealing, createSealHandler } from "./seal_secrets_handler.ts";
import { readSealedSecrets } from "./sealed_secrets.ts";
import { closedUrl, type PeerRequest, startPeer } from "./testing.ts";

const key = Buffer.alloc(32, 7).toString("base64");
const secrets = await readSealedSecrets((name) => name === "LOGLOOM_SECRETS_KEY" ? key : undefined);
const token = "aaa.bbb.ccc";
const address = "http://127.0.0.1/logloom-stream/v1/seal";

function post(body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(address, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

function handlerAt(url: string, known: { secrets: typeof secrets } = { secrets }) {
  return createSealHandler({
    url,
    serviceKey: "sb_secret_own",
    timeoutMs: 60_000,
    ...known,
    purpose: "log_stream",
  });
}

const knows = (tenantId: string) => () => Response.json({ tenant_id: tenantId });

Deno.test("an admin's secrets come back sealed for their tenant, and the database never sees them", async () => {
  await using peer = startPeer(knows("acme"));
  const response = await handlerAt(peer.url)(post({ p_secrets: { token: "s3cret" } }));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("Cache-Control"), "no-store");
  const { p_secrets } = await response.json() as { p_secrets: Record<string, string> };
  assert.deepEqual(Object.keys(p_secrets), ["token"]);
  const opened = await secrets?.open(p_secrets.token, { tenantId: "acme", purpose: "log_stream" });
  assert.equal(opened?.text, "s3cret");
  const [{ path, headers, body }] = peer.requests;
  assert.equal(path, "/rest/v1/rpc/get_log_secret_scope");
  assert.equal(headers.get("Authorization"), `Bearer ${token}`);
  assert.equal(body, "{}");
});

Deno.test("a project's secret key seals for the tenant that it names", async () => {
  const apikey = "sb_secret_theirs";
  const Authorization = `Bearer ${apikey}`;
  // supabase-js sends both.
  for (const headers of [{ apikey }, { Authorization }, { apikey, Authorization }]) {
    await using peer = startPeer(knows("acme"));
    const request = new Request(address, {
      method: "POST",
      headers: headers as HeadersInit,
      body: JSON.stringify({ p_tenant_id: "acme", p_secrets: { token: "s3cret" } }),
    });
    assert.equal((await handlerAt(peer.url)(request)).status, 200);
    const [{ headers: sent, body }] = peer.requests;
    assert.equal(sent.get("apikey"), apikey);
    assert.equal(sent.get("Authorization"), null);
    assert.equal(body, '{"p_tenant_id":"acme"}');
  }
});

Deno.test("a customer's secrets come back sealed for them, as the database decides", async () => {
  const portal = `llp_${"a".repeat(36)}`;
  await using peer = startPeer(() => Response.json({ tenant_id: "acme", customer: "42" }));
  const response = await handlerAt(peer.url)(post({ p_secrets: { token: "s3cret" } }, {
    Authorization: `Bearer ${portal}`,
    "X-Logloom-Origin": "https://app.example",
  }));
  const { p_secrets: { token: sealed } } = await response.json();
  const binding = { tenantId: "acme", purpose: "log_stream" };
  assert.equal(await secrets?.open(sealed, binding), undefined);
  assert.equal((await secrets?.open(sealed, { ...binding, customer: "42" }))?.text, "s3cret");
  const [{ path, body }] = peer.requests;
  assert.equal(path, "/rest/v1/rpc/read_logs");
  assert.deepEqual(JSON.parse(body), {
    p_key_digest: "f82996ed0c5e3f5f743cb454068915b5224ea3138396747afe4728a117b2f804",
    p_operation: "get_log_secret_scope",
    p_origin: "https://app.example",
    p_parameters: { p_purpose: "log_stream" },
  });
});

Deno.test("a key that a gateway would exchange for a token does not count as a user's token", async () => {
  await using peer = startPeer(knows("acme"));
  const forged = post({ p_secrets: { token: "x" } }, { Authorization: "Bearer sb_a.b.c" });
  assert.equal((await handlerAt(peer.url)(forged)).status, 400);
  assert.deepEqual(peer.requests, []);
});

Deno.test("a refusal by the database is passed on, and nothing is sealed", async () => {
  const refusals: [number, string, PeerRequest | undefined, string][] = [
    [403, "PT403", undefined, "This needs the role admin in the tenant"],
    [401, "PT401", undefined, "Invalid token, API key, or missing tenant_id"],
    [401, "PGRST301", undefined, "Invalid token, API key, or missing tenant_id"],
    [429, "PT429", undefined, "Rate limit exceeded: 60 portal requests per minute"],
  ];
  for (const [status, code, , error] of refusals) {
    const headers: Record<string, string> = status === 429 ? { "Retry-After": "7" } : {};
    await using peer = startPeer(() =>
      Response.json({ code, message: error }, { status, headers })
    );
    const response = await handlerAt(peer.url)(post({ p_secrets: { token: "s3cret" } }));
    assert.equal(response.status, status);
    assert.equal(response.headers.get("Retry-After"), headers["Retry-After"] ?? null);
    assert.deepEqual(await response.json(), { error });
  }
});

Deno.test("the answer to a bad request names its fault and quotes nothing from it", async () => {
  await using peer = startPeer(knows("acme"));
  const name = "A name in p_secrets is invalid";
  const length = "A secret must be a string of 1 to 4096 characters";
  const cases: [unknown, string][] = [
    ["{s3cret", "Invalid JSON"],
    [{ token: "s3cret" }, "Missing required parameter: p_secrets"],
    ["null", "Missing required parameter: p_secrets"],
    [{ p_secrets: ["s3cret"] }, "p_secrets must be an object of strings"],
    [{ p_secrets: {} }, "p_secrets must have 1 to 20 members"],
    [{ p_secrets: { "S3cret": "x" } }, name],
    [{ p_secrets: { token: "" } }, length],
    [{ p_secrets: { token: 5 } }, length],
    [{ p_secrets: { token: "s3cret".repeat(1000) } }, length],
    [{ p_tenant_id: 5, p_secrets: { token: "x" } }, "p_tenant_id must be a string"],
  ];
  for (const [body, error] of cases) {
    const response = await handlerAt(peer.url)(post(body));
    assert.deepEqual([response.status, await response.json()], [400, { error }]);
  }
  const large = await handlerAt(peer.url)(post(`{"p_secrets":${" ".repeat(70_000)}`));
  assert.equal(large.status, 413);
  const nobody = await handlerAt(peer.url)(post({}, { Authorization: "" }));
  assert.deepEqual([nobody.status, await nobody.json()], [400, {
    error: "Missing authorization header",
  }]);
  assert.deepEqual(peer.requests, []);
});

Deno.test("a missing key and an unreachable database are named", async () => {
  await using peer = startPeer(knows("acme"));
  const body = { p_secrets: { token: "s3cret" } };
  const unkeyed = await handlerAt(peer.url, { secrets: undefined })(post(body));
  assert.equal(unkeyed.status, 503);
  assert.deepEqual(await unkeyed.json(), {
    error: "Secrets cannot be sealed: the function has no key",
  });
  const away = await handlerAt(closedUrl())(post(body));
  assert.equal(away.status, 503);
  assert.ok(away.headers.get("Retry-After"));
});

Deno.test("the sealing endpoint takes only /v1/seal; the function handles all other requests", async () => {
  const handler = besideSealing(
    () => Promise.resolve(new Response("sealed")),
    () => Promise.resolve(new Response("other")),
  );
  const at = async (path: string) =>
    await (await handler(new Request(`http://127.0.0.1${path}`))).text();
  assert.equal(await at("/logloom-stream/v1/seal"), "sealed");
  assert.equal(await at("/functions/v1/logloom-notify/v1/seal"), "sealed");
  assert.equal(await at("/logloom-notify"), "other");
  assert.equal(await at("/logloom-notify/v1/seal/more"), "other");
});
