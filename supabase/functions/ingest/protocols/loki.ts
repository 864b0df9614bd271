import { PbfReader } from "pbf";
import { failure, type Result, success } from "../../_shared/errors.ts";
import type { Bytes } from "../unpacked_bytes.ts";
import type { EventCollector } from "../event_collector.ts";
import {
  addMember,
  isObject,
  type JsonObject,
  jsonTextOf,
  scalarText,
  setMember,
} from "../json_reader.ts";
import {
  type Content,
  contentType,
  explained,
  type Incoming,
  json,
  plain,
  type Protocol,
  type Reading,
  receiver,
} from "../protocol.ts";
import { closingQuote, matchAt } from "../text_scan.ts";
import { MalformedSnappy, SnappyTooLong, unsnappy } from "../snappy.ts";
import { supabaseEnvelope } from "../supabase_events.ts";
import {
  delimited,
  eachField,
  endOf,
  isMalformed,
  MalformedProtobuf,
  readText,
} from "./protobuf.ts";

/** Loki's push: https://grafana.com/docs/loki/latest/reference/loki-http-api/#ingest-logs. */
export const loki: Protocol = {
  ...receiver,
  limits: { ...receiver.limits, takesSnappy: true },
  read: readLoki,
  refused: (_incoming, failure) => plain(failure.status, explained(failure)),
};

/** Answers a probe of Grafana and the agents. */
export const lokiStatus: Protocol = {
  ...loki,
  methods: "GET, HEAD, OPTIONS",
  greet({ method, path }) {
    if (method !== "GET" && method !== "HEAD") return undefined;
    return path.endsWith("/ready")
      ? plain(200, "ready\n")
      : json(200, { status: "success", data: [] });
  },
};

const limit = receiver.limits.bytes;

const reading: Reading = { accepted: () => ({ status: 204 }) };

function readLoki(
  { headers }: Incoming,
  content: Content,
  events: EventCollector,
): Result<Reading> {
  const type = contentType(headers);
  const isJson = type === "application/json" || (type === "" && content.bytes[0] === 0x7b);
  try {
    if (isJson) readJson(content, events);
    else new PushReader(unsnappy(content.bytes, limit), content, events).read();
  } catch (error) {
    if (error instanceof SnappyTooLong) {
      return failure(413, `Request body too large: ${error.bytes} bytes (max ${limit})`);
    }
    const isFault = error instanceof MalformedPush || error instanceof MalformedSnappy ||
      (!isJson && isMalformed(error));
    if (!isFault) throw error;
    return failure(400, "The body is not a Loki push request");
  }
  return success(reading);
}

class MalformedPush extends Error {}

function readJson(content: Content, events: EventCollector): void {
  const request = content.parse(content.text);
  if (!isObject(request) || !Array.isArray(request.streams)) throw new MalformedPush();
  for (const stream of request.streams) {
    if (!isObject(stream) || !Array.isArray(stream.values)) throw new MalformedPush();
    const labels = labelsOf(isObject(stream.stream) ? stream.stream : {});
    for (const entry of stream.values) {
      if (!Array.isArray(entry)) throw new MalformedPush();
      const [time, line, metadata] = entry;
      addEntry(labels, isObject(metadata) ? metadata : {}, time, line, content, events);
    }
  }
}

/** The most labels and metadata of a request. Each takes a few bytes in the body, but far more in memory. */
const maxPairs = 400_000;

/** Reads a PushRequest of loki/pkg/push/push.proto. */
class PushReader {
  readonly #pbf: PbfReader;
  readonly #content: Content;
  readonly #events: EventCollector;
  #pairs = 0;

  constructor(bytes: Bytes, content: Content, events: EventCollector) {
    this.#pbf = new PbfReader(bytes);
    this.#content = content;
    this.#events = events;
  }

  read(): void {
    const pbf = this.#pbf;
    eachField(pbf, pbf.length, (field) => {
      if (field === 1 && pbf.type === delimited) this.#readStream(endOf(pbf, pbf.length));
    });
  }

  #readStream(end: number): void {
    const pbf = this.#pbf;
    // All writers put the labels before the entries.
    let labels = labelsOf({});
    eachField(pbf, end, (field) => {
      if (pbf.type !== delimited) return;
      if (field === 1) labels = labelsOf(parseLabels(readText(pbf, end)));
      else if (field === 2) this.#readEntry(endOf(pbf, end), labels);
    });
  }

  #readEntry(end: number, labels: Labels): void {
    const pbf = this.#pbf;
    let time: string | undefined;
    let line = "";
    const metadata: JsonObject = {};
    eachField(pbf, end, (field) => {
      if (pbf.type !== delimited) return;
      if (field === 1) time = readTimestamp(pbf, endOf(pbf, end));
      else if (field === 2) line = readText(pbf, end);
      else if (field === 3) this.#readPair(endOf(pbf, end), metadata);
    });
    addEntry(labels, metadata, time, line, this.#content, this.#events);
  }

  #readPair(end: number, into: JsonObject): void {
    const pbf = this.#pbf;
    if (++this.#pairs > maxPairs) throw new MalformedProtobuf();
    let name = "";
    let value = "";
    eachField(pbf, end, (field) => {
      if (pbf.type !== delimited) return;
      if (field === 1) name = readText(pbf, end);
      else if (field === 2) value = readText(pbf, end);
    });
    setMember(into, name, value);
  }
}

