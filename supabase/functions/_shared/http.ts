import type { Failure, Notes } from "./errors.ts";

/** Headers that browsers send: supabase-js, tracing, and senders of other services. */
const allowedHeaders = [
  "authorization",
  "x-client-info",
  "apikey",
  "content-type",
  "content-encoding",
  "x-api-key",
  "x-logloom-origin",
  "idempotency-key",
  "x-region",
  "x-retry-count",
  "x-supabase-api-version",
  "traceparent",
  "tracestate",
  "baggage",
  "dd-api-key",
  "x-requested-with",
  "mcp-protocol-version",
  "mcp-session-id",
  "last-event-id",
].join(", ");

export const corsHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers": allowedHeaders,
  "Access-Control-Expose-Headers":
    "allow, retry-after, www-authenticate, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, mcp-session-id, mcp-protocol-version",
};

/** The header WWW-Authenticate, with the fault of the credentials in the form of RFC 6750. */
export function challenge(isMissing: boolean, refusal: string | undefined): string {
  const said = refusal?.replace(/["\\]/g, "'").replace(/[^ -~]/g, "?");
  return [
    'Bearer realm="logloom"',
    ...isMissing ? [] : ['error="invalid_token"'],
    ...said === undefined ? [] : [`error_description="${said}"`],
  ].join(", ");
}

/** `body` is JSON text, so the database's answer passes unchanged. */
export function jsonText(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(body, {
    status,
    headers: { ...corsHeaders, "Content-Type": "application/json", ...headers },
  });
}

const limitHeaders = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];

/** The notes that the client gets, as headers. */
export function clientHeaders(notes: Notes = {}): Record<string, string> {
  return Object.fromEntries(
    limitHeaders.map((name) => [name, notes[name.toLowerCase()]])
      .filter(([, value]) => value !== undefined),
  );
}

export function failureResponse({ status, error, retryAfter, notes }: Failure): Response {
  const headers = clientHeaders(notes);
  if (retryAfter !== undefined) headers["Retry-After"] = retryAfter;
  return jsonText(status, JSON.stringify({ error }), headers);
}

export function methodNotAllowed(method: string, allowed: string): Response {
  return jsonText(405, JSON.stringify({ error: `Method not allowed: ${method}` }), {
    Allow: allowed,
  });
}

/** `wanted`: the headers that the browser asks for. All are allowed, because no header alone gives access. */
export function preflight(allowed: string, wanted: string | null = null): Response {
  const isNames = wanted !== null && wanted.length <= 2000 &&
    /^[\w!#$%&'*+.^`|~, -]+$/.test(wanted);
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders,
      ...isNames && { "Access-Control-Allow-Headers": `${allowedHeaders}, ${wanted}` },
      "Access-Control-Allow-Methods": allowed,
      "Access-Control-Max-Age": "86400",
    },
  });
}
