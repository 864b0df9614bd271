import assert from "node:assert/strict";
import { runCommand } from "../../../../../cli/testing.ts";
import {
  type Peer,
  type PeerRequest,
  startPeer,
} from "../../../../../supabase/functions/_shared/testing.ts";

const shop = { view_id: "7d1f0c2e-4a3b-4c5d-8e6f-9a0b1c2d3e4f", name: "Shop" };
// The name of this view is the id of another view. An id has priority over a name.
const odd = { view_id: "11111111-1111-4111-8111-111111111111", name: shop.view_id };
const made = { key_id: "6f6a4f0e-54b6-4c3f-9b6d-2f0c4f6f3f11", key_value: "ll_made" };

/** A fake service with these views, keys or rules. */
function service(things: readonly object[]): (request: PeerRequest) => Response {
  return ({ path, body }) => {
    if (path === "/rest/v1/rpc/create_api_key") return Response.json(made);
    if (!/_(?:log_views|api_keys|alert_rules)$/.test(path)) return Response.json({ name: "r" });
    return Response.json(JSON.parse(body).p_after === undefined ? things : []);
  };
}

const create = (peer: Peer, ...args: string[]) => run(peer, "keys", "create", ...args);

const run = (peer: Peer, ...args: string[]) =>
  runCommand(args, { LOGLOOM_URL: peer.url, LOGLOOM_TOKEN: "t" });

/** The parameters of each call of create_api_key. */
function created({ requests }: Peer): unknown[] {
  return requests.filter(({ path }) => path.endsWith("/create_api_key"))
    .map(({ body }) => JSON.parse(body));
}

Deno.test("a key sends unless its scopes say otherwise", async () => {
  await using peer = startPeer(service([]));
  for (
    const args of [
      ["a"],
      ["b", "--scopes", "read"],
      ["c", "--scopes", "ingest,read", "--expires-at", "2027-01-31"],
      ["d", "--scopes", "read, ingest,read"],
    ]
  ) {
    assert.deepEqual(await create(peer, ...args), {
      code: 0,
      out: "ll_made\n",
      err: `Its id is ${made.key_id}. The key is shown only now.\n`,
    });
  }
  assert.deepEqual(created(peer), [
    { p_name: "a", p_scopes: ["ingest"] },
    { p_name: "b", p_scopes: ["read"] },
    { p_name: "c", p_expires_at: "2027-01-31", p_scopes: ["ingest", "read"] },
    { p_name: "d", p_scopes: ["read", "ingest"] },
  ]);
});

Deno.test("a key that reads is bound to a view by the view's name or id", async () => {
  await using peer = startPeer(service([odd, shop]));
  for (const view of ["Shop", shop.view_id, shop.view_id.toUpperCase()]) {
    const { code, err } = await create(peer, "grafana", "--scopes", "read", "--view", view);
    assert.equal(code, 0, err);
  }
  const wanted = { p_name: "grafana", p_scopes: ["read"], p_view_id: shop.view_id };
  assert.deepEqual(created(peer), [wanted, wanted, wanted]);
});

Deno.test("a wrong scope or an unknown view is an error of one sentence, and no key is made", async () => {
  await using peer = startPeer(service([shop, { ...odd, name: "Support" }]));
  await using empty = startPeer(service([]));
  const cases: [Peer, string[], string][] = [
    [peer, ["--scopes", "write"], "--scopes takes ingest, read or audit, not write."],
    [peer, ["--scopes", "read,"], "--scopes takes ingest, read or audit, not read,."],
    [peer, ["--scopes", ""], "--scopes takes ingest, read or audit, not ."],
    [peer, ["--view", "Shop"], "--view is for keys that only read: add --scopes read."],
    [
      peer,
      ["--scopes", "ingest,read", "--view", "Shop"],
      "--view is for keys that only read: add --scopes read.",
    ],
    [
      peer,
      ["--scopes", "read", "--view", "shop"],
      "there is no view shop; there are: Shop, Support.",
    ],
    [empty, ["--scopes", "read", "--view", "Shop"], "there is no view Shop; there are none."],
    [empty, ["--scopes", "read", "--view", ""], "there is no view ; there are none."],
  ];
  for (const [at, args, sentence] of cases) {
    assert.deepEqual(await create(at, "x", ...args), {
      code: 1,
      out: "",
      err: `logloom: ${sentence}\n`,
    });
  }
  assert.deepEqual([...created(peer), ...created(empty)], []);
});

Deno.test("a key or a rule is found by name or id, and none is chosen if several have the name", async () => {
  const ids = [shop.view_id, odd.view_id, made.key_id];
  const [first, second, third] = ids;
  const key = { name: "web", status: "active", key_prefix: "ll_aaaaaaaa" };
  const rule = { name: "API errors", query_dsl: "level:error" };
  await using keys = startPeer(service([
    { ...key, key_id: first },
    { ...key, key_id: second, name: "ci" },
    { ...key, key_id: third, name: "ci", key_prefix: "ll_bbbbbbbb" },
    // A rotated key has the same name as the key that replaced it.
    { ...key, key_id: crypto.randomUUID(), status: "revoked" },
  ]));
  await using rules = startPeer(service([
    { ...rule, rule_id: first },
    { ...rule, rule_id: second, name: "Slow" },
    { ...rule, rule_id: third, name: "Slow", query_dsl: "@ms:>9" },
  ]));
  const taken: [Peer, string[], string, object][] = [
    [keys, ["keys", "revoke", "web"], "revoke_api_key", { p_key_id: first }],
    [keys, ["keys", "revoke", third], "revoke_api_key", { p_key_id: third }],
    [keys, ["keys", "rotate", "web"], "rotate_api_key", { p_key_id: first, p_overlap_minutes: 60 }],
    [rules, ["alerts", "pause", "API errors"], "update_alert_rule", {
      p_rule_id: first,
      p_enabled: false,
    }],
    [rules, ["alerts", "resume", third], "update_alert_rule", {
      p_rule_id: third,
      p_enabled: true,
    }],
    [rules, ["alerts", "delete", "API errors"], "delete_alert_rule", { p_rule_id: first }],
  ];
  for (const [peer, args, operation, parameters] of taken) {
    const { code, err } = await run(peer, ...args);
    assert.equal(code, 0, err);
    const { path, body } = peer.requests.at(-1)!;
    assert.deepEqual([path.split("/").at(-1), JSON.parse(body)], [operation, parameters]);
  }
  const sentences: [Peer, string[], string][] = [
    [
      keys,
      ["keys", "revoke", "ci"],
      `there are 2 active keys ci: name one by its id.\n  ${second}  begins with ll_aaaaaaaa\n` +
      `  ${third}  begins with ll_bbbbbbbb`,
    ],
    [keys, ["keys", "rotate", "Web"], "there is no active key Web; there are: ci, web."],
    [
      keys,
      ["keys", "revoke", "ll_secret"],
      "name the key's name or id, not the key: list shows them.",
    ],
    [
      rules,
      ["alerts", "pause", "Slow"],
      `there are 2 rules Slow: name one by its id.\n  ${second}  level:error\n  ${third}  @ms:>9`,
    ],
    [rules, ["alerts", "delete", "x"], "there is no rule x; there are: API errors, Slow."],
  ];
  for (const [peer, args, sentence] of sentences) {
    assert.deepEqual(await run(peer, ...args), { code: 1, out: "", err: `logloom: ${sentence}\n` });
  }
  const changed = [...keys.requests, ...rules.requests].filter(({ path }) => !/list_/.test(path));
  assert.equal(changed.length, taken.length);
});
