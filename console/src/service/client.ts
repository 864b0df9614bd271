import type { Config } from "./config.ts";
import { createReader, LogloomError, type Reader, refusalOf } from "./logloom.ts";
import { parseExactly } from "./numbers.ts";
import { Listeners, readClaims, readerOf, type Session } from "./session.ts";

/** The service as the signed-in user reads and changes it. */
export interface Service extends Reader {
  /** The address that senders use. */
  readonly url: string;
  /** Told when the service cannot be reached. */
  readonly away: Listeners;
  /** Sealed by the edge function that opens them: the database never has a secret in plain text. */
  seal(sealer: Sealer, secrets: Record<string, string>): Promise<Record<string, string>>;
}

export type Sealer = "logloom-stream" | "logloom-notify";

/** The service of one reader: what they began does not go on with the token of the next one. */
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
    // An answer to the last reader says nothing of this one's token.
    refused: async (why) => readerOf(session.claims()) === reader && await session.refused(why),
    fetch: (input, init) => fetch(input, { ...init, credentials: "omit" }),
  }, { parse: parseExactly, patienceMs: 4000, onRetry: (error) => error.isAway && away.tell() });
  return {
    ...operations,
    health: (_name, options) => operations.health(config.health, options),
    url,
    away,
    seal: async (sealer, secrets) => {
      const response = await fetch(`${url}/functions/v1/${sealer}/v1/seal`, {
        method: "POST",
        credentials: "omit",
        headers: {
          "Content-Type": "application/json",
          Authorization: `Bearer ${await token()}`,
          ...config.key && { apikey: config.key },
        },
        body: JSON.stringify({ p_secrets: secrets }),
      }).catch((cause) => {
        throw new LogloomError(0, {}, 0, { cause });
      });
      const body = await response.json().catch(() => ({}));
      if (!response.ok) {
        const hint = refusalOf(response.headers);
        throw new LogloomError(response.status, { hint, ...body }, 0);
      }
      return body.p_secrets;
    },
  };
}
