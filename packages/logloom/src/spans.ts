import type { Fields } from "./types.ts";

/** A span that has begun. */
export interface Span {
  /** The fields of everything that is logged in it: `req_id`, `trace_id` and `span_id`. */
  readonly ids: Fields;
  /** Returns the fields of its record. Call it when the span ends. */
  end(): Fields;
}

/** Begins a span. `within` are the fields of where it begins; their `span_id` becomes its parent. */
export function beginSpan(within: Fields): Span {
  const { req_id, span_id: parent_id } = within;
  const trace_id = within.trace_id ?? (isTrace.test(`${req_id}`) ? req_id : randomId(16));
  const ids = { req_id: req_id ?? trace_id, trace_id, span_id: randomId(8) };
  const ts = new Date();
  const began = performance.now();
  return {
    ids,
    end: () => ({
      ...ids,
      ts,
      kind: "span",
      parent_id,
      duration_ms: Math.round(1000 * (performance.now() - began)) / 1000,
    }),
  };
}

const isTrace = /^[\da-f]{32}$/;

/** Hexadecimal digits. Pages over plain HTTP have no randomUUID. */
function randomId(bytes: number): string {
  return Array.from(
    crypto.getRandomValues(new Uint8Array(bytes)),
    (byte) => (byte + 256).toString(16).slice(1),
  ).join("");
}

/** Returns the ids in the header `traceparent`; none if it is not valid. */
export function idsIn(traceparent: string): Fields {
  const [, trace_id, span_id] =
    /^[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-/.exec(traceparent) ?? [];
  return { trace_id, span_id };
}

/** Returns the header `traceparent` for a request that is sent in a span; none outside of spans. */
export function headersOf({ trace_id, span_id }: Fields): Record<string, string> {
  return span_id ? { traceparent: `00-${trace_id}-${span_id}-01` } : {};
}
