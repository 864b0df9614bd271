import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { logFailure } from "./errors.ts";

/** A sealed text is bound to these: it does not open for another tenant, purpose or customer. */
export interface SealBinding {
  readonly tenantId: string;
  /** The use of the secret, such as `log_stream`. */
  readonly purpose: string;
  /** The tenant's customer who sealed it in a portal session. Null or missing: the tenant itself. */
  readonly customer?: string | null;
}

export interface Opened {
  readonly text: string;
  /** Whether the current key sealed it. If not, seal it again. */
  readonly isCurrent: boolean;
}

export interface SealedSecrets {
  seal(text: string, binding: SealBinding): Promise<string>;
  /** Undefined if none of our keys sealed this text for this binding. */
  open(sealed: string, binding: SealBinding): Promise<Opened | undefined>;
}

/**
 * A sealed text has these parts, separated by dots: this prefix, the id of the key, nonce and ciphertext as base64url,
 * and `=` with a digest. The digest is made with the key, so only the database's comparison of two sealed texts learns
 * from it. If the secret holds a Logloom key, the key's SHA-256 follows, by which the database sees that a tenant sends to
 * itself.
 */
const prefix = "lls1";

const nonceBytes = 12;

/**
 * AES-GCM with keys from the environment. LOGLOOM_SECRETS_KEY seals and opens; the comma-separated keys in
 * LOGLOOM_SECRETS_OLD_KEYS only open. A key is 32 bytes as base64; its id is the beginning of its digest. Undefined if
 * there is no key, or one is malformed.
 */
export async function readSealedSecrets(
  get: (name: string) => string | undefined,
): Promise<SealedSecrets | undefined> {
  const current = setValue(get("LOGLOOM_SECRETS_KEY"));
  if (current === undefined) return undefined;
  const old = setValue(get("LOGLOOM_SECRETS_OLD_KEYS"))?.split(",") ?? [];
  const keys = new Map<string, { readonly key: CryptoKey; readonly bytes: Buffer }>();
  for (const text of [current, ...old]) {
    const bytes = Buffer.from(text.trim(), "base64");
    if (!/^[\w+/-]{43}=?$/.test(text.trim()) || bytes.length !== 32) {
      // The value is never logged. The function continues with work that needs no key.
      logFailure("a key of LOGLOOM_SECRETS_KEY or LOGLOOM_SECRETS_OLD_KEYS is not 32 bytes", {});
      return undefined;
    }
    const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, [
      "encrypt",
      "decrypt",
    ]);
    const id = idOf(bytes);
    if (!keys.has(id)) keys.set(id, { key, bytes });
  }
  const [[currentId, currentKey]] = keys;

  return {
    async seal(text, binding) {
      const nonce = crypto.getRandomValues(new Uint8Array(nonceBytes));
      const sealed = await crypto.subtle.encrypt(
        { name: "AES-GCM", iv: nonce, additionalData: boundTo(currentId, binding) },
        currentKey.key,
        new TextEncoder().encode(text),
      );
      const bytes = Buffer.concat([nonce, new Uint8Array(sealed)]);
      const digest = digestOf(text, currentKey.bytes, boundTo(currentId, binding));
      return `${prefix}.${currentId}.${bytes.toString("base64url")}.${digest}${digestOfKey(text)}`;
    },

    async open(sealed, binding) {
      const [begins, id, text = "", ...added] = sealed.split(".");
      const key = keys.get(id);
      if (begins !== prefix || key === undefined) return undefined;
      const bytes = Buffer.from(text, "base64url");
      try {
        const opened = await crypto.subtle.decrypt(
          {
            name: "AES-GCM",
            iv: bytes.subarray(0, nonceBytes),
            additionalData: boundTo(id, binding),
          },
          key.key,
          bytes.subarray(nonceBytes),
        );
        const plain = new TextDecoder().decode(opened);
        // The digest of another text would hide from the database that this one differs.
        const digest = digestOf(plain, key.bytes, boundTo(id, binding));
        if (added.some((part) => part.startsWith("=") && part !== digest)) return undefined;
        return { text: plain, isCurrent: id === currentId };
      } catch {
        return undefined;
      }
    },
  };
}

/** The CLI passes `env(NAME)` from config.toml unchanged if NAME is not set. */
function setValue(text: string | undefined): string | undefined {
  return text === undefined || text === "" || text.startsWith("env(") ? undefined : text;
}

/** `=` and the digest by which the database compares two sealed texts. */
function digestOf(text: string, key: Buffer, binding: Uint8Array): string {
  return `=${createHmac("sha256", key).update(binding).update(text).digest("base64url")}`;
}

/** A dot and the digest of the Logloom key in a secret, such as a header with a key; empty if there is none. */
function digestOfKey(text: string): string {
  const basic = /^basic +(\S+)$/i.exec(text)?.[1];
  const plain = basic === undefined ? text : Buffer.from(basic, "base64").toString("latin1");
  const key = /ll[tp]?_[0-9A-Za-z]{36}/.exec(plain)?.[0];
  return key === undefined ? "" : `.${createHash("sha256").update(key).digest("hex")}`;
}

function idOf(key: Uint8Array): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 8);
}

function boundTo(
  keyId: string,
  { tenantId, purpose, customer }: SealBinding,
): Uint8Array<ArrayBuffer> {
  const parts = [keyId, tenantId, purpose, ...typeof customer === "string" ? [customer] : []];
  return new TextEncoder().encode(JSON.stringify(parts));
}

/**
 * Opens several secrets of one owner; undefined if one cannot be opened. `resealed` has all of them sealed by the
 * current key, if an older key sealed one.
 */
export async function openSecrets(
  sealed: Readonly<Record<string, string>>,
  binding: SealBinding,
  secrets: SealedSecrets,
): Promise<
  | { readonly texts: Record<string, string>; readonly resealed?: Record<string, string> }
  | undefined
> {
  const texts: Record<string, string> = {};
  let isCurrent = true;
  for (const [name, text] of Object.entries(sealed)) {
    const opened = await secrets.open(text, binding);
    if (opened === undefined) return undefined;
    texts[name] = opened.text;
    isCurrent &&= opened.isCurrent;
  }
  if (isCurrent) return { texts };
  const resealed: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts)) {
    resealed[name] = await secrets.seal(text, binding);
  }
  return { texts, resealed };
}
