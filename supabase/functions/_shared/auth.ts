import {
  createRemoteJWKSet,
  errors as joseErrors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
} from "jose";
import { describeError, failure, logFailure, type Result, success, unavailable } from "./errors.ts";

/** What a request brought to show who it is, before anything of it is checked. */
export type Credentials =
  | { readonly kind: "api_key"; readonly value: string }
  | { readonly kind: "jwt"; readonly value: string };

/** A caller as the database is told of it. Whether a key lives only the database knows. */
export type Caller =
  | { readonly kind: "api_key"; readonly keyDigest: string }
  | { readonly kind: "tenant"; readonly tenantId: string };

/** The same text for the same caller, and for no other. */
export function callerKey(caller: Caller): string {
  return caller.kind === "api_key" ? `key ${caller.keyDigest}` : `tenant ${caller.tenantId}`;
}

export type Authenticate = (credentials: Credentials) => Promise<Result<Caller>>;

export interface AuthOptions {
  readonly jwksUrl: string;
  readonly jwtSecret: string | undefined;
  readonly now?: () => Date;
}

const keyPrefix = "ll_";
const unauthenticated = failure(401, "Invalid token, API key, or missing tenant_id");

export function readCredentials(headers: Headers): Result<Credentials> {
  const apiKey = headers.get("X-API-Key");
  if (apiKey) return success({ kind: "api_key", value: apiKey });
  const authorization = headers.get("Authorization");
  if (!authorization) return failure(400, "Missing authorization header");
  // Another scheme than Bearer leaves a value that no key and no token can equal.
  const value = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? "";
  return success({ kind: value.startsWith(keyPrefix) ? "api_key" : "jwt", value });
}

export function createAuthenticator(options: AuthOptions): Authenticate {
  const secret = options.jwtSecret === undefined
    ? undefined
    : new TextEncoder().encode(options.jwtSecret);
  const jwks = createRemoteJWKSet(new URL(options.jwksUrl), { timeoutDuration: 3000 });

  async function verify(token: string): Promise<JWTPayload> {
    const claims: JWTVerifyOptions = {
      clockTolerance: 5,
      requiredClaims: ["exp"],
      currentDate: options.now?.(),
    };
    // The secret serves HS256 alone and the public keys ES256 and RS256 alone, so that a public
    // key can never be taken for a secret.
    if (secret !== undefined && headerAlgorithm(token) === "HS256") {
      return (await jwtVerify(token, secret, { ...claims, algorithms: ["HS256"] })).payload;
    }
    const asymmetric = { ...claims, algorithms: ["ES256", "RS256"] };
    try {
      return (await jwtVerify(token, jwks, asymmetric)).payload;
    } catch (error) {
      // A token without `kid` fits every key of its kind.
      if (!(error instanceof joseErrors.JWKSMultipleMatchingKeys)) throw error;
      for await (const key of error) {
        try {
          return (await jwtVerify(token, key, asymmetric)).payload;
        } catch (mismatch) {
          if (!(mismatch instanceof joseErrors.JWSSignatureVerificationFailed)) throw mismatch;
        }
      }
      throw new joseErrors.JWSSignatureVerificationFailed();
    }
  }

  return async ({ kind, value }) => {
    if (kind === "api_key") {
      if (!isWellFormedKey(value)) return unauthenticated;
      return success({ kind: "api_key", keyDigest: await sha256Hex(value) });
    }
    try {
      const tenantId = tenantOf(await verify(value));
      return tenantId === undefined ? unauthenticated : success({ kind: "tenant", tenantId });
    } catch (error) {
      if (isTokenError(error)) return unauthenticated;
      logFailure("signing keys cannot be read", { reason: describeError(error) });
      return unavailable("Tokens cannot be verified at the moment, try again");
    }
  };
}

/** Everything that is wrong with a token, as against with the place where its key is found. */
function isTokenError(error: unknown): boolean {
  if (!(error instanceof joseErrors.JOSEError)) return false;
  return !(error instanceof joseErrors.JWKSTimeout || error instanceof joseErrors.JWKSInvalid ||
    error.code === "ERR_JOSE_GENERIC");
}

function headerAlgorithm(token: string): unknown {
  try {
    const base64 = token.slice(0, token.indexOf(".")).replaceAll("-", "+").replaceAll("_", "/");
    const header: unknown = JSON.parse(atob(base64));
    return typeof header === "object" && header !== null && "alg" in header
      ? header.alg
      : undefined;
  } catch {
    return undefined;
  }
}

function tenantOf(claims: JWTPayload): string | undefined {
  const { role, sub, tenant_id: tenantId } = claims;
  if (role !== "authenticated") return undefined;
  if (sub !== undefined && (typeof sub !== "string" || sub === "")) return undefined;
  if (typeof tenantId !== "string" || tenantId.trim() === "") return undefined;
  // Postgres can store neither NUL nor half a surrogate pair.
  if (tenantId.includes("\0") || !tenantId.isWellFormed()) return undefined;
  return [...tenantId].length <= 255 ? tenantId : undefined;
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** `ll_`, 30 random base62 characters, and the CRC32 of these 33 in 6 base62 characters. */
export function isWellFormedKey(key: string): boolean {
  return /^ll_[0-9A-Za-z]{36}$/.test(key) && key.slice(33) === keyChecksum(key.slice(0, 33));
}

export function keyChecksum(text: string): string {
  let rest = crc32(text);
  let checksum = "";
  for (let place = 0; place < 6; place++) {
    checksum = base62[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  return checksum;
}

function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let at = 0; at < text.length; at++) {
    crc ^= text.charCodeAt(at);
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

export async function sha256Hex(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(digest).toHex();
}
