import { contentType, type Incoming } from "./protocol.ts";

/** The parameters that protocols read. Others may differ in a repeat (`now`, `dd-request-id`). */
const parameterNames = [
  "ddtags",
  "env",
  "host",
  "hostname",
  "service",
  "tags",
  "timestamp-field",
  "vercel_verify",
];

/** Protocols get these alone: what makes a record cannot be missing where repeats are recognised. */
export function readParameters(query: URLSearchParams): URLSearchParams {
  const read = new URLSearchParams();
  for (const name of parameterNames) {
    const value = query.get(name);
    if (value !== null) read.set(name, value);
  }
  return read;
}

/**
 * What the records of a request are made of, its body aside; empty for JSON at the native address. A key in the path is
 * left out, since a repeat may come with a new one.
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
