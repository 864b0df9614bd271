import { contentType, type Incoming } from "./protocol.ts";

/** The query parameters that protocols read. Others may differ in a repeat (`now`, `dd-request-id`). */
const parameterNames = [
  "ddtags",
  "env",
  "host",
  "hostname",
  "index",
  "key_id",
  "service",
  "source",
  "sourcetype",
  "tags",
  "timestamp-field",
  "vercel_verify",
];

/** The only parameters that protocols get, so that the digest of a repeat covers everything that makes a record. */
export function readParameters(query: URLSearchParams): URLSearchParams {
  const read = new URLSearchParams();
  for (const name of parameterNames) {
    const value = query.get(name);
    if (value !== null) read.set(name, value);
  }
  return read;
}

/**
 * Returns the parts of a request other than its body that decide its records. A digest of these parts and the body
 * recognises a repeat. Empty for JSON at the native endpoint. A key in the path is left out, because a repeat may have
 * a new key.
 */
export function besideBody({ path, query, headers }: Incoming, ownKey: string | undefined): string {
  const type = contentType(headers);
  const said = [
    path.replace(ownKey ?? "", ""),
    String(query),
    type === "application/json" ? "" : type,
    headers.get("Logloom-Stream-Hops") ?? "",
    headers.get("X-Logloom-Tenant") ?? "",
  ];
  return said.every((part) => part === "") ? "" : JSON.stringify(said);
}
