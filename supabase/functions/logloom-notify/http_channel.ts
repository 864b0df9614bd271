import {
  type OutgoingAnswer,
  type OutgoingOptions,
  retryAfterOf,
  sendOutgoing,
} from "../_shared/outgoing_request.ts";
import { failed, type Outcome, retry } from "./delivery_outcome.ts";

/** Posts JSON to a channel. Its address is a secret, so no error names it. */
export async function postJson(
  url: string,
  payload: unknown,
  options: OutgoingOptions,
): Promise<Outcome> {
  const answer = await sendOutgoing({
    method: "POST",
    url,
    headers: { "User-Agent": "Logloom", "Content-Type": "application/json" },
    body: new TextEncoder().encode(JSON.stringify(payload)),
  }, options);
  if ("status" in answer) return judge(answer);
  return answer.isFinal ? failed(answer.error) : retry(answer.error);
}

/** The outcome by a channel's answer: delivered, wait and retry, or refused for good. */
function judge(answer: OutgoingAnswer): Outcome {
  const { status } = answer;
  if (status < 300) return { outcome: "delivered", status };
  if (status === 408 || status === 429 || status >= 500) {
    return retry(`HTTP ${status}`, status, waitOf(answer));
  }
  return failed(`HTTP ${status}: the channel refused the message`, status);
}

/** The seconds to wait. Discord's may have a fraction. */
function waitOf(answer: OutgoingAnswer): number | undefined {
  const text = answer.headers.get("x-ratelimit-reset-after") ?? answer.headers.get("retry-after");
  const seconds = /^\d{1,9}(?:\.\d{1,9})?$/.test(text ?? "") ? Math.ceil(Number(text)) : undefined;
  return Math.max(seconds ?? 0, retryAfterOf(answer, new Date()) ?? 0) || undefined;
}
