import { Buffer } from "node:buffer";
import { CompactSign, SignJWT } from "jose";
import { stack } from "./stack.ts";

const secret = new TextEncoder().encode(stack.jwtSecret);

/** Makes a token like Auth's, with changed claims; undefined omits a claim. */
export function userToken(claims: Record<string, unknown>, key = secret): Promise<string> {
  const all = {
    aud: "authenticated",
    role: "authenticated",
    sub: crypto.randomUUID(),
    exp: Math.floor(Date.now() / 1000) + 3600,
    ...claims,
  };
  return new SignJWT(JSON.parse(JSON.stringify(all)))
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(key);
}

/** Makes a token signed with the supabase CLI's key pair (ES256) for local projects. */
export async function cliToken(claims: Record<string, unknown>): Promise<string> {
  const checkout = new URL("../..", import.meta.url);
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  const { success, stdout, stderr } = await new Deno.Command(
    new URL(`node_modules/@supabase/cli-${Deno.build.os}-${arch}/bin/supabase`, checkout),
    {
      args: [
        "gen",
        "bearer-jwt",
        "--role=authenticated",
        `--sub=${crypto.randomUUID()}`,
        `--payload=${JSON.stringify(claims)}`,
      ],
      cwd: checkout,
      env: { SUPABASE_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
      stdin: "null",
    },
  ).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

/** Makes an unsigned token. */
export function unsignedToken(claims: Record<string, unknown>): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none", typ: "JWT" })}.${part(claims)}.`;
}

/** Makes a signed token with any text as its claims. */
export function tokenOfText(payload: string): Promise<string> {
  return new CompactSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(secret);
}
