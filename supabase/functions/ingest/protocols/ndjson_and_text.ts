import { failure, type Result, success } from "../../_shared/errors.ts";
import type { EventCollector } from "../event_collector.ts";
import type { Envelope } from "../event_draft.ts";
import { addMember, isObject, type JsonObject, parseJson, setMember } from "../json_reader.ts";
import { jsonFault } from "../json_fault.ts";
import { levelOf, levelText } from "../levels.ts";
import { endOfString } from "../../_shared/exact_numbers.ts";
import {
  type Content,
  counts,
  errorReply,
  json,
  type Protocol,
  type Reading,
  receiver,
} from "../protocol.ts";
import { isBinary } from "../text_encoding.ts";
import { closingQuote, matchAt } from "../text_scan.ts";
import { accessOf } from "./access_log.ts";
import { headOf } from "./text_line.ts";

/** NDJSON and text: one event a line. */
export const lines: Protocol = {
  ...receiver,
  saysWhatIsStored: true,
  read: ({ query }, content, events) =>
    addLines(content, query, events, { accepted: (outcome) => json(200, counts(outcome)) }),
  refused: errorReply,
};

export function isNdjsonType(type: string): boolean {
  return /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonl|jsonlines|x-jsonlines|json-seq)$/
    .test(type);
}

/** Yields the non-blank lines one by one, because a body of line breaks alone has millions of lines. */
export function* linesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end === -1 ? text.length : end);
    at = end === -1 ? text.length : end + 1;
    if (line.trim() !== "") yield line;
  }
}

/** Adds the events of a text; the query fills fields that lines lack. */
export function addLines(
  content: Content,
  query: URLSearchParams,
  events: EventCollector,
  reading: Reading,
): Result<Reading> {
  const envelope = { defaults: defaultsOf(query) };
  const { text } = content;
  const whole = wholeOf(text, content);
  const add = (event: unknown) => events.add(event, envelope);
  return addAll(text, whole, { content, events, add, envelope, reading });
}

interface Adding {
  readonly content: Content;
  readonly events: EventCollector;
  readonly add: (event: unknown) => void;
  readonly envelope: Envelope;
  readonly reading: Reading;
}

/** Adds the events of a body that is JSON as a whole, or has one event a line. */
function addAll(text: string, whole: unknown, adding: Adding): Result<Reading> {
  const { content, events, add, envelope, reading } = adding;
  if (whole !== undefined) {
    for (const event of Array.isArray(whole) ? whole : [whole]) {
      const wrapped = isObject(event) ? wrappedEvents(event) : undefined;
      for (const one of wrapped ?? [event]) add(one);
    }
    return success(reading);
  }
  if (brokenOver.test(text)) return failure(400, invalidJson(text));
  if (isBinary(text)) {
    return failure(415, "The body is not text. It may be compressed with gzip, deflate or zstd");
  }
  for (const line of linesOf(text)) {
    for (const event of eventsOf(line, content)) {
      if (event === undefined) addText(line, envelope, events);
      else add(event);
    }
  }
  return success(reading);
}

