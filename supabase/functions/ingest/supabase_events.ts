import type { Envelope } from "./event_draft.ts";
import { addMember, isObject, type JsonObject, scalarText } from "./json_reader.ts";
import { levelOfStatus } from "./levels.ts";

/** The members that we read from an event: https://supabase.com/docs/guides/telemetry/logs. */
const names = {
  agent: ["metadata.request.headers.user_agent"],
  backend: ["metadata.parsed.backend_type"],
  functionId: ["metadata.function_id"],
  level: ["metadata.level", "metadata.parsed.error_severity"],
  // Requests to functions have `pathname`.
  path: ["metadata.request.path", "metadata.request.pathname"],
  project: ["project", "metadata.project_ref", "metadata.project"],
  sqlState: ["metadata.parsed.sql_state_code"],
  status: ["metadata.response.status_code"],
  traceId: ["trace_id", "metadata.trace_id", "metadata.otel_trace_id", "metadata.req.traceId"],
  user: ["metadata.user_id", "metadata.request.sb.auth_user", "metadata.auth_event.actor_id"],
};

const formsOf = new Map(
  Object.entries(names).map(([fact, flats]) => [
    fact,
    flats.map((flat) => ({ flat, path: flat.split("."), label: flat.replaceAll(".", "_") })),
  ]),
);

/** A member of an event of Supabase's drains: nested, or flattened by the OTLP or Loki drain. */
export function said(event: JsonObject, fact: keyof typeof names): string | undefined {
  const isNested = isObject(event.metadata);
  for (const { flat, path, label } of formsOf.get(fact) ?? []) {
    const value = isNested ? memberAt(event, path) : event[flat] ?? event[label];
    const text = scalarText(value);
    if (text !== undefined && text !== "") return text;
  }
  return undefined;
}

function memberAt(event: JsonObject, path: readonly string[]): unknown {
  let value: unknown = event;
  for (const key of path) {
    if (!isObject(value)) return undefined;
    value = value[key];
  }
  return value;
}

/** Level and service of an event of Supabase's drains. Adds its request id and route to the event's members. */
export function supabaseEnvelope(event: JsonObject): Pick<Envelope, "fallbackLevel" | "defaults"> {
  const sqlState = said(event, "sqlState");
  if (sqlState !== undefined) addMember(event, "sql_state_code", sqlState);
  // Uses the trace id, because other programs log it, too. The gateway's request id is only in the gateway's lines.
  const traceId = said(event, "traceId");
  if (traceId !== undefined) addMember(event, "req_id", traceId);
  return {
    fallbackLevel: said(event, "level") ?? levelOfStatus(said(event, "status")),
    defaults: {
      service: serviceOf(event),
      user_id: said(event, "user"),
      route: said(event, "path"),
    },
  };
}

/** Supabase's services, each by a member that only it has. */
const services = Object.entries({
  parsed: "postgres",
  function_id: "functions",
  project_ref: "functions",
  tenantId: "storage",
  external_id: "realtime",
  request: "edge",
  auth_event: "auth",
  auth_audit_event: "auth",
  component: "auth",
  msg: "auth",
});

/** The service of an event of the webhook drain, which does not name it. */
function serviceOf({ metadata }: JsonObject): string | undefined {
  if (!isObject(metadata)) return undefined;
  // Realtime and the pooler.
  if (isObject(metadata.context) && typeof metadata.context.application === "string") {
    return metadata.context.application;
  }
  for (const [member, service] of services) {
    if (Object.hasOwn(metadata, member)) return service;
  }
}
