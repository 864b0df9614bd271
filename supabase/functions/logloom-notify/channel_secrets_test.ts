import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { CallDatabase } from "../_shared/database.ts";
import { readSealedSecrets } from "../_shared/sealed_secrets.ts";
import { success } from "../_shared/errors.ts";
import { openSecret, sealAll } from "./channel_secrets.ts";

const owner = { tenant_id: "acme" };
const key = (letter: string) => btoa(letter.repeat(32));

async function keys(current: string, old = "") {
  const secrets = await readSealedSecrets((name) => name === "LOGLOOM_SECRETS_KEY" ? current : old);
  assert.ok(secrets);
  return secrets;
}

/** A database with secrets by rule. */
function store(rules: Record<string, string[]>): CallDatabase {
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  return (name, body) => {
    const given = JSON.parse(body);
    if (name === "seal_alert_secret") {
      rules[given.p_rule_id] = rules[given.p_rule_id].map((secret) =>
        digest(secret) === given.p_digest ? given.p_sealed : secret
      );
      return Promise.resolve(success('{"success":true}'));
    }
    assert.equal(name, "list_unsealed_alert_secrets");
    const found = Object.entries(rules)
      .filter(([id]) => id > (given.p_after ?? ""))
      .map(([rule_id, secrets]) => ({
        rule_id,
        tenant_id: "acme",
        secrets: secrets.filter((secret) => !secret.startsWith(`lls1.${given.p_key_id}.`)),
      }))
      .filter(({ secrets }) => secrets.length > 0)
      .slice(0, 2);
    return Promise.resolve(success(JSON.stringify(found)));
  };
}

Deno.test("plain secrets are sealed, and after a key rotation all are sealed by the new key", async () => {
  const rules: Record<string, string[]> = {
    r1: ["whsec_a", "whsec_b"],
    r2: ["whsec_c"],
    r3: ["whsec_d"],
  };
  const plain = structuredClone(rules);
  const first = await keys(key("a"));
  await sealAll(first, store(rules));
  const sealed = Object.values(rules).flat();
  assert.ok(sealed.every((secret) => /^lls1\.[\w-]{8}\.[\w-]{38,}\.=[\w-]{43}$/.test(secret)));
  for (const [rule, secrets] of Object.entries(rules)) {
    const opened = await Promise.all(secrets.map((one) => openSecret(one, owner, first)));
    assert.deepEqual(opened, plain[rule]);
  }

  const both = await keys(key("b"), key("a"));
  await sealAll(both, store(rules));
  const second = await keys(key("b"));
  for (const [rule, secrets] of Object.entries(rules)) {
    assert.ok(secrets.every((secret) => !sealed.includes(secret)));
    const opened = await Promise.all(secrets.map((one) => openSecret(one, owner, second)));
    assert.deepEqual(opened, plain[rule], "the old key is no longer needed");
    for (const other of [{ tenant_id: "umbrella" }, { ...owner, customer: "42" }]) {
      assert.equal(await openSecret(secrets[0], other, second), undefined);
    }
  }
});

Deno.test("a secret whose key is lost stays as it is, and does not stop the others", async () => {
  const rules = { r1: ["whsec_a"], r2: ["whsec_b"] };
  await sealAll(await keys(key("a")), store(rules));
  const [lost] = rules.r1;
  rules.r2 = ["whsec_b"];
  await sealAll(await keys(key("b")), store(rules));
  assert.equal(rules.r1[0], lost);
  assert.ok(rules.r2[0].startsWith("lls1."));
  assert.equal(await openSecret(lost, owner, await keys(key("b"))), undefined);
  assert.equal(await openSecret(lost, owner, undefined), undefined);
  assert.equal(await openSecret("whsec_a", owner, undefined), "whsec_a");
});
