import { SignJWT } from "jose";
import { createAuthenticator, keyChecksum } from "../_shared/auth.ts";
import { createDatabase } from "../_shared/database.ts";
import { closedUrl } from "../_shared/testing.ts";
import { createIngestHandler } from "./handler.ts";

const secret = "a-secret-of-more-than-thirty-two-characters";
const random = "0123456789ABCDEFGHIJKLMNOPQRST";

/** A key that could be alive: whether it is, the peer that stands for the database says. */
export const apiKey = `ll_${random}${keyChecksum(`ll_${random}`)}`;

export const token = await new SignJWT({
  role: "authenticated",
  sub: "11111111-1111-4111-8111-111111111111",
  tenant_id: "acme",
}).setProtectedHeader({ alg: "HS256" }).setExpirationTime("1h").sign(
  new TextEncoder().encode(secret),
);

export interface Ingest extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** The function as it runs, on a port of its own, with its database at `databaseUrl`. */
export function startIngest(
  databaseUrl: string,
  wakeWriter = () => {},
  bodyTimeoutMs?: number,
): Ingest {
  const handler = createIngestHandler({
    authenticate: createAuthenticator({ jwksUrl: `${closedUrl()}/jwks`, jwtSecret: secret }),
    callDatabase: createDatabase({ url: databaseUrl, serviceKey: "key", timeoutMs: 5000 }),
    wakeWriter,
    bodyTimeoutMs,
  });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
  const { port } = server.addr;
  return {
    url: `http://127.0.0.1:${port}/ingest`,
    port,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
