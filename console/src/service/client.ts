import type { Config } from "./config.ts";
import { createReader, type Reader } from "./logloom.ts";
import { parseExactly } from "./exact-json.ts";
import { Listeners, readClaims, readerOf, type Session } from "./session.ts";

/** The service for the signed-in user. */
export interface Service extends Reader {
  /** The address that senders use. */
  readonly url: string;
  /** Notified when the service cannot be reached. */
  readonly away: Listeners;
}

/** Typed secrets by name. Null removes a saved secret. */
export type Secrets = Record<string, string | null>;

export type Sealer = "logloom-stream" | "logloom-notify" | "ingest";

/** The service for one reader. A request never continues with the next reader's token. */
export function createService(config: Config, session: Session, reader: string | null): Service {
  const url = config.url === "" ? location.origin : config.url;
  const away = new Listeners();
  const token = async () => {
    const now = await session.token();
    if (now !== null && readerOf(readClaims(now)) !== reader) throw new Error("another reader");
    return now;
  };
  const operations = createReader({
    url,
    key: config.key,
    token,
    // A refusal of the last reader's token must not sign out this reader.
    refused: async (why) => readerOf(session.claims()) === reader && await session.refused(why),
    fetch: (input, init) => fetch(input, { ...init, credentials: "omit" }),
  }, { parse: parseExactly, patienceMs: 4000, onRetry: (error) => error.isAway && away.tell() });
  return {
    ...operations,
    health: (_name, options) => operations.health(config.health, options),
    url,
    away,
  };
}
