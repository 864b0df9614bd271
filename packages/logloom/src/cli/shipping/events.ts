import { aliases } from "../../../../../supabase/functions/_shared/record_fields.ts";

/** The shipper's own name, so that an access log can leave out its requests. */
export const userAgent = "logloom-ship";

/** Fields for events whose lines do not have them. */
export interface Defaults {
  readonly service?: string;
  readonly host?: string;
  readonly env?: string;
}

/**
 * The event of a line, as JSON text. A line with a JSON object is an event and stays unchanged; any other line is a
 * message. Undefined for a blank line. `readAt` is the time of events without one.
 */
export function eventOf(line: string, defaults: Defaults, readAt?: string): string | undefined {
  const trimmed = line.trim();
  if (trimmed === "") return undefined;
  const event = objectIn(trimmed);
  const ts = readAt !== undefined && !(event && hasTime(event)) && { ts: readAt };
  const added = { ...defaults, ...ts };
  if (event === undefined) return JSON.stringify({ ...added, msg: line });
  const missing = Object.entries(added).filter(([field]) => !Object.hasOwn(event, field));
  if (missing.length === 0) return trimmed;
  const head = JSON.stringify(Object.fromEntries(missing)).slice(0, -1);
  const own = trimmed.slice(1).trimStart();
  return own === "}" ? `${head}}` : `${head},${own}`;
}

const timeNames = ["ts", ...aliases.ts];

/** Whether an event has a time of its own, so that the same line is the same event another day. */
export function hasOwnTime(event: string): boolean {
  const members = objectIn(event);
  return members !== undefined && hasTime(members);
}

function hasTime(members: Record<string, unknown>): boolean {
  return timeNames.some((name) => Object.hasOwn(members, name));
}

/** Whether the line reports a request of the shipper: sending it would write the next such line. */
export function isOfShipper(line: string): boolean {
  if (!line.includes(userAgent)) return false;
  const event = objectIn(line.trim());
  if (event === undefined) return new RegExp(`"${userAgent}[^"]*"`).test(line);
  const attrs = typeof event.attrs === "object" && event.attrs !== null ? event.attrs : {};
  const agent = "user_agent" in attrs ? attrs.user_agent : event.user_agent;
  return typeof agent === "string" && agent.startsWith(userAgent);
}

function objectIn(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
