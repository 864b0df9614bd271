import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import {
  decodeProtectedHeader,
  errors as joseErrors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
} from "jose";
import { describeError, failure, logFailure, type Result, success, unavailable } from "./errors.ts";
import { createSigningKeys, KeysAway, type KeySet } from "./signing_keys.ts";
import { hasUniqueNames } from "./unique_names.ts";
import { type Claims, createVerifiedTokens } from "./verified_tokens.ts";

/** What a request brought to show who it is, before anything of it is checked. */
export type Credentials =
  | { readonly kind: "api_key"; readonly value: string }
  | { readonly kind: "jwt"; readonly value: string };

/** A caller as the database is told of it. Whether a key lives only the database knows. */
export type Caller =
  | { readonly kind: "api_key"; readonly keyDigest: string }
  | {
    readonly kind: "tenant";
    readonly tenantId: string;
    /** What the database judges the token by, as it does at its own door. */
    readonly claims?: Claims;
  };

/** The same text for the same caller, and for no other. */
export function callerKey(caller: Caller): string {
  return caller.kind === "api_key" ? `key ${caller.keyDigest}` : `tenant ${caller.tenantId}`;
}

export type Authenticate = (credentials: Credentials) => Promise<Result<Caller>>;

export interface AuthOptions {
  readonly jwksUrl: string;
  readonly jwtSecret: string | undefined;
  readonly now?: () => Date;
  readonly pause?: (ms: number) => Promise<void>;
}

const leewaySeconds = 5;

const unauthenticated = failure(401, "Invalid token, API key, or missing tenant_id");

export function createAuthenticator(options: AuthOptions): Authenticate {
  const secret = options.jwtSecret === undefined
    ? undefined
    : new TextEncoder().encode(options.jwtSecret);
  const now = () => options.now?.().getTime() ?? Date.now();
  const pause = options.pause ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms)));
  const signingKeys = createSigningKeys(options.jwksUrl, now, pause);
  const verified = createVerifiedTokens(leewaySeconds, now);

  async function verify(token: string): Promise<JWTPayload> {
    const claims: JWTVerifyOptions = {
      clockTolerance: leewaySeconds,
      requiredClaims: ["exp"],
      currentDate: options.now?.(),
    };
    // The secret serves HS256 alone and the public keys ES256 and RS256 alone, so that a public
    // key can never be taken for a secret.
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
      // Its key may be newer than the set is.
      await verifyBySet(token, await signingKeys.since(arrivedAt), asymmetric);
    if (payload === undefined) throw new joseErrors.JWKSNoMatchingKey();
    return payload;
  }

  return async ({ kind, value }) => {
    if (kind === "api_key") {
      if (!isWellFormedKey(value)) return unauthenticated;
      return success({ kind: "api_key", keyDigest: sha256Hex(value) });
    }
    try {
      let claims = verified.find(value);
      if (claims === undefined) {
        claims = usableClaims(await verify(value), payloadText(value));
        if (claims === undefined) return unauthenticated;
        verified.remember(value, claims);
      }
      return success({ kind: "tenant", tenantId: claims.tenant_id, claims });
    } catch (error) {
      if (isTokenError(error)) return unauthenticated;
      const reason = error instanceof KeysAway ? error.cause : error;
      logFailure("signing keys cannot be read", { reason: describeError(reason) });
      return unavailable("Tokens cannot be verified at the moment, try again");
    }
  };
}

/** Undefined where no key of the set may have signed the token. */
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

/** Of a token that was verified. A byte-order mark is no part of JSON. */
function payloadText(token: string): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    Buffer.from(token.split(".")[1], "base64url"),
  );
}

/** Everything that is wrong with a token, as against with the key that is to verify it. */
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

/** In JSON text: NUL, or half a surrogate pair. Postgres can store neither. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/;

/** What the database looks at beside `tenant_id`. */
const judged = ["aud", "exp", "iat", "nbf", "iss", "jti", "sub", "client_id", "is_anonymous"];

/** The claims that the database is to judge; undefined where it could not even read them. */
function usableClaims(payload: JWTPayload, text: string): Claims | undefined {
  const { role, sub, tenant_id } = payload;
  if (role !== "authenticated" || sub === "" || typeof (sub ?? "") !== "string") return undefined;
  if (typeof tenant_id !== "string" || tenant_id.trim() === "") return undefined;
  if ([...tenant_id].length > 255) return undefined;
  if (text.startsWith("\ufeff") || !hasUniqueNames(text)) return undefined;
  if (unstorable.test(JSON.stringify(payload))) return undefined;
  const claims = judged.filter((name) => name in payload).map((name) => [name, payload[name]]);
  return { ...Object.fromEntries(claims), tenant_id };
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `ll_`, 30 random base62 characters, and the CRC32 of these 33 in 6 base62 characters. */
export function isWellFormedKey(key: string): boolean {
  return /^ll_[0-9A-Za-z]{36}$/.test(key) && key.slice(33) === keyChecksum(key.slice(0, 33));
}

export function keyChecksum(text: string): string {
  // Deno 2.1 answers with a signed number.
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
