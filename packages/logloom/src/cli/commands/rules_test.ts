import assert from "node:assert/strict";
import { runCommand } from "../../../../../cli/testing.ts";
import { type Peer, startPeer } from "../../../../../supabase/functions/_shared/testing.ts";

const [quiet, secrets] = [
  { rule_id: "5f0c9a52-8a3e-4c1b-9d7e-2b6f0e1a4c3d", name: "Quiet", is_on: true },
  { rule_id: "7d1f0c2e-4a3b-4c5d-8e6f-9a0b1c2d3e4f", name: "Secrets", is_on: false },
];
const mask = { type: "mask", what: ["email", "card"], pattern: null, in: "everywhere" };
const rules = [
  { ...quiet, condition: "level:debug", action: { type: "drop" } },
  { ...secrets, condition: null, action: mask },
];
const records =
  '[{"ts":"2026-11-21T12:00:00Z","msg":"to ann@example.com","attrs":{"n":4111111111111111000}}]';

const service = () =>
  startPeer(({ path, body }) => {
    if (path.endsWith("/v1/seal")) return Response.json({ p_secrets: { hash_key: "lls1.sealed" } });
    if (/(?:list|order)_ingest_rules$/.test(path)) return Response.json(rules);
    if (!path.endsWith("/preview_ingest_rule")) return Response.json(rules[1]);
    const rule = JSON.stringify({ when: [], do: JSON.parse(body).p_action });
    return new Response(`{"seen":2,"matched":1,"rule":${rule},"examples":${records}}`);
  });

const run = (peer: Peer, ...args: string[]) =>
  runCommand(["rules", ...args], { LOGLOOM_URL: peer.url, LOGLOOM_TOKEN: "t" });

Deno.test("options make the actions of ingest rules, and the first hash makes a key", async () => {
  await using peer = service();
  const places = { fields: ["msg"], attrs: ["token"] };
  const cases: [string[], object][] = [
    [["add", "A", "--mask", "email,jwt", "--in", "msg,@token", "--hash"], {
      p_name: "A",
      p_action: { type: "mask", what: ["email", "jwt"], in: places, hash: true },
      p_secrets: { hash_key: "lls1.sealed" },
    }],
    [["add", "B", "--sample", "0.1", "--condition", "-level:error", "--off"], {
      p_name: "B",
      p_condition: "-level:error",
      p_action: { type: "sample", rate: 0.1, by: "req_id" },
      p_is_on: false,
    }],
    [["update", "Secrets", "--set", "@plan=1=2", "--on"], {
      p_rule_id: secrets.rule_id,
      p_action: { type: "set", a: "plan", value: "1=2" },
      p_is_on: true,
    }],
    [["remove", "Quiet"], { p_rule_id: quiet.rule_id }],
    [["order", "Secrets"], { p_rule_ids: [secrets.rule_id, quiet.rule_id] }],
  ];
  for (const [args, parameters] of cases) {
    const { code, err } = await run(peer, ...args);
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(peer.requests.at(-1)!.body), parameters);
  }
  const refused = [
    [["--drop", "--sample", "0.1"], "a rule has one action, not drop and sample."],
    [["--drop", "--hash"], "--label, --in and --hash are for --mask."],
    [[], "say what to do: --mask, --drop, --sample …"],
  ] as const;
  for (const [args, said] of refused) {
    const { code, err } = await run(peer, "add", "A", ...args);
    assert.deepEqual([code, err], [1, `logloom: ${said}\n`]);
  }
});

Deno.test("ingest rules are listed, and a preview shows records before and after", async () => {
  await using peer = service();
  assert.deepEqual((await run(peer, "list")).out.split("\n"), [
    "id                                    name     state  condition    action",
    `${quiet.rule_id}  Quiet    on     level:debug  drop`,
    `${secrets.rule_id}  Secrets  off    -            mask email,card`,
    "",
  ]);
  assert.deepEqual((await run(peer, "preview", "Secrets")).out.split("\n"), [
    "1 of 2 records of the last hour match.",
    "  @n=4111111111111111000",
    "- msg=to ann@example.com",
    "+ msg=to [email]",
    "",
  ]);
  assert.match((await run(peer, "preview", "--drop")).out, /^x msg=to ann@/m);
});
