import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import {
  createRemoteJWKSet,
  customFetch,
  decodeProtectedHeader,
  errors as joseErrors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
} from "jose";
import { describeError, failure, logFailure, type Result, success, unavailable } from "./errors.ts";
import { createVerifiedTokens } from "./verified_tokens.ts";

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

export type Claims = Pick<JWTPayload, "aud" | "exp" | "iat" | "nbf" | "sub"> & {
  readonly tenant_id: string;
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
}

const leewaySeconds = 5;

const unauthenticated = failure(401, "Invalid token, API key, or missing tenant_id");

export function createAuthenticator(options: AuthOptions): Authenticate {
  const secret = options.jwtSecret === undefined
    ? undefined
    : new TextEncoder().encode(options.jwtSecret);
  const jwks = createRemoteJWKSet(new URL(options.jwksUrl), {
    timeoutDuration: 3000,
    [customFetch]: fetchKeys,
  });
  const now = () => options.now?.().getTime() ?? Date.now();
  const verified = createVerifiedTokens(leewaySeconds, now);

  async function verify(token: string): Promise<JWTPayload> {
    const claims: JWTVerifyOptions = {
      clockTolerance: leewaySeconds,
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
      return success({ kind: "api_key", keyDigest: sha256Hex(value) });
    }
    try {
      let claims = verified.find(value);
      if (claims === undefined) {
        claims = usableClaims(await verify(value));
        if (claims === undefined) return unauthenticated;
        verified.remember(value, claims);
      }
      return success({ kind: "tenant", tenantId: claims.tenant_id, claims });
    } catch (error) {
      if (isTokenError(error)) return unauthenticated;
      logFailure("signing keys cannot be read", { reason: describeError(error) });
      return unavailable("Tokens cannot be verified at the moment, try again");
    }
  };
}

/** An answer that jose does not read would keep its connection. */
async function fetchKeys(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  if (response.status !== 200) await response.body?.cancel();
  return response;
}

/** Everything that is wrong with a token, as against with the place where its key is found. */
function isTokenError(error: unknown): boolean {
  if (!(error instanceof joseErrors.JOSEError)) return false;
  return !(error instanceof joseErrors.JWKSTimeout || error instanceof joseErrors.JWKSInvalid ||
    error.code === "ERR_JOSE_GENERIC");
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

/** The claims that the database is to judge; undefined where it could not even read them. */
function usableClaims(payload: JWTPayload): Claims | undefined {
  const { aud, exp, iat, nbf, role, sub, tenant_id } = payload;
  if (role !== "authenticated" || sub === "" || typeof (sub ?? "") !== "string") return undefined;
  if (typeof tenant_id !== "string" || tenant_id.trim() === "") return undefined;
  if ([...tenant_id].length > 255) return undefined;
  if (unstorable.test(JSON.stringify(payload))) return undefined;
  return { aud, exp, iat, nbf, sub, tenant_id };
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
