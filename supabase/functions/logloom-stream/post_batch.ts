import type { NoAnswer, Outgoing, OutgoingAnswer } from "../_shared/outgoing_request.ts";
import type { Batch } from "./batch.ts";

/** Posts a batch to its stream's address, with the headers of every batch. */
export function post(
  batch: Batch,
  secrets: Readonly<Record<string, string>>,
  send: Outgoing,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>>,
  query = "",
): Promise<OutgoingAnswer | NoAnswer> {
  const own = {
    "User-Agent": "Logloom",
    "Content-Type": "application/json",
    "Idempotency-Key": batch.id,
    "Logloom-Stream-Batch": batch.id,
    "Logloom-Stream-Hops": `${batch.hops}`,
    ...headers,
  };
  return send({
    method: "POST",
    url: withQuery(batch.config.url, query),
    headers: { ...own, ...secretHeaders(secrets, Object.keys(own)) },
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
  });
}

/**
 * Returns headers from secrets named `header.…`, such as `header.x-api-key`. Leaves out the headers that every batch
 * has.
 */
function secretHeaders(
  secrets: Readonly<Record<string, string>>,
  own: readonly string[],
): Record<string, string> {
  const taken = new Set(own.map((name) => `header.${name.toLowerCase()}`));
  return Object.fromEntries(
    Object.entries(secrets)
      .filter(([name]) => name.startsWith("header.") && !taken.has(name))
      .map(([name, value]) => [name.slice("header.".length), value]),
  );
}

function withQuery(text: string, query: string): string {
  if (query === "") return text;
  const url = URL.parse(text);
  if (url === null) return text;
  url.search += url.search === "" ? query : `&${query}`;
  return url.href;
}
