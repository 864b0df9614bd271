import assert from "node:assert/strict";
import { assertAnswer, assertRpcError, bearer, ingest, rpc } from "../support/client.ts";
import { changeSettings, openDatabase } from "../support/database.ts";
import { tokenOfText, userToken } from "../support/tokens.ts";

/** Returns the Unix time some seconds from now. */
const at = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/**
 * Returns the statuses of ingest and operations for a token with these claims and the usual ones; undefined omits a
 * claim.
 */
const verdicts: [claims: () => Record<string, unknown>, status: 200 | 401][] = [
  [() => ({}), 200],
  [() => ({ exp: undefined }), 401],
  [() => ({ exp: at(-10) }), 401],
  [() => ({ exp: at(60) }), 200],
  [() => ({ exp: "soon" }), 401],
  [() => ({ exp: at(60) + 0.5 }), 200],
  [() => ({ nbf: at(-10) }), 200],
  [() => ({ nbf: at(20) }), 401],
  [() => ({ iat: at(-10) }), 200],
  [() => ({ iat: at(20) }), 401],
  [() => ({ iat: at(3600) }), 401],
  [() => ({ aud: "anything" }), 200],
  [() => ({ aud: undefined }), 200],
  [() => ({ aud: ["a", "b:c"] }), 200],
  ...[[], {}, 5, true, null, ["a", 5], [null], [["a"]], "http://a b", ["a", ":"]].map(
    (aud): [() => Record<string, unknown>, 200 | 401] => [() => ({ aud }), 401],
  ),
  [() => ({ iss: "https://project.supabase.co/auth/v1" }), 200],
  [() => ({ iss: 7 }), 401],
  [() => ({ iss: "not a uri: x" }), 401],
  [() => ({ jti: "x" }), 200],
  [() => ({ jti: 7 }), 401],
  [() => ({ sub: "google-oauth2|117" }), 200],
  [() => ({ sub: "urn:user:7" }), 200],
  [() => ({ sub: "not a uri: x" }), 401],
  [() => ({ sub: null }), 401],
  [() => ({ exp: null }), 401],
  [() => ({ exp: 1e14 }), 200],
  [() => ({ exp: 1e99 }), 401],
  [() => ({ iat: null }), 401],
  [() => ({ nbf: null }), 401],
  [() => ({ sub: undefined }), 200],
  [() => ({ sub: "" }), 401],
  [() => ({ sub: "a\u0000b" }), 401],
  [() => ({ sub: "\u200b" }), 401],
  [() => ({ role: undefined }), 401],
  [() => ({ role: "anon" }), 401],
  [() => ({ tenant_id: undefined }), 401],
  [() => ({ tenant_id: 7 }), 401],
  [() => ({ tenant_id: ["a"] }), 401],
  [() => ({ tenant_id: "" }), 401],
  [() => ({ tenant_id: "a\u0000b" }), 401],
  [() => ({ tenant_id: "a\nb" }), 401],
  [() => ({ tenant_id: "a\u007fb" }), 401],
  [() => ({ tenant_id: "a\u0085b" }), 401],
  [() => ({ tenant_id: "x".repeat(255) }), 200],
  [() => ({ tenant_id: "x".repeat(256) }), 401],
  [() => ({ tenant_id: "\u{1f600}".repeat(255) }), 200],
  [() => ({ user_metadata: { name: "a\u0000b" } }), 401],
  ...["user_metadata", "app_metadata"].map((place): [() => Record<string, unknown>, 200 | 401] => [
    () => ({ tenant_id: undefined, [place]: { tenant_id: "mine" } }),
    401,
  ]),
  // A name of spaces alone is refused, whatever their script. Next to a letter they are part of the name.
  ...[
    " ",
    "\u00a0",
    "\u00ad",
    "\u1680",
    "\u180e",
    "\u2003",
    "\u200b",
    "\u200d",
    "\u2028",
    "\u202f",
    "\u2060",
    "\u2800",
    "\u3000",
    "\u3164",
    "\ufe0f",
    "\ufeff",
    "\uffa0",
    "\u{e0020}",
  ].map((blank): [() => Record<string, unknown>, 200 | 401] => [
    () => ({ tenant_id: blank.repeat(3) }),
    401,
  ]),
  [() => ({ tenant_id: "\ufeffa" }), 200],
];

async function bothEndpoints(claims: Record<string, unknown>): Promise<number[]> {
  return await verdictsOf(
    await userToken({ tenant_id: `doors-${crypto.randomUUID()}`, ...claims }),
  );
}

async function verdictsOf(token: string): Promise<number[]> {
  const answers = [
    await rpc(token, "list_api_keys"),
    await ingest(bearer(token), { msg: "who am I?" }),
  ];
  return answers.map(({ status }) => status);
}

Deno.test("ingest and operations give the same verdict on a token", async () => {
  for (const [claims, status] of verdicts) {
    assert.deepEqual(await bothEndpoints(claims()), [status, status], JSON.stringify(claims()));
  }
});

