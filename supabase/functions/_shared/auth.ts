import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import {
  decodeJwt,
  decodeProtectedHeader,
  errors as joseErrors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
} from "jose";
import {
  describeError,
  logFailure,
  notKnown,
  type Result,
  success,
  unavailable,
} from "./errors.ts";
import { createSecretKeys, secretKeyPrefix } from "./secret_keys.ts";
import { createSigningKeys, KeysAway, type KeySet } from "./signing_keys.ts";
import { hasUniqueNames } from "./unique_names.ts";
import { type Claims, createVerifiedTokens } from "./verified_tokens.ts";

/** The unchecked credentials of a request. */
export interface Credentials {
  readonly kind: "api_key" | "jwt";
  readonly value: string;
}

/** A caller as described to the database. Only the database knows whether a key is active. */
export type Caller =
  | { readonly kind: "api_key"; readonly keyDigest: string }
  | {
    readonly kind: "tenant";
    readonly tenantId: string;
    /** The claims that the database checks, as it does for operations. */
    readonly claims?: Claims;
  };

/** A text that identifies the caller uniquely. */
export function callerKey(caller: Caller | Project): string {
  if (caller.kind === "project") return "project";
  return caller.kind === "api_key" ? `key ${caller.keyDigest}` : `tenant ${caller.tenantId}`;
}

/** The project itself, by its secret key. The request names the tenant of the events. */
export interface Project {
  readonly kind: "project";
}

export type Authenticate = (credentials: Credentials) => Promise<Result<Caller | Project>>;

export interface AuthOptions {
  readonly jwksUrl: string;
  readonly jwtSecret: string | undefined;
  /** The project's secret keys. */
  readonly secretKeys?: readonly string[];
  readonly now?: () => Date;
  readonly pause?: (ms: number) => Promise<void>;
}

const leewaySeconds = 5;

const project: Project = { kind: "project" };

export function createAuthenticator(options: AuthOptions): Authenticate {
  const secret = options.jwtSecret === undefined
    ? undefined
    : new TextEncoder().encode(options.jwtSecret);
  const now = () => options.now?.().getTime() ?? Date.now();
  const pause = options.pause ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
  const signingKeys = createSigningKeys(options.jwksUrl, now, pause);
  const verified = createVerifiedTokens(leewaySeconds, now);
  const isSecretKey = createSecretKeys(options.secretKeys ?? []);

  async function verify(token: string): Promise<JWTPayload> {
    const claims: JWTVerifyOptions = {
      clockTolerance: leewaySeconds,
      requiredClaims: ["exp"],
      currentDate: options.now?.(),
    };
    // The secret is only for HS256 and the public keys only for ES256 and RS256, so that a public key is never used as
    // a secret.
    const algorithm = headerAlgorithm(token);
    if (secret !== undefined && algorithm === "HS256") {
      return (await jwtVerify(token, secret, { ...claims, algorithms: ["HS256"] })).payload;
    }
    if (algorithm !== "ES256" && algorithm !== "RS256") {
      throw new joseErrors.JOSEAlgNotAllowed("the token's algorithm is not allowed");
    }
    const asymmetric = { ...claims, algorithms: [algorithm] };
    const arrivedAt = now();
    const payload = await verifyBySet(token, await signingKeys.known(), asymmetric) ??
      // The token's key may be newer than our key set.
      await verifyBySet(token, await signingKeys.since(arrivedAt), asymmetric);
    if (payload === undefined) throw new joseErrors.JWKSNoMatchingKey();
    return payload;
  }

  return async ({ kind, value }) => {
    if (value.startsWith(secretKeyPrefix) && isSecretKey(value)) return success(project);
    if (kind === "api_key") {
      if (!isWellFormedKey(value)) return notKnown(faultOfKey(value));
      return success({ kind: "api_key", keyDigest: sha256Hex(value) });
    }
    try {
      let claims = verified.find(value);
      if (claims === undefined) {
        const payload = await verify(value);
        const text = payloadText(value);
        if (payload.role === "service_role" && hasUniqueNames(text)) return success(project);
        claims = usableClaims(payload, text);
        if (claims === undefined) return notKnown(faultOfClaims(value));
        verified.remember(value, claims);
      }
      return success({ kind: "tenant", tenantId: claims.tenant_id, claims });
    } catch (error) {
      if (isTokenError(error)) return notKnown(faultOfToken(value, error));
      const reason = error instanceof KeysAway ? error.cause : error;
      logFailure("signing keys cannot be read", { reason: describeError(reason) });
      return unavailable("Tokens cannot be verified at the moment, try again");
    }
  };
}

/** Undefined if no key of the set fits the token. */
async function verifyBySet(
  token: string,
  keys: KeySet,
  options: JWTVerifyOptions,
): Promise<JWTPayload | undefined> {
  try {
    return (await jwtVerify(token, keys, options)).payload;
  } catch (error) {
    if (error instanceof joseErrors.JWKSNoMatchingKey) return undefined;
    // A token without `kid` fits every key of its kind.
    if (!(error instanceof joseErrors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (mismatch) {
        if (!(mismatch instanceof joseErrors.JWSSignatureVerificationFailed)) throw mismatch;
      }
    }
    return undefined;
  }
}

/** Returns the JSON text of a verified token's claims. Keeps a byte-order mark, which makes the JSON invalid. */
function payloadText(token: string): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Buffer.from(token.split(".")[1], "base64url"),
  );
}

