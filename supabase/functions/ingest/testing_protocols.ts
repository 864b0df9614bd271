import { sha256Hex } from "../_shared/auth.ts";
import { eventFields } from "../_shared/record_fields.ts";
import type { PeerRequest } from "../_shared/testing.ts";
import { apiKey, startDatabase, startIngest } from "./testing.ts";

/** The function's answer, and its requests to the database, for tests of protocols. */
export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** The events, each with its fields that are not null. */
  readonly events: readonly Record<string, unknown>[];
  /** The parameters of each call, without columns. */
  readonly calls: readonly Record<string, unknown>[];
}

export interface Receiving {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: BodyInit;
  /** Headers to send instead of the key in X-API-Key. */
  readonly credentials?: Record<string, string>;
  readonly deploymentId?: string;
  /** The database's answer; by default it accepts everything. */
  readonly database?: (request: PeerRequest, call: number) => Response | undefined;
}

/** The limit of an event in tests. */
export const maxEventBytes = 1_000_000;

/** Sends one request to a path below `ingest`. */
export async function receive(path: string, receiving: Receiving = {}): Promise<Received> {
  const calls: Record<string, unknown>[] = [];
  await using peer = startDatabase((request) => {
    const sent: Record<string, unknown> = JSON.parse(request.body);
    calls.push(sent);
    const answer = receiving.database?.(request, calls.length - 1);
    if (answer !== undefined) return answer;
    if (sent.p_key_digest !== undefined && sent.p_key_digest !== sha256Hex(apiKey)) {
      return Response.json({ code: "PT401", message: "Invalid key" }, { status: 401 });
    }
    if (sent.p_ts === undefined) {
      return Response.json({ authenticated: true, max_event_bytes: maxEventBytes });
    }
    const count = Array.isArray(sent.p_ts) ? sent.p_ts.length : 0;
    const { p_rejected: rejected = 0, p_errors: errors, p_cut: cut } = sent;
    return Response.json({ success: true, ingested: count, rejected, cut, errors });
  });
  await using ingest = startIngest(peer.url, undefined, undefined, receiving.deploymentId);
  const response = await fetch(`${ingest.url}${path}`, {
    method: receiving.method ?? "POST",
    headers: { ...(receiving.credentials ?? { "X-API-Key": apiKey }), ...receiving.headers },
    body: receiving.body,
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text: new TextDecoder().decode(bytes),
    events: calls.flatMap(eventsOf),
    calls: calls.map(({ p_ts, p_key_digest: _, ...call }) => ({
      ...Object.fromEntries(Object.entries(call).filter(([name]) => !isColumn(name))),
      ...Array.isArray(p_ts) && { events: p_ts.length },
    })),
  };
}

function isColumn(name: string): boolean {
  return eventFields.some((field) => field !== "ts" && name === `p_${field}`);
}

/** The events of a call, each with its fields that are not null. */
export function eventsOf(call: Record<string, unknown>): Record<string, unknown>[] {
  if (!Array.isArray(call.p_ts)) return [];
  return call.p_ts.map((_, at) => {
    const event: Record<string, unknown> = {};
    for (const column of eventFields) {
      const values = call[`p_${column}`];
      if (Array.isArray(values) && values[at] !== null) event[column] = values[at];
    }
    return event;
  });
}
