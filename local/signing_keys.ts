import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { jwtSecret } from "./stack.ts";

/** The public half of the supabase CLI's key for local projects. */
const cliKey = {
  kty: "EC",
  kid: "b81269f1-21d8-4f2e-b719-c2240a840d90",
  use: "sig",
  key_ops: ["verify"],
  alg: "ES256",
  ext: true,
  crv: "P-256",
  x: "M5Sjqn5zwC9Kl1zVfUUGvv9boQjCGd45G8sdopBExB4",
  y: "P6IXMvA2WYXSHSOMTBH2jsw_9rrzGy89FjPf6oOsIxQ",
};

const secretKey = { kty: "oct", k: Buffer.from(jwtSecret).toString("base64url"), alg: "HS256" };

/** The keys whose tokens the stack accepts: the shared secret and the CLI's key. */
export const keySet = { keys: [secretKey, cliKey] };

/** Their public part, as Auth publishes it. */
export const publicKeySet = { keys: [cliKey] };

/** Makes a token that is signed with the shared secret. */
export function signToken(claims: Record<string, unknown>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return `${signed}.${createHmac("sha256", jwtSecret).update(signed).digest("base64url")}`;
}

/** Tokens are valid until the end of 2032, like the local keys of every Supabase stack. */
const farAhead = 1983812996;

/** The keys that `supabase start` prints. */
export const anonKey = signToken({ iss: "supabase-demo", role: "anon", exp: farAhead });
export const serviceRoleKey = signToken({
  iss: "supabase-demo",
  role: "service_role",
  exp: farAhead,
});

/** The keys of every local stack of the CLI. They are not tokens; the gateway accepts them. */
export const secretApiKey = "sb_secret_N7UND0UgjKTVK-Uodkm0Hg_xSvEMPvz";
export const publishableApiKey = "sb_publishable_ACJWlzQHlZjBrEguHvfOxg_3BJgxAaH";

/** Makes a signed-in user's token, as Auth and the access-token hook would issue it. */
export function userToken(userId: string, tenantId: string): string {
  return signToken({
    aud: "authenticated",
    exp: farAhead,
    role: "authenticated",
    sub: userId,
    tenant_id: tenantId,
  });
}