Deno.test("with an audience set, other tokens are refused by ingest and operations", async () => {
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { token_audience: "authenticated" });
  assert.deepEqual(await bothEndpoints({}), [200, 200]);
  assert.deepEqual(await bothEndpoints({ aud: ["x", "authenticated"] }), [200, 200]);
  for (const aud of [undefined, "other", ["other"], [], ""]) {
    assert.deepEqual(await bothEndpoints({ aud }), [401, 401], JSON.stringify(aud));
  }
});

Deno.test("a removed member is refused at once by ingest and operations", async () => {
  const tenant_id = `members-${crypto.randomUUID()}`;
  const owner = await userToken({ tenant_id, sub: "owner" });
  const member = await userToken({ tenant_id, sub: "member" });
  const send = async () => [
    (await rpc(member, "list_api_keys")).status,
    (await ingest(bearer(member), { msg: "still here?" })).status,
  ];
  const add = await rpc(owner, "add_tenant_member", { p_user_id: "member", p_role: "member" });
  assert.equal(add.status, 200, JSON.stringify(add.body));
  assert.deepEqual(await send(), [200, 200]);
  assert.equal((await rpc(member, "create_api_key", { p_name: "a" })).status, 403);
  assert.equal((await rpc(owner, "remove_tenant_member", { p_user_id: "member" })).status, 200);
  assert.deepEqual(await send(), [401, 401]);
});

Deno.test("a token with a duplicate JSON key is refused by ingest and by operations", async () => {
  const exp = at(3600);
  const text = (members: string) => `{"role":"authenticated","sub":"u","exp":${exp},${members}}`;
  assert.deepEqual(await verdictsOf(await tokenOfText(text('"tenant_id":"doors-1"'))), [200, 200]);
  for (
    const members of [
      '"tenant_id":"doors-1","tenant_id":"doors-2"',
      '"tenant_id":"doors-1","tenant\\u005fid":"doors-1"',
      '"tenant_id":"doors-1","role":"authenticated"',
      `"tenant_id":"doors-1","exp":${exp}`,
      '"tenant_id":"doors-1","app_metadata":{"a":1,"a":2}',
      '"tenant_id":"doors-1","exp":1e400',
    ]
  ) {
    assert.deepEqual(await verdictsOf(await tokenOfText(text(members))), [401, 401], members);
  }
  const huge = `{"role":"authenticated","sub":"u","exp":1e400,"tenant_id":"doors-1"}`;
  assert.deepEqual(await verdictsOf(await tokenOfText(huge)), [401, 401]);
  const marked = `\ufeff${text('"tenant_id":"doors-1"')}`;
  assert.deepEqual(await verdictsOf(await tokenOfText(marked)), [401, 401]);
});

Deno.test("a service_role token also needs exp", async () => {
  const call = async (claims: string) =>
    await rpc(await tokenOfText(`{"role":"service_role"${claims}}`), "list_api_keys", {
      p_tenant_id: "acme",
    });
  assertAnswer(await call(`,"exp":${at(60)}`), 200, []);
  for (
    const claims of [
      "",
      ',"exp":null',
      `,"exp":${at(60)},"iat":null`,
      `,"exp":${at(60)},"exp":${at(60)}`,
    ]
  ) {
    assertRpcError(await call(claims), 401, "Invalid token, API key, or missing tenant_id");
  }
});

Deno.test("operations for service_role are 403 for users, before EXECUTE is checked", async () => {
  await using db = openDatabase();
  const [{ operations }] = await db`select logloom_private.service_operations() as operations`;
  assert.ok(operations.includes("run_writer") && operations.includes("health_report"));
  const token = await userToken({ tenant_id: `doors-${crypto.randomUUID()}` });
  const anonymous = await userToken({ role: "anon" });
  const refused = "Invalid token, API key, or missing tenant_id";
  for (const operation of operations) {
    // The code is ours: PostgreSQL's own refusal is 42501.
    assertRpcError(await rpc(token, operation), 403, `${operation} is only for service_role`);
    assertRpcError(await rpc(anonymous, operation), 401, refused);
    assertRpcError(await rpc(null, operation), 400, "Missing authorization header");
  }
});

const readsOnly = "The OAuth client of this token may only read";

