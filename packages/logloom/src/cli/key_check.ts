import { exchange } from "./shipping/http_exchange.ts";

export interface KeyCheck {
  readonly status: number;
  /** Why the key does not work, in plain words. */
  readonly reason: string;
  /** Whether the key may send, or only read. Undefined if the service refuses the key. */
  readonly scope: "sends" | "reads" | undefined;
}

/** Checks whether the service knows an API key. Sends no events, so nothing is stored. */
export async function checkApiKey(
  url: string,
  key: string,
  signal: AbortSignal,
): Promise<KeyCheck> {
  const { status, reason, body } = await exchange(`${url}/functions/v1/ingest`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: "[]",
    signal,
  });
  const reads = status === 403 && body.error === "This API key may only read";
  return { status, reason, scope: status === 200 ? "sends" : reads ? "reads" : undefined };
}