/** True if the token is faulty, false if the keys that verify it are unavailable. */
function isTokenError(error: unknown): boolean {
  return error instanceof joseErrors.JOSEError && !(error instanceof joseErrors.JWKSInvalid);
}

function headerAlgorithm(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).alg;
  } catch {
    return undefined;
  }
}

/** NUL, or half a surrogate pair, in JSON text: Postgres can store neither. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** The claims that the database checks in addition to the role and the tenant. */
const judged = ["aud", "exp", "iat", "nbf", "iss", "jti", "sub", "client_id", "is_anonymous"];

/** The claims that the database checks; undefined if it cannot read them. */
function usableClaims(payload: JWTPayload, text: string): Claims | undefined {
  const { role, sub, tenant_id } = payload;
  if (role !== "authenticated" || sub === "" || typeof (sub ?? "") !== "string") return undefined;
  if (typeof tenant_id !== "string" || tenant_id.trim() === "") return undefined;
  if ([...tenant_id].length > 255) return undefined;
  if (text.startsWith("\ufeff") || !hasUniqueNames(text)) return undefined;
  if (unstorable.test(JSON.stringify(payload))) return undefined;
  const claims = judged.filter((name) => name in payload).map((name) => [name, payload[name]]);
  return { ...Object.fromEntries(claims), ...roleOf(payload), tenant_id };
}

/** Keeps only the role of `app_metadata`, which may be large. */
function roleOf({ app_metadata }: JWTPayload): { app_metadata?: { logloom_role: string } } {
  if (typeof app_metadata !== "object" || app_metadata === null) return {};
  if (!("logloom_role" in app_metadata)) return {};
  const { logloom_role } = app_metadata;
  return typeof logloom_role === "string" ? { app_metadata: { logloom_role } } : {};
}

/** The fault of a value that is not a key. The text says only what the sender can see. */
export function faultOfKey(value: string): string {
  if (/^["'].*["']$/.test(value)) return "The key is in quotes: send it without them";
  if (/^bearer\s/i.test(value)) return "This header takes the key alone, without Bearer";
  const wrongKind = faultOfKind(value);
  if (wrongKind !== undefined) return wrongKind;
  return hasKeyPrefix(value)
    ? "The key is malformed: a character is wrong or missing"
    : "Not a Logloom key: keys begin with ll_";
}

/**
 * Returns the fault if the value is a project key or a token instead of a Logloom key; undefined for any other value.
 */
function faultOfKind(value: string): string | undefined {
  if (value.startsWith(secretKeyPrefix)) return "Not a secret key of this project";
  if (value.startsWith("sb_publishable_")) return ofProject("publishable key");
  const role = value.startsWith("eyJ") ? unverifiedRole(value) : undefined;
  if (role === "anon") return ofProject("anon key");
  return role === undefined ? undefined : "This is a token: send it as Authorization: Bearer";
}

function ofProject(name: string): string {
  return `This is the project's ${name}: ingest takes a key of Logloom (ll_...) or a user's token`;
}

/** Returns the role in an unverified token, which the sender can read as well; undefined for any other text. */
function unverifiedRole(token: string): string | undefined {
  try {
    return String(decodeJwt(token).role);
  } catch {
    return undefined;
  }
}

function faultOfToken(value: string, error: unknown): string {
  if (value === "") return "Write Authorization as Bearer, one space, and the key or token";
  if (/^["'].*["']$/.test(value)) return "The key is in quotes: send it without them";
  // Signatures are verified before times.
  if (error instanceof joseErrors.JWTExpired) return "The token has expired: sign in again";
  const role = unverifiedRole(value);
  if (role === "anon") return ofProject("anon key");
  if (role === undefined) return faultOfKind(value) ?? "Neither a key nor a token";
  return "The token is not valid for this project";
}

/** The fault of a verified token with unusable claims. */
function faultOfClaims(token: string): string {
  const role = unverifiedRole(token);
  if (role === "anon") return ofProject("anon key");
  return "The token needs role authenticated and a top-level tenant_id claim";
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Ingest tokens begin with this. An ingest token is a key that soon expires. */
export const tokenPrefix = "llt_";
/** The tokens of portal sessions begin with portalPrefix, the codes in portal links with portalCodePrefix. */
export const portalPrefix = "llp_";
export const portalCodePrefix = "llc_";

/** Whether a value looks like an API key, an ingest token or a portal session's token. */
export function hasKeyPrefix(value: string): boolean {
  return ["ll_", tokenPrefix, portalPrefix].some((prefix) => value.startsWith(prefix));
}

/** A key is the prefix, 30 random base62 characters, and the CRC32 of both in 6 base62 characters. */
export function isWellFormedKey(key: string): boolean {
  return /^ll[tpc]?_[0-9A-Za-z]{36}$/.test(key) && key.slice(-6) === keyChecksum(key.slice(0, -6));
}

export function keyChecksum(text: string): string {
  // crc32 returns a signed number on Deno 2.1.
  let rest = crc32(text) >>> 0;
  let checksum = "";
  for (let place = 0; place < 6; place++) {
    checksum = base62[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}

export function sha256Hex(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