Deno.test("the token of an OAuth client can read, and write only if the client is listed", async () => {
  await using db = openDatabase();
  const tenant_id = `doors-${crypto.randomUUID()}`;
  const user = { tenant_id, sub: "alice" };
  const client_id = crypto.randomUUID();
  const token = await userToken({ ...user, client_id });
  const create = (token: string) => rpc(token, "create_api_key", { p_name: "of a client" });
  assert.equal((await rpc(token, "search_logs")).status, 200);
  for (const operation of ["list_api_keys", "list_tenant_members", "list_tenant_audit_events"]) {
    assertRpcError(await rpc(token, operation), 403, readsOnly);
  }
  assertRpcError(await create(token), 403, readsOnly);
  assertAnswer(await ingest(bearer(token), { msg: "x" }), 403, { error: readsOnly });
  const made = await rpc(await userToken(user), "get_current_tenant");
  assert.equal(made.status, 404, "the first write was refused, and no tenant made");
  // The same user may write without a client.
  assert.equal((await create(await userToken(user))).status, 200);

  {
    await using _listed = await changeSettings(db, { writing_clients: `{another,${client_id}}` });
    assert.equal((await create(token)).status, 200);
    assert.equal((await ingest(bearer(token), { msg: "x" })).status, 200);
    const other = await userToken({ ...user, client_id: crypto.randomUUID() });
    assertRpcError(await create(other), 403, readsOnly);
  }
  assertRpcError(await create(token), 403, readsOnly);

  const { body } = await rpc<{ actor: string; client_id: string | null }[]>(
    await userToken(user),
    "list_tenant_audit_events",
  );
  assert.deepEqual(body.map(({ actor, client_id }) => [actor, client_id]), [
    ["alice", client_id],
    ["alice", null],
  ]);
});

Deno.test("if roles are required, ingest and operations refuse a tenant without members", async () => {
  await using db = openDatabase();
  const tenant_id = `doors-${crypto.randomUUID()}`;
  assert.deepEqual(await bothEndpoints({ tenant_id, sub: "ann" }), [200, 200]);
  await using _settings = await changeSettings(db, { roles_required: true });
  assert.deepEqual(await bothEndpoints({ tenant_id, sub: "ann" }), [401, 401]);
  const added = await rpc(await userToken({ role: "service_role" }), "add_tenant_member", {
    p_tenant_id: tenant_id,
    p_user_id: "ann",
    p_role: "owner",
  });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  assert.deepEqual(await bothEndpoints({ tenant_id, sub: "ann" }), [200, 200]);
});

Deno.test("a role in a token counts for ingest and operations if the setting is on", async () => {
  await using db = openDatabase();
  const tenant_id = `doors-${crypto.randomUUID()}`;
  const claims = (role: unknown, place = "app_metadata") => ({
    tenant_id,
    sub: "ann",
    [place]: { logloom_role: role },
  });
  await using _settings = await changeSettings(db, { roles_from_token: true });
  for (const role of ["member", "admin", "owner"]) {
    assert.deepEqual(await bothEndpoints(claims(role)), [200, 200], role);
  }
  for (const role of ["root", "", 7, null, ["owner"]]) {
    assert.deepEqual(await bothEndpoints(claims(role)), [401, 401], String(role));
  }
  assert.deepEqual(await bothEndpoints(claims("owner", "user_metadata")), [401, 401]);
  assert.deepEqual(await bothEndpoints({ tenant_id, sub: "ann" }), [401, 401]);
  const create = async (role: string) =>
    (await rpc(await userToken(claims(role)), "create_api_key", { p_name: role })).status;
  assert.deepEqual([await create("member"), await create("admin")], [403, 200]);
});

Deno.test("an anonymous user cannot create a tenant unless the setting is on", async () => {
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { tenants_by_users: true });
  const refusal = "Anonymous users cannot create tenants here";
  const tenant_id = `doors-${crypto.randomUUID()}`;
  const guest = await userToken({ tenant_id, sub: "guest", is_anonymous: true });
  const homeless = () => userToken({ sub: crypto.randomUUID(), is_anonymous: true });
  const found = async () =>
    await rpc(await homeless(), "create_tenant", { p_tenant_id: `doors-${crypto.randomUUID()}` });
  const search = { p_name: "x", p_query_dsl: "error" };

  assertAnswer(await ingest(bearer(guest), { msg: "x" }), 403, { error: refusal });
  for (
    const [operation, parameters] of [
      ["create_api_key", { p_name: "x" }],
      ["create_saved_search", search],
      ["update_tenant_settings", {}],
      ["add_tenant_member", { p_user_id: "x", p_role: "member" }],
    ] as const
  ) {
    assertRpcError(await rpc(guest, operation, parameters), 403, refusal);
  }
  assertRpcError(await found(), 403, refusal);
  assertAnswer(await rpc(guest, "list_saved_searches"), 200, []);
  // Anonymous users can use a tenant that a signed-up user has created.
  const user = await userToken({ tenant_id, sub: "user", is_anonymous: false });
  assert.equal((await ingest(bearer(user), { msg: "x" })).status, 200);
  assert.equal((await ingest(bearer(guest), { msg: "x" })).status, 200);
  assert.equal((await rpc(guest, "create_saved_search", search)).status, 200);

  await using _allowed = await changeSettings(db, { tenants_by_anonymous_users: true });
  const another = await userToken({ tenant_id: `${tenant_id}-2`, is_anonymous: true });
  assert.equal((await ingest(bearer(another), { msg: "x" })).status, 200);
  assert.equal((await found()).status, 200);
});
