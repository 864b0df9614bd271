import { isObject, type JsonObject } from "./json.ts";

/** The text fields of an event, in the order of their columns. */
export const textFields = [
  "msg",
  "service",
  "env",
  "req_id",
  "user_id",
  "route",
  "host",
] as const;

export type TextField = typeof textFields[number];

export const eventFields: ReadonlySet<string> = new Set(["ts", "level", "attrs", ...textFields]);

type Target = TextField | "ts" | "level" | "trace_id" | "span_id";

/**
 * Names of a field in libraries and protocols, the most important first. A dotted name is a flat key or a path. The
 * field's own name is not listed: it always wins.
 */
const otherNames: Readonly<Record<Target, readonly string[]>> = {
  ts: [
    "@timestamp",
    "timestamp",
    "time",
    "_time",
    "dt",
    "date",
    "eventTime",
    "EdgeStartTimestamp",
    "asctime",
  ],
  level: [
    "severity",
    "status",
    "log.level",
    "severity_text",
    "loglevel",
    "levelname",
    "lvl",
    "@level",
    "PRIORITY",
  ],
  msg: [
    "message",
    "event_message",
    "log",
    "short_message",
    "body",
    "text",
    "line",
    "@message",
    "MESSAGE",
  ],
  service: [
    "service.name",
    "service_name",
    "app",
    "application",
    "projectName",
    "SYSLOG_IDENTIFIER",
    "name",
  ],
  env: ["environment", "deployment.environment.name", "deployment.environment"],
  host: ["hostname", "host.name", "server", "_HOSTNAME"],
  req_id: [
    "request_id",
    "requestId",
    "reqId",
    "req.id",
    "http.request.id",
    "x_request_id",
    "correlation_id",
    "RayID",
  ],
  user_id: ["userId", "user.id", "enduser.id", "usr.id"],
  route: ["http.route", "url.path", "path", "ClientRequestPath", "proxy.path"],
  trace_id: ["trace_id", "traceId", "dd.trace_id", "otelTraceID", "trace.id"],
  span_id: ["span_id", "spanId", "dd.span_id", "otelSpanID"],
};

export interface Name {
  readonly flat: string;
  /** Undefined for a name without dots. */
  readonly path: readonly string[] | undefined;
}

export const namesOf = Object.fromEntries(
  Object.entries(otherNames).map(([target, names]) => [
    target,
    names.map((flat) => ({ flat, path: flat.includes(".") ? flat.split(".") : undefined })),
  ]),
) as unknown as Readonly<Record<Target, readonly Name[]>>;

/** The keys of a field, without its own name. */
export const otherKeys: ReadonlySet<string> = new Set([
  "ddtags",
  ...Object.values(namesOf).flat().flatMap(({ flat, path }) =>
    path === undefined ? [flat] : [flat, path[0]]
  ).filter((key) => !eventFields.has(key)),
]);

/** The value under a name, as a flat key or else as a path. */
export function lookUp(event: JsonObject, { flat, path }: Name): unknown {
  if (Object.hasOwn(event, flat)) return event[flat];
  if (path === undefined) return undefined;
  let value: unknown = event;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** Takes out the value under a name, and objects that become empty. */
export function takeOut(event: JsonObject, { flat, path }: Name): void {
  if (Object.hasOwn(event, flat)) {
    delete event[flat];
    return;
  }
  const within = [event];
  for (const key of path?.slice(0, -1) ?? []) {
    const next = within[within.length - 1][key];
    if (!isObject(next)) return;
    within.push(next);
  }
  for (let at = within.length - 1; at >= 0; at--) {
    delete within[at][(path ?? [flat])[at]];
    if (Object.keys(within[at]).length > 0) return;
  }
}
