import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { decodeJwt } from "jose";
import assert from "node:assert/strict";
import { bearer, ingest, newTenant, rpc } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { stack } from "../support/stack.ts";
import { projectWithSignIn } from "./sign_in.mjs";

const redirectUrl = "https://assistant.example/callback";

/** An assistant's storage during the sign-in. */
class Memory implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadata = {
    client_name: "assistant",
    redirect_uris: [redirectUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "openid",
  };
  known?: OAuthClientInformationMixed;
  kept?: OAuthTokens;
  found?: OAuthDiscoveryState;
  verifier = "";
  sentTo?: URL;
  clientInformation() {
    return this.known;
  }
  saveClientInformation(known: OAuthClientInformationMixed) {
    this.known = known;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: OAuthTokens) {
    this.kept = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url;
  }
  saveCodeVerifier(verifier: string) {
    this.verifier = verifier;
  }
  saveDiscoveryState(found: OAuthDiscoveryState) {
    this.found = found;
  }
  discoveryState() {
    return this.found;
  }
  codeVerifier() {
    return this.verifier;
  }
}

/** Follows redirects like a browser, up to the assistant's own address. */
async function browse(from: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = from;
  for (let steps = 0; !url.href.startsWith(redirectUrl); steps++) {
    assert.ok(steps < 10, `sent on and on, now to ${url}`);
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    const said = await response.text();
    const next = response.headers.get("location");
    assert.ok(next !== null, `${response.status} at ${url}: ${said.slice(0, 400)}`);
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    url = new URL(next, url);
  }
  return url;
}

async function signedIn(project: { url: string }, memory: Memory): Promise<Client> {
  const address = new URL(`${project.url}/functions/v1/logloom-read/mcp`);
  const connect = () => {
    const client = new Client({ name: "test", version: "1.0.0" });
    const transport = new StreamableHTTPClientTransport(address, { authProvider: memory });
    return { client, transport, connected: client.connect(transport) };
  };
  const first = connect();
  await assert.rejects(first.connected, UnauthorizedError);
  assert.ok(memory.sentTo);
  const back = await browse(memory.sentTo);
  await first.transport.finishAuth(back.searchParams);
  const { client, connected } = connect();
  await connected;
  return client;
}

Deno.test("an assistant finds where to sign in, reads as its user, and may not write", async () => {
  const tenant = await newTenant("mcp-oauth");
  await ingest(tenant.headers, { msg: "seen by the user" });
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 1);
  const project = await projectWithSignIn({
    gateway: stack.url,
    secret: stack.jwtSecret,
    claims: { role: "authenticated", tenant_id: tenant.id, sub: tenant.userId },
  });
  try {
    const memory = new Memory();
    const client = await signedIn(project, memory);
    const base = "/functions/v1/logloom-read/mcp";
    assert.deepEqual(project.asked.slice(0, 4), [
      `POST ${base}`,
      `GET ${base}/.well-known/oauth-protected-resource`,
      "GET /.well-known/oauth-authorization-server/auth/v1",
      "POST /auth/v1/reg",
    ]);
    const token = memory.kept?.access_token ?? "";
    const { client_id, aud, sub, tenant_id } = decodeJwt(token);
    assert.deepEqual([aud, sub, tenant_id], ["authenticated", tenant.userId, tenant.id]);
    assert.equal(client_id, memory.known?.client_id);

    const { content } = await client.callTool({ name: "search_logs", arguments: {} });
    assert.match(JSON.stringify(content), /seen by the user/);
    await client.close();

    const readsOnly = "The OAuth client of this token may only read";
    const refused: [string, unknown][] = [
      ["create_api_key", { p_name: "x" }],
      ["delete_logs", { p_query_dsl: "*" }],
      ["list_api_keys", {}],
    ];
    for (const [operation, parameters] of refused) {
      const { status, body } = await rpc(token, operation, parameters);
      assert.deepEqual([status, body.message], [403, readsOnly], operation);
    }
    assert.equal((await ingest(bearer(token), { msg: "x" })).status, 403);
  } finally {
    await project.close();
  }
});

Deno.test("an assistant with an expired token gets another one without a new sign-in", async () => {
  const tenant = await newTenant("mcp-refresh");
  const project = await projectWithSignIn({
    gateway: stack.url,
    secret: stack.jwtSecret,
    claims: { role: "authenticated", tenant_id: tenant.id, sub: tenant.userId },
  });
  try {
    const memory = new Memory();
    const client = await signedIn(project, memory);
    // Simulates that the token has expired.
    const ended = memory.kept?.access_token ?? "";
    const before = project.asked.length;
    memory.kept = { ...memory.kept!, access_token: `${ended.slice(0, -8)}AAAAAAAA` };
    const { isError } = await client.callTool({ name: "search_logs", arguments: {} });
    assert.ok(!isError);
    assert.notEqual(memory.kept.access_token, ended);
    const asked = project.asked.slice(before);
    assert.ok(asked.includes("POST /auth/v1/token"));
    assert.ok(!asked.some((path) => path.includes("/auth/v1/auth")));
    await client.close();
  } finally {
    await project.close();
  }
});
