import { isObject, type JsonObject } from "../json.ts";

/** The address of a project's own ingest. */
const ingestPath = /\/functions\/v1\/ingest(?=[/?\s"]|$)/;

/**
 * Whether a project reports a request to its own `ingest`. Each such event would create the next one in a project that
 * drains its logs into itself, so they are left out.
 */
export function isOfIngest(event: JsonObject): boolean {
  if (saysIngest(event.event_message)) return true;
  const metadata = isObject(event.metadata) ? event.metadata : event;
  const request = metadata.request;
  if (isObject(request) && (saysIngest(request.path) || saysIngest(request.url))) return true;
  return saysIngest(event.metadata_request_path) || saysIngest(event.metadata_request_url) ||
    saysIngest(event["request.path"]) || saysIngest(event["request.url"]) ||
    saysIngest(event.request_path) || saysIngest(event.request_url) ||
    saysIngest(event["metadata.request.path"]) || saysIngest(event["metadata.request.url"]);
}

function saysIngest(value: unknown): boolean {
  return typeof value === "string" && value.includes("/ingest") && ingestPath.test(value);
}
