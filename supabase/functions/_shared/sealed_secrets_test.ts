import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { openSecrets, readSealedSecrets, type SealedSecrets } from "./sealed_secrets.ts";

const first = Buffer.alloc(32, 1).toString("base64");
const second = Buffer.alloc(32, 2).toString("base64");
const binding = { tenantId: "acme", purpose: "log_stream" };
const plain = "Bearer s3cret-ÖÄÜ-€";

async function withKeys(current: string, old?: string): Promise<SealedSecrets> {
  const env: Record<string, string | undefined> = {
    LOGLOOM_SECRETS_KEY: current,
    LOGLOOM_SECRETS_OLD_KEYS: old,
  };
  const secrets = await readSealedSecrets((name) => env[name]);
  assert.ok(secrets);
  return secrets;
}

Deno.test("a sealed secret opens again, reveals nothing, and differs each time", async () => {
  const secrets = await withKeys(first);
  const sealed = await secrets.seal(plain, binding);
  assert.match(sealed, /^lls1\.[\w-]{8}\.[\w-]+\.=[\w-]{43}$/);
  const bytes = Buffer.from(sealed.split(".")[2], "base64url").toString("latin1");
  assert.ok(!bytes.includes("s3cret"));
  assert.notEqual(await secrets.seal(plain, binding), sealed);
  assert.deepEqual(await secrets.open(sealed, binding), { text: plain, isCurrent: true });
});

Deno.test("a secret does not open for another tenant, purpose, customer or key, or with a changed byte", async () => {
  const secrets = await withKeys(first);
  const sealed = await secrets.seal(plain, binding);
  assert.equal(await secrets.open(sealed, { ...binding, tenantId: "globex" }), undefined);
  assert.equal(await secrets.open(sealed, { ...binding, purpose: "alert_rule" }), undefined);
  const of42 = await secrets.seal(plain, { ...binding, customer: "42" });
  for (const customer of ["43", "", null]) {
    assert.equal(await secrets.open(of42, { ...binding, customer }), undefined, `${customer}`);
  }
  assert.equal(await secrets.open(sealed, { ...binding, customer: "42" }), undefined);
  assert.equal(await (await withKeys(second)).open(sealed, binding), undefined);
  const [prefix, id, text] = sealed.split(".");
  for (const at of [0, 15, 20, text.length - 3]) {
    const other = text[at] === "A" ? "B" : "A";
    const changed = [prefix, id, text.slice(0, at) + other + text.slice(at + 1)].join(".");
    assert.equal(await secrets.open(changed, binding), undefined, changed);
  }
  for (const nothing of ["", "lls1", "lls1..", plain, `${prefix}.${id}.`, `${prefix}.${id}.AAAA`]) {
    assert.equal(await secrets.open(nothing, binding), undefined, nothing);
  }
});

Deno.test("the digest of a sealed secret is the same only for the same text, tenant and key", async () => {
  const digest = async (key: string, text: string, tenantId = "acme") =>
    (await (await withKeys(key)).seal(text, { ...binding, tenantId })).split(".")[3];
  assert.equal(await digest(first, plain), await digest(first, plain));
  const digests = [
    await digest(first, plain),
    await digest(first, "other"),
    await digest(second, plain),
    await digest(first, plain, "globex"),
  ];
  assert.equal(new Set(digests).size, 4);
});

Deno.test("a sealed secret with the digest of another text does not open", async () => {
  const secrets = await withKeys(first);
  const [prefix, id, text, digest] = (await secrets.seal(plain, binding)).split(".");
  const other = (await secrets.seal("other", binding)).split(".")[3];
  for (const added of [[other], [digest, other], ["a", other], [`${digest}A`]]) {
    const forged = [prefix, id, text, ...added].join(".");
    assert.equal(await secrets.open(forged, binding), undefined, forged);
  }
  // Texts that were sealed before there was a digest.
  const opened = { text: plain, isCurrent: true };
  assert.deepEqual(await secrets.open([prefix, id, text].join("."), binding), opened);
});

Deno.test("after a rotation the old key still opens, and the new key seals all again", async () => {
  const old = await withKeys(first);
  const both = await withKeys(second, first);
  const sealed = {
    token: await old.seal("t", binding),
    "header.x-team": await both.seal("u", binding),
  };
  const opened = await openSecrets(sealed, binding, both);
  assert.deepEqual(opened?.texts, { token: "t", "header.x-team": "u" });
  const resealed = opened?.resealed ?? {};
  assert.deepEqual(Object.keys(resealed), ["token", "header.x-team"]);
  const onlyNew = await withKeys(second);
  assert.deepEqual(await openSecrets(resealed, binding, onlyNew), {
    texts: { token: "t", "header.x-team": "u" },
  });
  assert.equal(await openSecrets(sealed, binding, onlyNew), undefined);
});

Deno.test("without a key, or with one that is not 32 bytes, nothing is sealed", async () => {
  for (const key of ["", "env(LOGLOOM_SECRETS_KEY)", "c2hvcnQ=", `${first}, c2hvcnQ=`]) {
    assert.equal(
      await readSealedSecrets((name) => name === "LOGLOOM_SECRETS_KEY" ? key : undefined),
      undefined,
    );
  }
  const env: Record<string, string> = {
    LOGLOOM_SECRETS_KEY: first,
    LOGLOOM_SECRETS_OLD_KEYS: "c2hvcnQ=",
  };
  assert.equal(await readSealedSecrets((name) => env[name]), undefined);
});

Deno.test("a sealed secret that holds a Logloom key ends with the key's digest", async () => {
  const secrets = await withKeys(first);
  const key = `ll_${"a".repeat(36)}`;
  const digest = createHash("sha256").update(key).digest("hex");
  const basic = `Basic ${Buffer.from(`anybody:${key}`).toString("base64")}`;
  for (const text of [key, `Bearer ${key}`, `Splunk ${key}`, basic]) {
    const sealed = await secrets.seal(text, binding);
    assert.equal(sealed.split(".")[4], digest, text);
    assert.deepEqual(await secrets.open(sealed, binding), { text, isCurrent: true });
  }
  assert.equal((await secrets.seal("Bearer ll_short", binding)).split(".").length, 4);
});
