import { exchange } from "./shipping/http_exchange.ts";

export interface KeyCheck {
  readonly status: number;
  /** What is wrong with the key, in plain words. */
  readonly reason: string;
  /** Whether it may send, or only read; undefined where the service does not take it. */
  readonly scope: "sends" | "reads" | undefined;
}

/** Whether the service knows an API key: sends no events, so that nothing is stored. */
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
