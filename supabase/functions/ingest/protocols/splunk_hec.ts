import { type Result, success } from "../../_shared/errors.ts";
import type { EventCollector } from "../event_collector.ts";
import { addMember, isObject, type JsonObject, scalarText } from "../json_reader.ts";
import {
  type Content,
  type EventFailure,
  explained,
  type Incoming,
  json,
  missingCredentials,
  type Protocol,
  type Reading,
  receiver,
  type Reply,
} from "../protocol.ts";
import { isBinary } from "../text_encoding.ts";
import {
  addLine,
  defaultsOf,
  linesOf,
  shortParameter,
  splitObjects,
  takenApart,
} from "./ndjson_and_text.ts";

/** Splunk's HTTP Event Collector: objects one after another, or raw lines. */
export const hec: Protocol = {
  ...receiver,
  greet({ method, path }) {
    const isRead = method === "GET" || method === "HEAD";
    if (isRead && /\/health(?:\/1\.0)?$/.test(path)) {
      return json(200, { text: "HEC is healthy", code: 17 });
    }
    return path.endsWith("/ack") && method !== "OPTIONS"
      ? json(400, { text: "ACK is disabled", code: 14 })
      : undefined;
  },
  read: readHec,
  refused,
};

/** Answers as Splunk does. An error names the first faulty event. */
const reading: Reading = {
  accepted: ({ errors: [first] }) =>
    json(200, {
      text: "Success",
      code: 0,
      ...first !== undefined && { "invalid-event-number": first.index },
    }),
};

function readHec(
  { path, query }: Incoming,
  content: Content,
  events: EventCollector,
): Result<Reading> {
  const fault = /\/raw(?:\/1\.0)?$/.test(path)
    ? readRaw(query, content, events)
    : readObjects(content, events);
  return fault === undefined ? success(reading) : { ok: false, failure: fault };
}

/** A failure with one of Splunk's codes. */
interface HecFailure extends EventFailure {
  readonly code: number;
}

const noData: HecFailure = { status: 400, error: "No data", code: 5 };

function readRaw(
  query: URLSearchParams,
  content: Content,
  events: EventCollector,
): HecFailure | undefined {
  const envelope = { defaults: defaultsOf(query) };
  if (isBinary(content.text)) return invalid;
  const metadata = ["source", "sourcetype", "index"]
    .map((name) => [name, shortParameter(query, name)] as const);
  const described: Pick<EventCollector, "add"> = {
    add(event, envelope) {
      for (const [name, value] of metadata) {
        if (value !== undefined && isObject(event) && !Object.hasOwn(event, name)) {
          addMember(event, name, value);
        }
      }
      events.add(event, envelope);
    },
  };
  for (const line of linesOf(content.text)) addLine(line, content, envelope, described);
  return events.count === 0 ? noData : undefined;
}

function readObjects(content: Content, events: EventCollector): HecFailure | undefined {
  let fault: HecFailure | undefined;
  for (const part of valuesIn(content.text)) {
    const value = content.parse(part);
    const event = events.count;
    const found = isObject(value) ? addEvent(value, content, events) : invalid;
    if (found === undefined) continue;
    fault ??= { ...found, event };
    events.reject("invalid_event", found.error);
  }
  if (events.count === 0) return noData;
  // Readable events are stored: the sender would not send them again.
  return events.count === events.rejected ? fault : undefined;
}

/** The objects of a body, with or without an array and commas around them. Other text is a value of its own. */
function* valuesIn(text: string): Generator<string> {
  for (const part of splitObjects(text)) {
    const start = part.indexOf("{");
    const before = (start === -1 ? part : part.slice(0, start)).replace(/[\s,[\]]+/g, " ").trim();
    if (before !== "") yield before;
    if (start !== -1) yield part.slice(start);
  }
}

const invalid: HecFailure = { status: 400, error: "Invalid data format", code: 6 };

function addEvent(
  sent: JsonObject,
  content: Content,
  events: EventCollector,
): HecFailure | undefined {
  const { time, host, event, fields, ...beside } = sent;
  if (event === undefined || event === null) {
    return { status: 400, error: "Event field is required", code: 12 };
  }
  if (event === "") return { status: 400, error: "Event field cannot be blank", code: 13 };
  if (fields !== undefined && fields !== null && !isObject(fields)) {
    return { status: 400, error: "Error in handling indexed fields", code: 15 };
  }
  const apart = isObject(event) ? flattened(event) : takenApart(event, {}, content)?.members;
  const members = apart ?? {};
  if (isObject(fields)) { for (const key in fields) addMember(members, key, fields[key]); }
  for (const key in beside) if (beside[key] !== null) addMember(members, key, beside[key]);
  const hostName = scalarText(host);
  events.add(members, {
    ...time !== undefined && time !== null && { ts: time },
    ...apart === undefined && { msg: event },
    ...hostName !== undefined && { defaults: { host: hostName } },
  });
  return undefined;
}

/** Splunk's own library puts the logged value into `message`, beside its severity. */
function flattened(event: JsonObject): JsonObject {
  const { message, ...rest } = event;
  if (!isObject(message)) return event;
  for (const key in rest) addMember(message, key, rest[key]);
  return message;
}

function refused(_incoming: Incoming, failure: EventFailure & { code?: number }): Reply {
  const { status, error, refusal, code, event } = failure;
  // Splunk's text, and the cause.
  const said = (error: string) => explained({ status, error, refusal });
  if (error === missingCredentials) return json(401, { text: said("Token is required"), code: 2 });
  if (status === 401) return json(403, { text: said("Invalid token"), code: 4 });
  if (status === 503) return json(503, { text: "Server is busy", code: 9 });
  return json(status, {
    text: error,
    code: code ?? (status === 429 ? 9 : 6),
    ...event !== undefined && { "invalid-event-number": event },
  });
}
