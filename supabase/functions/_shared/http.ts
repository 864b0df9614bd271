import type { Failure, Notes } from "./errors.ts";

const corsHeaders = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Allow-Headers":
    "authorization, x-client-info, apikey, content-type, content-encoding, x-api-key, idempotency-key",
  "Access-Control-Expose-Headers":
    "allow, retry-after, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset",
};

/** `body` is JSON text, so that the database's answer passes through as it came. */
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

/** Those of the notes that are meant for the client. */
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

export function preflight(allowed: string): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders,
      "Access-Control-Allow-Methods": allowed,
      "Access-Control-Max-Age": "86400",
    },
  });
}
