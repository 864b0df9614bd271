import { Draft, type Envelope } from "../../../../../supabase/functions/ingest/event_draft.ts";
import {
  isObject,
  type JsonObject,
  jsonTextOf,
  parseJson,
} from "../../../../../supabase/functions/ingest/json_reader.ts";
import {
  addLine,
  wrappedEvents,
} from "../../../../../supabase/functions/ingest/protocols/ndjson_and_text.ts";
import { textFields } from "../../../../../supabase/functions/_shared/record_fields.ts";

/** The shipper's User-Agent, so that an access log can leave out its requests. */
export const userAgent = "logloom-ship";

/** Fields for events whose lines do not have them. */
export interface Defaults {
  readonly service?: string;
  readonly host?: string;
  readonly env?: string;
}

/** An event as JSON text. */
export interface LineEvent {
  readonly json: string;
  /** Whether the line has a time of its own. Then the same line gives the same event on another day. */
  readonly hasOwnTime: boolean;
}

/**
 * Returns the events of a line, with the code that the service uses at `/ingest/lines`. A line with one JSON object
 * stays unchanged. `readAt` is the time of events without one.
 */
export function eventsOf(line: string, defaults: Defaults, readAt?: string): LineEvent[] {
  const trimmed = line.trim();
  if (trimmed === "") return [];
  const object = trimmed.startsWith("{") ? parseJson(trimmed) : undefined;
  if (isObject(object) && wrappedEvents(object) === undefined) {
    return [completed(object, trimmed, defaults, readAt)];
  }
  const events: LineEvent[] = [];
  addLine(line, { parse: parseJson }, {}, {
    add(members, envelope = {}) {
      if (!isObject(members)) return;
      const event = nativeEvent(members, envelope);
      events.push(completed(event, jsonTextOf(event), defaults, readAt));
    },
  });
  return events;
}

/** Returns an event for the native endpoint that has the same fields as the line would have at a receiver. */
function nativeEvent(members: JsonObject, { ts, level, originalLevel }: Envelope): JsonObject {
  return {
    ...members,
    ...ts !== undefined && { ts },
    ...level && { level: originalLevel ?? level },
  };
}

/** Adds the fields that the event lacks before its members. `json` is the event's text. */
function completed(
  event: JsonObject,
  json: string,
  defaults: Defaults,
  readAt: string | undefined,
): LineEvent {
  const draft = new Draft(event, {});
  const hasOwnTime = draft.ts !== null;
  const missing = Object.entries(defaults).filter(([field]) =>
    draft.texts[textFields.findIndex((name) => name === field)] === null
  );
  if (readAt !== undefined && !hasOwnTime) missing.push(["ts", readAt]);
  const added = missing.filter(([field]) => !Object.hasOwn(event, field));
  if (added.length === 0) return { json, hasOwnTime };
  const head = JSON.stringify(Object.fromEntries(added)).slice(0, -1);
  const own = json.slice(1).trimStart();
  return { json: own === "}" ? `${head}}` : `${head},${own}`, hasOwnTime };
}

/** Whether the line reports a request of the shipper itself. Sending such a line would cause the next one. */
export function isOfShipper(line: string): boolean {
  if (!line.includes(userAgent)) return false;
  const event = objectIn(line.trim());
  if (event === undefined) return new RegExp(`"${userAgent}[^"]*"`).test(line);
  const attrs = typeof event.attrs === "object" && event.attrs !== null ? event.attrs : {};
  const agent = "user_agent" in attrs ? attrs.user_agent : event.user_agent;
  return typeof agent === "string" && agent.startsWith(userAgent);
}

function objectIn(text: string): JsonObject | undefined {
  const value = text.startsWith("{") ? parseJson(text) : undefined;
  return isObject(value) ? value : undefined;
}
