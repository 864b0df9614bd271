import type { Fields } from "./types.ts";

/** A span that has begun. */
export interface Span {
  /** The fields of everything that is logged in it: `req_id`, `trace_id`, `span_id` and, if it is not sampled, `trace_flags`. */
  readonly ids: Fields;
  /** Returns the fields of its record. Call it when the span ends. */
  end(): Fields;
}

/** Begins a span. `within` are the fields of where it begins; their `span_id` becomes its parent. */
export function beginSpan(within: Fields): Span {
  const { req_id, trace_flags } = within;
  const parent_id = idOf(within.span_id, 16);
  const trace_id = idOf(within.trace_id, 32) ?? idOf(req_id, 32) ?? randomId(16);
  const ids = { req_id: req_id ?? trace_id, trace_id, span_id: randomId(8), trace_flags };
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

/** Returns an id of this many hexadecimal digits; undefined for any other value and for zeros. */
function idOf(value: unknown, digits: number): string | undefined {
  const isId = typeof value === "string" && value.length === digits &&
    /^(?!0*$)[\da-f]+$/.test(value);
  return isId ? value : undefined;
}

/** Hexadecimal digits. Pages over plain HTTP have no randomUUID. */
function randomId(bytes: number): string {
  return Array.from(
    crypto.getRandomValues(new Uint8Array(bytes)),
    (byte) => (byte + 256).toString(16).slice(1),
  ).join("");
}

/** Returns the ids in the header `traceparent`; none if it is not valid. Only later versions than 00 may have more parts. */
export function idsIn(traceparent: string): Fields {
  const [, trace_id, span_id, flags = "01"] =
    /^(?:00(?=.{53}$)|(?!00|ff)[\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?![^-])/
      .exec(traceparent) ?? [];
  // The last bit says whether the caller samples the trace.
  return { trace_id, span_id, trace_flags: Number(`0x${flags}`) & 1 ? undefined : "00" };
}

/** Returns the header `traceparent` for a request that is sent in a span; none outside of spans. */
export function headersOf(within: Fields): Record<string, string> {
  const [trace, span] = [idOf(within.trace_id, 32), idOf(within.span_id, 16)];
  const flags = within.trace_flags === "00" ? "00" : "01";
  return trace && span ? { traceparent: `00-${trace}-${span}-${flags}` } : {};
}