/** A google.protobuf.Timestamp in nanoseconds. */
function readTimestamp(pbf: PbfReader, end: number): string {
  let seconds = 0;
  let nanos = 0;
  eachField(pbf, end, (field) => {
    if (pbf.type !== 0) return;
    if (field === 1) seconds = pbf.readVarint(true);
    else if (field === 2) nanos = pbf.readVarint(true);
  });
  return `${seconds}${String(nanos).padStart(9, "0")}`;
}

const labelName = /[A-Za-z_][\w.:-]*/g;
const labelSign = /\s*=\s*"/y;

/**
 * Reads `{level="error",app="shop"}`, with Go's escapes in values. A part that is not a label is skipped as a whole:
 * trying again at each of its letters would read a long one many times.
 */
export function parseLabels(text: string): JsonObject {
  const labels: JsonObject = {};
  let count = 0;
  labelName.lastIndex = 0;
  for (let name = labelName.exec(text); name !== null; name = labelName.exec(text)) {
    const at = labelName.lastIndex;
    const sign = matchAt(labelSign, text, at);
    if (sign === undefined) continue;
    const start = at + sign.length;
    const end = closingQuote(text, start - 1);
    if (end === -1) break;
    if (++count > maxLabels) throw new MalformedPush();
    setMember(labels, name[0], unescaped(text.slice(start, end)));
    labelName.lastIndex = end + 1;
  }
  return labels;
}

/** Far more than Loki accepts. */
const maxLabels = 1000;

const goEscapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|(.))/gs,
    (_, hex, short, long, octal, letter) => {
      if (letter !== undefined) return goEscapes[letter] ?? letter;
      const code = octal === undefined
        ? Number.parseInt(hex ?? short ?? long, 16)
        : Number.parseInt(octal, 8);
      return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
    },
  );
}

/** Labels and metadata that fill a field. The first one that an entry has counts. */
const labelFields = {
  service: ["service_name", "service", "app", "application", "job", "container"],
  host: ["host", "hostname", "node", "instance"],
  env: ["env", "environment"],
} as const;
const labelLevels = ["level", "detected_level", "severity"];

interface Labels {
  readonly members: JsonObject;
  readonly isOfSupabase: boolean;
  readonly sharedBytes: number;
}

function labelsOf(members: JsonObject): Labels {
  if (Object.keys(members).length > maxLabels) throw new MalformedPush();
  return {
    members,
    // Supabase's own drain.
    isOfSupabase: members.source === "supabase",
    sharedBytes: jsonTextOf(members).length,
  };
}

/** Adds an entry. Members of the line win over its metadata, and metadata over the stream's labels. */
function addEntry(
  labels: Labels,
  metadata: JsonObject,
  time: unknown,
  line: unknown,
  content: Content,
  events: EventCollector,
): void {
  const parsed = typeof line === "string" && line.startsWith("{") ? content.parse(line) : undefined;
  const isEvent = isObject(parsed);
  // Checked before the labels are copied, so that skipping is cheap.
  if (labels.isOfSupabase && events.leaveOutOwn(metadata, line)) return;
  const told = labels.isOfSupabase ? supabaseEnvelope(metadata) : undefined;
  const around = metadata;
  for (const key in labels.members) addMember(around, key, labels.members[key]);
  const defaults: Record<string, string | undefined> = { ...told?.defaults };
  for (const [field, names] of Object.entries(labelFields)) {
    const name = names.find((key) => Object.hasOwn(around, key) && scalarText(around[key]));
    if (name === undefined) continue;
    defaults[field] = scalarText(around[name]) ?? "";
    delete around[name];
  }
  const level = labelLevels.find((key) => Object.hasOwn(around, key));
  const fallbackLevel = level === undefined ? told?.fallbackLevel : around[level];
  if (level !== undefined) delete around[level];

  const members = isEvent ? parsed : around;
  if (isEvent) { for (const key in around) addMember(parsed, key, around[key]); }
  events.add(members, {
    ts: time,
    ...!isEvent && { msg: line },
    defaults,
    ...fallbackLevel !== undefined && { fallbackLevel },
    sharedBytes: labels.sharedBytes,
  });
}
