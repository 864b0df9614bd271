import assert from "node:assert/strict";
import { type Result, success } from "../_shared/errors.ts";
import type { Caller, Project } from "../_shared/auth.ts";
import { readSealedSecrets } from "../_shared/sealed_secrets.ts";
import { createIngestHandler } from "./handler.ts";
import { apiKey, parametersOf } from "./testing.ts";

const secrets = await readSealedSecrets((name) =>
  name === "LOGLOOM_SECRETS_KEY" ? btoa("k".repeat(32)) : undefined
);
const binding = { tenantId: "acme", purpose: "ingest_rules" };
const sealedKey = await secrets!.seal("the tenant's key", binding);

const drop = { id: "d", when: [{ f: "level", op: "=", value: "debug" }], do: { type: "drop" } };
const mask = {
  id: "m",
  when: [],
  do: { type: "mask", what: ["email"], in: "everywhere", hash: true },
};

interface Rules {
  readonly version: string | null;
  readonly rules: unknown[];
}

/** A function and its database, which has the tenant's rules of `rulesOf`. */
function start(
  rulesOf: (tenant: string, call: number) => Rules,
  { caller = { kind: "api_key", keyDigest: "digest" }, opens = true, maxBytes = 1e6, service }: {
    caller?: Caller | Project;
    opens?: boolean;
    maxBytes?: number;
    service?: string;
  } = {},
) {
  const calls: Record<string, unknown>[] = [];
  const answerTo = (sent: Record<string, unknown>, length: number) => {
    const { p_ts: ts, p_tenant_id: tenant = "acme", p_dropped: dropped } = sent;
    if (!Array.isArray(ts)) return { status: 200, body: { max_event_bytes: 1000 } };
    const rules = rulesOf(String(tenant), calls.length - 1);
    if ((sent.p_rules_version ?? null) !== rules.version) {
      const told = { ...rules, hash_key: sealedKey, tenant_id: tenant, service };
      return { status: 412, body: { code: "PT412", rules: told } };
    }
    if (length > maxBytes) return { status: 413, body: { code: "PT413", message: "too long" } };
    const ingested = ts.length + Number(dropped ?? 0);
    return {
      status: 200,
      body: { success: true, ingested, dropped, rejected: sent.p_rejected ?? 0 },
    };
  };
  const handler = createIngestHandler({
    authenticate: () => Promise.resolve(success(caller) as Result<Caller | Project>),
    callDatabase: (_name, text) => {
      const sent = parametersOf(text);
      calls.push(sent);
      const { status, body } = answerTo(sent, text.length);
      return Promise.resolve(
        success(JSON.stringify([{ status, headers: {}, body: JSON.stringify(body) }])),
      );
    },
    wakeWriter: () => {},
    secrets: opens ? secrets : undefined,
  });
  return async (body: string, type = "application/json") => {
    const headers = { "X-API-Key": apiKey, "Content-Type": type };
    const from = calls.length;
    const answer = await handler(
      new Request("http://localhost/ingest", { method: "POST", headers, body }),
    );
    return { status: answer.status, answer: await answer.json(), calls: calls.slice(from) };
  };
}

Deno.test("a change of the rules is in force with the next request, without a call more for the others", async () => {
  let rules: Rules = { version: null, rules: [] };
  const send = start(() => rules);
  const body = '[7, {"msg":"ann@example.com"}, {"level":"debug"}]';
  const plain = await send(body);
  assert.deepEqual([plain.calls.length, plain.answer], [1, {
    success: true,
    ingested: 2,
    rejected: 1,
  }]);
  assert.ok(!("p_rules_version" in plain.calls[0]));

  rules = { version: "v1", rules: [drop, mask] };
  for (const calls of [2, 1]) {
    const ruled = await send(body);
    assert.deepEqual([ruled.status, ruled.answer], [
      200,
      { success: true, ingested: 2, dropped: 1, rejected: 1 },
    ]);
    assert.equal(ruled.calls.length, calls);
    const { p_msg, p_positions, p_rules_version, p_dropped, p_rule_counts } = ruled.calls.at(-1)!;
    assert.deepEqual([p_positions, p_rules_version, p_dropped], [[1], "v1", 1]);
    // echo -n ann@example.com | openssl dgst -sha256 -hmac "the tenant's key"
    assert.deepEqual(p_msg, ["[email:42e0ff80]"]);
    const none = { masked: 0, dropped: 0, sampled: 0, not_checked: 0, bytes: 0 };
    assert.deepEqual(p_rule_counts, [
      { id: "d", seen: 2, matched: 1, ...none, dropped: 1, bytes: 5 },
      { id: "m", seen: 1, matched: 1, ...none, masked: 1 },
    ]);
  }
  const all = await send('[{"level":"debug"}]');
  assert.deepEqual([all.answer.ingested, all.calls[0].p_ts, all.calls[0].p_dropped], [1, [], 1]);

  rules = { version: null, rules: [] };
  const again = await send(body);
  assert.deepEqual([again.calls.length, again.answer.ingested], [2, 2]);
  assert.deepEqual(again.calls[1].p_msg, ["ann@example.com", null]);
});

