import { type Failure, failure, type Result, success } from "../../_shared/errors.ts";
import type { EventCollector } from "../event_collector.ts";
import { ownKeys } from "../field_names.ts";
import { isObject, parseJson } from "../json_reader.ts";
import {
  type Content,
  contentType,
  type Incoming,
  json,
  type Outcome,
  type Protocol,
  type Reading,
  receiver,
} from "../protocol.ts";
import { addLines, invalidJson, isNdjsonType, linesOf, wrappedEvents } from "./ndjson_and_text.ts";

const maxEvents = 10_000;

const emptyBody = "The request body is empty: send a JSON array of log events, or one log event";

const limits = { sentBytes: 512_000, bytes: 512_000 };

/** The native endpoint: JSON, and lines if the content type says so. */
export const native: Protocol = {
  methods: "POST, OPTIONS",
  limits,
  maxEvents,
  statusWithoutCredentials: 400,
  isRepeatKnown: false,
  saysWhatIsStored: true,
  isBeacon: ({ headers }) => contentType(headers) === "text/plain",
  read: readNative,
  refused: refusedNatively,
};

/** NDJSON at the native address: a receiver like the others. */
export const ndjson: Protocol = {
  ...receiver,
  saysWhatIsStored: true,
  statusWithoutCredentials: 400,
  read: ({ query }, content, events) => addLines(content, query, events, reading),
  refused: (_incoming, { status, error }) => json(status, { error }),
};

export function nativeFor({ headers }: Incoming): Protocol {
  return isNdjsonType(contentType(headers)) ? ndjson : native;
}

const reading: Reading = {
  accepted: ({ text }: Outcome) => ({
    status: 200,
    headers: { "Content-Type": "application/json" },
    body: text,
  }),
};

function readNative(incoming: Incoming, content: Content, events: EventCollector): Result<Reading> {
  const { text } = content;
  if (text.trim() === "") return failure(400, emptyBody);
  const parsed = content.parse(text);
  if (parsed !== undefined) {
    const list = listOf(parsed);
    if (!list.ok) return list;
    for (const event of list.value) events.add(event);
    return success(reading);
  }
  if (!holdsLines(contentType(incoming.headers), text)) return failure(400, invalidJson(text));
  const count = [...linesOf(text)].length;
  if (count > maxEvents) return tooMany(count);
  return addLines(content, incoming.query, events, reading);
}

function refusedNatively(_incoming: Incoming, { status, error }: Failure) {
  // At the native endpoint, every unreadable body is a 400.
  return json(status === 415 ? 400 : status, { error });
}

function listOf(body: unknown): Result<readonly unknown[]> {
  const list = Array.isArray(body) ? body : isObject(body) ? logsOf(body) : undefined;
  if (list === undefined) {
    return failure(
      400,
      'Invalid body: expected an array of log events, a log event, or {"logs": [...]}',
    );
  }
  return list.length > maxEvents ? tooMany(list.length) : success(list);
}

function logsOf(body: Record<string, unknown>): readonly unknown[] | undefined {
  const wrapped = wrappedEvents(body);
  if (wrapped !== undefined) return wrapped;
  // Beside other fields of an event, `logs` is an ordinary attribute.
  if (!Object.hasOwn(body, "logs") || Object.keys(body).some((key) => ownKeys.has(key))) {
    return [body];
  }
  const { logs } = body;
  if (Array.isArray(logs)) return logs;
  return isObject(logs) ? [logs] : undefined;
}

function tooMany(count: number): Result<never> {
  return failure(400, `Too many records: ${count} (max ${maxEvents})`);
}

/**
 * Whether a body that is not JSON has one event a line. Broken JSON is refused and not read as lines of text, so that
 * its sender learns about the fault.
 */
function holdsLines(type: string, text: string): boolean {
  const lines = [...linesOf(text)];
  if (type === "application/json") {
    return lines.length > 1 && isObject(parseJson(lines[0]));
  }
  if (type !== "" && type !== "text/plain") return false;
  if (lines.length === 0) return false;
  return !/^\s*(?:\{\s*(?:["}]|$)|\[\s*(?:[[{"\]]|$))/.test(text) || isObject(parseJson(lines[0]));
}
