import type { Config } from "../service/config.ts";
import type { Service } from "../service/client.ts";
import { createReader } from "../service/logloom.ts";
import { parseExactly } from "../service/exact-json.ts";
import { Listeners } from "../service/session.ts";
import type { ParentPage } from "./parent-page.ts";
import type { PortalSession } from "./portal-session.ts";
import { inTurn } from "./requests-in-turn.ts";

/** How long the page waits for the list of allowed operations. A new token may take ten seconds. */
const mostWaitMs = 15_000;
const operations = "/functions/v1/logloom-read/v1";

/** The service as a portal session uses it. */
export interface PortalService extends Service {
  /** The operations that the session may call, or null if the service does not say. */
  openOperations(): Promise<ReadonlySet<string> | null>;
}

/**
 * The service for the current reader. A request never continues with the next reader's token. If a token is refused,
 * asks for a new one, once.
 */
export function createPortalService(
  config: Config,
  session: PortalSession,
  page: ParentPage,
): PortalService {
  const url = config.url === "" ? location.origin : config.url;
  const away = new Listeners();
  const { reader: one } = session;
  const token = () => {
    if (session.reader !== one) throw new Error("another reader");
    return session.token();
  };
  // A request that waits for a new token keeps no place.
  const inPlace = inTurn(fetch);
  const asReader: typeof fetch = async (input, init) => {
    const send = (held: string | null) => {
      const headers = new Headers(init?.headers);
      if (held !== null) headers.set("Authorization", `Bearer ${held}`);
      // The service checks whether the session allows this page.
      if (page.origin !== null) headers.set("X-Logloom-Origin", page.origin);
      return inPlace(input, {
        ...init,
        headers,
        credentials: "omit",
        referrerPolicy: "no-referrer",
      });
    };
    const held = token();
    const response = await send(held);
    if (response.status !== 401 || !(await session.refused(held))) return response;
    return await send(token());
  };
  const reader = createReader({ url, token, operations, fetch: asReader }, {
    parse: parseExactly,
    patienceMs: 4000,
    onRetry: (error) => error.isAway && away.tell(),
  });
  const openOperations = async () => {
    const signal = AbortSignal.timeout(mostWaitMs);
    const address = `${url}${operations}/portal/operations`;
    const answer = await asReader(address, { method: "POST", signal })
      .then((response) => response.ok ? response.json() : null)
      .catch(() => null);
    return Array.isArray(answer?.operations) ? new Set<string>(answer.operations) : null;
  };
  return { ...reader, url, away, openOperations };
}