Deno.test("rules that change with each commit end in a 503, and a key that does not open leaves no hash", async () => {
  const changing = await start((_, call) => ({ version: `v${call + 1}`, rules: [mask] }))(
    '[{"msg":"a"}]',
  );
  assert.deepEqual([changing.status, changing.calls.length], [503, 10]);
  const closed = await start(() => ({ version: "v1", rules: [mask] }), { opens: false })(
    '[{"msg":"a@example.com"}]',
  );
  assert.deepEqual(closed.calls[1].p_msg, ["[email]"]);
});

Deno.test("slices are cut before any rule, so that a repeat has the same", async () => {
  let rules: Rules = { version: null, rules: [] };
  const send = start(() => rules);
  const ts = "2026-11-28T12:00:00Z";
  const lines = Array.from(
    { length: 12_000 },
    (_, n) => JSON.stringify({ ts, level: n % 2 ? "debug" : "info" }),
  );
  const slices = ({ calls }: Awaited<ReturnType<typeof send>>) =>
    calls.map(({ p_slice, p_bytes, p_idempotency_key: key }) => [p_slice, p_bytes, key]);
  const before = await send(lines.join("\n"), "application/x-ndjson");
  rules = { version: "v1", rules: [drop] };
  await send("[{}]");
  const after = await send(lines.join("\n"), "application/x-ndjson");
  assert.equal(before.calls.length, 2);
  assert.deepEqual(slices(after), slices(before));
  assert.deepEqual(after.answer, { success: true, ingested: 12_000, rejected: 0, dropped: 6000 });
});

Deno.test("each tenant of a request has its own rules", async () => {
  const send = start(
    (tenant) =>
      tenant === "acme" ? { version: "a", rules: [drop] } : { version: "b", rules: [mask] },
    { caller: { kind: "project" } },
  );
  const event = { level: "debug", msg: "ann@example.com" };
  const { answer, calls } = await send(
    JSON.stringify([{ ...event, tenant_id: "acme" }, { ...event, tenant_id: "umbrella" }]),
  );
  assert.deepEqual([answer.ingested, answer.dropped, answer.tenants[0].dropped], [2, 1, 1]);
  // The tenant of the sealed key is another.
  const masked = calls.find(({ p_rules_version: version }) => version === "b");
  assert.deepEqual(masked?.p_msg, ["[email]"]);
});

Deno.test("a mask sees a text before it is cut", async () => {
  const send = start(() => ({ version: "v1", rules: [mask] }), { maxBytes: 1500 });
  const { calls, answer } = await send(
    JSON.stringify([{ msg: `${"x ".repeat(450)}ann@example.com${" y".repeat(600)}` }]),
  );
  assert.equal(answer.success, true);
  for (const { p_msg, p_rules_version } of calls) {
    if (p_rules_version !== undefined) assert.doesNotMatch(String(p_msg), /ann|example/);
  }
  assert.equal(calls.at(-1)?.p_cut, 1);
});

Deno.test("to the rules, events of an ingest token have its service, and no rule changes that", async () => {
  const isWeb = { f: "service", op: "=", value: "web" };
  const set = { type: "set", f: "service", value: "web" };
  const rules = [
    { id: "set", when: [], do: set },
    { id: "mask", when: [isWeb], do: { type: "mask", what: ["email"], in: "everywhere" } },
    { id: "hide", when: [], do: { type: "mask", what: [], pattern: "web|pay", in: "everywhere" } },
    { id: "not", when: [{ ...isWeb, not: true }], do: { type: "drop" } },
    { ...drop, when: [...drop.when, { f: "service", op: "~", value: "w*" }] },
    { id: "level", when: [], do: { type: "level", from: { f: "service" } } },
  ];
  const send = start(() => ({ version: "v1", rules }), { service: "web" });
  const { calls } = await send(JSON.stringify([
    7,
    { msg: "a@b.co on web" },
    { msg: "forged", service: "payments", level: "debug" },
    { msg: "left out", level: "debug" },
    { msg: "c@d.co", service: "web" },
  ]));
  const { p_msg, p_service, p_positions, p_dropped, p_rejected } = calls.at(-1)!;
  assert.deepEqual([p_msg, p_service, p_positions, p_dropped, p_rejected], [
    ["[email] on [custom]", "[email]", null],
    [null, null, "payments"],
    [1, 4, 2],
    1,
    1,
  ]);
  const own = await send('[{"msg":"a@b.co","service":"web"}]');
  assert.deepEqual([own.calls[0].p_msg, own.calls[0].p_service], [["[email]"], undefined]);
});
