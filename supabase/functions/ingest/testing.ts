import { SignJWT } from "jose";
import { createAuthenticator, keyChecksum } from "../_shared/auth.ts";
import { createDatabase } from "../_shared/database.ts";
import { eventFields } from "../_shared/record_fields.ts";
import { closedUrl, type Peer, type PeerRequest, startPeer } from "../_shared/testing.ts";
import { createIngestHandler } from "./handler.ts";

const secret = "a-secret-of-more-than-thirty-two-characters";
const random = "0123456789ABCDEFGHIJKLMNOPQRST";

/** A well-formed key. The test's database decides whether it is active. */
export const apiKey = `ll_${random}${keyChecksum(`ll_${random}`)}`;
export const ingestToken = `llt_${random}${keyChecksum(`llt_${random}`)}`;

export const token = await new SignJWT({
  role: "authenticated",
  sub: "11111111-1111-4111-8111-111111111111",
  tenant_id: "acme",
}).setProtectedHeader({ alg: "HS256" }).setExpirationTime("1h").sign(
  new TextEncoder().encode(secret),
);

/** The parameters of a request for `ingest_text`. */
export function parametersOf(request: string): Record<string, unknown> {
  const [head, ...columns] = request.split("\x1e");
  const parameters = JSON.parse(head);
  for (const [n, column] of columns.entries()) {
    const name = `p_${eventFields[n]}`;
    if (column === "" && name !== "p_ts") continue;
    parameters[name] = name === "p_attrs"
      ? JSON.parse(column)
      : column === ""
      ? []
      : column.split("\x1f").map((value) => value === "\x1d" ? null : value);
  }
  return parameters;
}

/**
 * A test's database: answers each request for `ingest_text` with `answer`, and lists the requests, with their parameters
 * as JSON.
 */
export function startDatabase(
  answer: (request: PeerRequest) => Response | Promise<Response>,
): Peer {
  const requests: PeerRequest[] = [];
  const peer = startPeer(async (call) => {
    const answers = call.body.split("\x1c").map(async (text) => {
      const request = { ...call, body: JSON.stringify(parametersOf(text)) };
      requests.push(request);
      const said = await answer(request);
      return {
        status: said.status,
        headers: Object.fromEntries(said.headers),
        body: await said.text(),
      };
    });
    return Response.json(await Promise.all(answers));
  });
  return { url: peer.url, requests, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() };
}

export interface Ingest extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** Starts the function on a port of its own. */
export function startIngest(
  databaseUrl: string,
  wakeWriter = () => {},
  bodyTimeoutMs?: number,
  deploymentId?: string,
): Ingest {
  const handler = createIngestHandler({
    authenticate: createAuthenticator({ jwksUrl: `${closedUrl()}/jwks`, jwtSecret: secret }),
    callDatabase: createDatabase({ url: databaseUrl, serviceKey: "key", timeoutMs: 60_000 }),
    wakeWriter,
    bodyTimeoutMs,
    deploymentId,
  });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
  const { port } = server.addr;
  return {
    url: `http://127.0.0.1:${port}/ingest`,
    port,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
