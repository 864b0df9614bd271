import type { Config } from "./config.ts";
import { createReader, type Reader } from "./logloom.ts";
import { parseExactly } from "./numbers.ts";
import { Listeners, type Session } from "./session.ts";

/** The service as the signed-in user reads and changes it. */
export interface Service extends Reader {
  /** The address that senders use. */
  readonly url: string;
  /** Told when the service cannot be reached. */
  readonly away: Listeners;
}

export function createService(config: Config, session: Session): Service {
  const url = config.url === "" ? location.origin : config.url;
  const away = new Listeners();
  const reader = createReader({
    url,
    key: config.key,
    token: session.token,
    refused: session.refused,
    fetch: (input, init) => fetch(input, { ...init, credentials: "omit" }),
  }, {
    parse: parseExactly,
    patienceMs: 4000,
    onRetry: (error) => error.isAway && away.tell(),
  });
  return {
    ...reader,
    health: (_name, options) => reader.health(config.health, options),
    url,
    away,
  };
}