/** Matches a first line that opens JSON without closing it. */
const opens = /^\s*(?:\[\s*\{|[[{](?:.*[[{,])?\s*$)/;

/** A body of JSON over several lines: an array, an object, or objects in a row. */
function wholeOf(text: string, content: Content): unknown {
  const first = linesOf(text).next().value;
  if (first === undefined || !opens.test(first) || content.parse(first) !== undefined) {
    return undefined;
  }
  return content.parse(text) ?? (first.trim()[0] === "{" ? concatenated(text, content) : undefined);
}

/** Matches JSON whose first bracket is on a line of its own. No log begins like this. */
const brokenOver = /^\s*(?:\[[ \t\r]*\n\s*\{|\{[ \t\r]*\n\s*")/;

/** The events of `{"logs": [...]}` or `{"events": [...]}`, if the list has only objects and is the only member. */
export function wrappedEvents(body: JsonObject): JsonObject[] | undefined {
  const list = body.logs ?? body.events;
  if (!Array.isArray(list) || Object.keys(body).length > 1) return undefined;
  return list.every(isObject) ? list : undefined;
}

/** The error text for invalid JSON: the place, the fault, and how to lose only the faulty event. */
export function invalidJson(text: string): string {
  const fault = jsonFault(text);
  if (fault === undefined) return "Invalid JSON";
  const { line, column, why } = fault;
  const isList = /^\s*\[\s*\{/.test(text);
  return `Invalid JSON at line ${line}, column ${column}: ${why}${
    isList
      ? ". No event of the array was stored. As application/x-ndjson, one event a line, only a " +
        "faulty event would be rejected"
      : ""
  }`;
}

/** Adds the events of a body: an array, one object, or one event a line. */
export function addJson(
  content: Content,
  events: EventCollector,
  add: (event: unknown) => void,
  reading: Reading,
  envelope: Envelope = {},
): Result<Reading> {
  const { text } = content;
  const list = /^\s*\[/.test(text) ? content.parse(text) : undefined;
  const whole = Array.isArray(list) ? list : wholeOf(text, content);
  return addAll(text, whole, { content, events, add, envelope, reading });
}

/** Fields from the query, for all events. They are short, because each event gets a copy. */
export function defaultsOf(query: URLSearchParams): Envelope["defaults"] {
  const service = shortParameter(query, "service");
  const host = shortParameter(query, "host") ?? shortParameter(query, "hostname");
  const env = shortParameter(query, "env");
  return { ...service && { service }, ...host && { host }, ...env && { env } };
}

/** A query parameter, cut to 255 characters. */
export function shortParameter(query: URLSearchParams, name: string): string | undefined {
  return query.get(name)?.slice(0, 255) || undefined;
}

/** `logloom ship` reads lines with the same code, but with its own parser and collector. */
type Parser = Pick<Content, "parse">;
type Events = Pick<EventCollector, "add">;

/** Adds the JSON objects of a line as events; any other line is a message. */
export function addLine(line: string, content: Parser, envelope: Envelope, events: Events): void {
  for (const event of eventsOf(line, content)) {
    if (event === undefined) addText(line, envelope, events);
    else events.add(event, envelope);
  }
}

/** The objects of a line; a single undefined if it is text. */
function eventsOf(sent: string, content: Parser): (JsonObject | undefined)[] {
  // A JSON text sequence has a record separator before each text. Concatenated files may each have a byte order mark.
  // deno-lint-ignore no-control-regex
  const line = sent.replace(/^[\x1e\ufeff]+/, "");
  const first = line.trimStart()[0];
  if (first === "{") {
    const value = content.parse(line);
    if (isObject(value)) return wrappedEvents(value) ?? [value];
    const values = concatenated(line, content);
    if (values !== undefined) return values;
  } else if (first === "[") {
    const value = content.parse(line);
    // A whole array on a line, as some drains send it.
    if (Array.isArray(value) && value.every(isObject)) return value;
  }
  return [undefined];
}

/** Consecutive objects, with or without white space between; undefined for anything else. */
export function concatenated(text: string, content: Parser): JsonObject[] | undefined {
  const objects: JsonObject[] = [];
  for (const part of splitObjects(text)) {
    // The whole text was tried before.
    if (part.length === text.length) return undefined;
    const object = content.parse(part);
    if (!isObject(object)) return undefined;
    objects.push(object);
    // One more than allowed is enough to refuse them.
    if (objects.length > receiver.maxEvents) break;
  }
  return objects;
}

const levelsBeside = ["level", "severity", "status"];

/**
 * Parses a text with a JSON object. Its members win over the members of `beside`, whose level is used if the text has
 * none. Undefined for any other text.
 */
export function takenApart(
  text: unknown,
  beside: JsonObject,
  content: Content,
): { readonly members: JsonObject; readonly fallbackLevel?: unknown } | undefined {
  if (typeof text !== "string" || !text.startsWith("{")) return undefined;
  const members = content.parse(text);
  if (!isObject(members)) return undefined;
  const level = levelsBeside.find((name) =>
    levelOf(levelText(beside[name])?.toLowerCase() ?? "") !== null
  );
  for (const key in beside) if (key !== level) addMember(members, key, beside[key]);
  return { members, ...level !== undefined && { fallbackLevel: beside[level] } };
}

/** Splits a text into its objects and the texts between them. */
export function* splitObjects(text: string): Generator<string> {
  const mark = /["{}]/g;
  let depth = 0;
  let start = 0;
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    if (match[0] === '"') {
      mark.lastIndex = endOfString(text, match.index);
    } else if (match[0] === "{") {
      depth++;
    } else if (--depth <= 0) {
      depth = 0;
      yield text.slice(start, mark.lastIndex);
      start = mark.lastIndex;
    }
  }
  const rest = text.slice(start);
  if (rest.trim() !== "") yield rest;
}

/**
 * Adds a line of text. Splits logfmt and access logs into members. Takes time and level from the beginning of other
 * lines.
 */
function addText(line: string, envelope: Envelope, events: Events): void {
  const msg = line.replace(/\r$/, "");
  const members = logfmt(msg);
  if (members !== undefined) {
    if (members.msg === undefined && members.message === undefined) members.msg = msg;
    events.add(members, envelope);
    return;
  }
  const access = accessOf(msg);
  if (access !== undefined) {
    const { ts, level } = access;
    events.add({ ...access.members, msg }, { ...envelope, ts, ...level && { level } });
    return;
  }
  const { ts, ...level } = headOf(msg);
  events.add({ msg }, { ...envelope, ...ts !== undefined && { ts }, ...level });
}

const pairName = /[A-Za-z_@][\w.@/-]*=/y;
const plainValue = /[^\s"]*/y;
const betweenPairs = /\s+|$/y;

/** A line with more pairs stays text. */
const maxPairs = 1000;

/** The members of a line of at least two `key=value` pairs; undefined for any other line. */
function logfmt(line: string): JsonObject | undefined {
  const members: JsonObject = {};
  let count = 0;
  for (let at = 0; at < line.length; count++) {
    const name = matchAt(pairName, line, at);
    if (name === undefined || count === maxPairs) return undefined;
    at += name.length;
    const end = line[at] === '"' ? closingQuote(line, at) + 1 : -1;
    const value = end > 0 ? line.slice(at, end) : matchAt(plainValue, line, at) ?? "";
    at += value.length;
    const between = matchAt(betweenPairs, line, at);
    if (between === undefined) return undefined;
    at += between.length;
    setMember(members, name.slice(0, -1), end > 0 ? parseJson(value) ?? value : value);
  }
  return count >= 2 ? members : undefined;
}
