import type { EventCollector } from "../event_collector.ts";
import type { Envelope } from "../event_draft.ts";
import { isObject, type JsonObject, jsonTextOf, scalarText } from "../json_reader.ts";
import { levelOfStatus } from "../levels.ts";

/**
 * Adds a trace event of Cloudflare Workers. The invocation becomes an event, and so do each of its logs and exceptions.
 * https://developers.cloudflare.com/logs/logpush/logpush-job/datasets/account/workers_trace_events/
 */
export function addInvocation(
  { Logs: logs, Exceptions: exceptions, ...invocation }: JsonObject,
  envelope: Envelope,
  events: EventCollector,
): void {
  const { ScriptName, Outcome, EventType, EventTimestampMs: ts } = invocation;
  const event = isObject(invocation.Event) ? invocation.Event : {};
  const request = isObject(event.Request) ? event.Request : {};
  const response = isObject(event.Response) ? event.Response : {};
  const [url, method, status] = [request.URL, request.Method, response.Status].map(scalarText);
  const requestId = scalarText(event.RayID);
  const route = pathOf(url);
  const service = scalarText(ScriptName);
  const shared: Envelope = {
    ...envelope,
    defaults: {
      ...service && { service },
      ...requestId && { req_id: requestId },
      ...route && { route },
      ...envelope.defaults,
    },
  };
  const failed = Outcome !== "ok" && Outcome !== "canceled";
  const words = [method, url ?? EventType, status, failed ? Outcome : undefined];
  events.add(invocation, {
    ...shared,
    ts,
    msg: words.map(scalarText).filter((word) => word !== undefined).join(" "),
    level: failed ? "error" : levelOfStatus(status) ?? "info",
  });
  for (const log of listOf(logs)) {
    const { TimestampMs, Level, Message, ...rest } = log;
    events.add(rest, {
      ...shared,
      ts: TimestampMs ?? ts,
      msg: textOfLogged(Message),
      fallbackLevel: Level,
    });
  }
  for (const exception of listOf(exceptions)) {
    const { TimestampMs, Name, Message, ...rest } = exception;
    const said = [Name, Message].map(scalarText).filter((word) => word);
    events.add(rest, { ...shared, ts: TimestampMs ?? ts, msg: said.join(": "), level: "error" });
  }
}

function listOf(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.map((one) => isObject(one) ? one : { Message: one });
}

/** The arguments of a call of console.log. */
function textOfLogged(message: unknown): string {
  const parts = Array.isArray(message) ? message : [message ?? ""];
  return parts.map((part) => scalarText(part) ?? jsonTextOf(part)).join(" ");
}

function pathOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).pathname : undefined;
}
