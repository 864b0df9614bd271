import assert from "node:assert/strict";
import { bearer, ingest, rpc } from "../support/client.ts";
import { changeSettings, openDatabase } from "../support/database.ts";
import { userToken } from "../support/tokens.ts";

/** Seconds from now. */
const at = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** What both doors answer to a token with these claims besides the usual ones; undefined leaves one out. */
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
  // Blanks of every script, by themselves; beside a letter they are part of a name.
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

async function bothDoors(claims: Record<string, unknown>): Promise<number[]> {
  const token = await userToken({ tenant_id: `doors-${crypto.randomUUID()}`, ...claims });
  const answers = [
    await rpc(token, "list_api_keys"),
    await ingest(bearer(token), { msg: "who am I?" }),
  ];
  return answers.map(({ status }) => status);
}

Deno.test("one verdict on a token, whichever door it is shown at", async () => {
  for (const [claims, status] of verdicts) {
    assert.deepEqual(await bothDoors(claims()), [status, status], JSON.stringify(claims()));
  }
});

Deno.test("where the project sets an audience, other tokens are refused at both doors", async () => {
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { token_audience: "authenticated" });
  assert.deepEqual(await bothDoors({}), [200, 200]);
  assert.deepEqual(await bothDoors({ aud: ["x", "authenticated"] }), [200, 200]);
  for (const aud of [undefined, "other", ["other"], [], ""]) {
    assert.deepEqual(await bothDoors({ aud }), [401, 401], JSON.stringify(aud));
  }
});

Deno.test("who is removed from a tenant is refused at both doors at once", async () => {
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
