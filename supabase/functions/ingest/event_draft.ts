import { type TextField, textFields } from "../_shared/record_fields.ts";
import { lookUp, namesOf, otherKeys, ownKeys, takeOut } from "./field_names.ts";
import { addMember, isObject, type JsonObject, jsonTextOf, scalarText } from "./json_reader.ts";
import { type Level, levelOf, levelOfLetter, levelText, syslogLevelOf } from "./levels.ts";
import { isCutShort, isoOf } from "./timestamps.ts";

export type Text = string | null;

/** Facts from the protocol, in addition to the event's own members. */
export interface Envelope {
  /** Wins over the members. */
  readonly ts?: unknown;
  /** The level as the sender wrote it; `level` represents it. */
  readonly originalLevel?: string;
  readonly level?: Level | null;
  readonly msg?: unknown;
  /** Wins over the members. */
  readonly reqId?: string;
  /** Defaults for fields that the members lack. */
  readonly defaults?: Readonly<Partial<Record<TextField, string>>>;
  /** Used if the members have no level. */
  readonly fallbackLevel?: unknown;
  /** The approximate number of bytes that the event shares with other events of its request. */
  readonly sharedBytes?: number;
  /** Numbers from 0 to 7 are syslog severities. */
  readonly isSyslog?: boolean;
}

/** Turns an event into a record: fields found, the rest in `attrs`. Never throws. */
export class Draft {
  ts: Text = null;
  level: Text = null;
  readonly texts: Text[] = [];
  attrs: JsonObject | null;
  /** The member that gave `ts`, if its name may mean something else. */
  guessed: JsonObject | undefined;

  readonly #event: JsonObject;
  /** The `ts` and `level` as sent. They are kept if their columns cannot hold them exactly. */
  #originalTs: unknown = null;
  #originalLevel: unknown = null;

  constructor(event: JsonObject, envelope: Envelope) {
    this.#event = event;
    const sentAttrs = event.attrs ?? null;
    this.attrs = isObject(sentAttrs) ? sentAttrs : null;
    let hasOtherNames = false;
    for (const key in event) {
      if (ownKeys.has(key)) continue;
      if (otherKeys.has(key)) hasOtherNames = true;
      else this.#addAttr(key, event[key]);
    }

    this.#readTs(envelope);
    this.#readLevel(envelope);
    for (const field of textFields) this.texts.push(this.#ownText(field));
    if (envelope.msg !== undefined) {
      if (this.texts[0] !== null) this.#addAttr("msg", event.msg);
      this.texts[0] = textOf(envelope.msg);
    }
    if (envelope.reqId !== undefined) {
      if (this.texts[reqIdColumn] !== null) this.#addAttr("req_id", event.req_id);
      this.texts[reqIdColumn] = envelope.reqId;
    }
    if (hasOtherNames) this.#takeOtherNames(envelope);
    this.#fallBack(envelope);

    if (sentAttrs !== null && !isObject(sentAttrs)) this.#addAttr("attrs", sentAttrs);
    if (this.#originalLevel !== null) this.#addAttr("original_level", this.#originalLevel);
    if (this.#originalTs !== null) this.#addAttr("original_ts", this.#originalTs);
    if (envelope.defaults !== undefined) {
      for (const [field, name] of textFields.entries()) {
        this.texts[field] ??= scalarText(envelope.defaults[name]) ?? null;
      }
    }
    this.texts[0] ??= messageOfError(event);
  }

  #addAttr(key: string, value: unknown): void {
    addMember(this.attrs ??= {}, key, value);
  }

  #readTs({ ts: said }: Envelope): void {
    const sent = this.#event.ts ?? null;
    if (said !== undefined && sent !== null) this.#addAttr("ts", sent);
    const value = said ?? sent;
    if (value === null) return;
    this.ts = isoOf(value) ?? null;
    if (this.ts === null || isCutShort(value)) this.#originalTs = value;
  }

  #readLevel({ level, originalLevel, isSyslog }: Envelope): void {
    const sent = this.#event.level ?? null;
    if (level !== undefined) {
      if (sent !== null) this.#addAttr("level", sent);
      this.level = level;
      this.#originalLevel = originalLevel ?? null;
      return;
    }
    if (sent === null) return;
    const lower = levelText(sent)?.toLowerCase() ?? "";
    this.level = (isSyslog ? syslogLevelOf(lower) : null) ?? levelOf(lower);
    if (this.level !== lower || isComposite(sent)) this.#originalLevel = sent;
  }

  #fallBack({ level, fallbackLevel, isSyslog }: Envelope): void {
    if (fallbackLevel === undefined || level !== undefined) return;
    if (this.level !== null || this.#originalLevel !== null) return;
    this.level = levelUnder("", fallbackLevel, isSyslog ?? false);
    const isSaid = this.level !== null && levelText(fallbackLevel)?.toLowerCase() === this.level;
    if (!isSaid) this.#originalLevel = fallbackLevel;
  }

  /** Reads Serilog's templates. In its compact form an event without `@l` is information. */
  #readSerilog(used: Set<string>): void {
    const event = this.#event;
    const isCompact = Object.hasOwn(event, "@t");
    if (isCompact && this.level === null && this.#originalLevel === null) this.level = "info";
    const [name, values] = isCompact ? ["@mt", event] : ["MessageTemplate", event.Properties];
    const template = event[name];
    if (typeof template !== "string" || !used.has(name) || !isObject(values)) return;
    this.texts[0] = rendered(template, values);
    if (this.texts[0] !== template) used.delete(name);
  }

  /** Reads the value under the field's own name. If the value is an object with a `name`, takes that name. */
  #ownText(field: TextField): Text {
    const value = this.#event[field] ?? null;
    if (value === null) return null;
    const text = scalarText(value);
    if (text !== undefined) return text;
    for (const name of namesOf[field]) {
      if (name.path?.[0] !== field) continue;
      const inner = scalarText(lookUp(this.#event, name));
      if (inner === undefined) continue;
      takeOut(this.#event, name);
      if (Object.hasOwn(this.#event, field)) this.#addAttr(field, value);
      return inner;
    }
    return jsonTextOf(value);
  }

  #takeOtherNames(envelope: Envelope): void {
    const event = this.#event;
    const used = new Set<string>();
    if (this.ts === null && this.#originalTs === null) {
      const found = take(
        event,
        "ts",
        used,
        (sent, name) => isPlausible(sent) ? { sent, name } : undefined,
      );
      if (found !== undefined) {
        const { sent, name } = found;
        this.ts = isoOf(sent) ?? null;
        if (isCutShort(sent)) this.#originalTs = sent;
        if (vagueNames.has(name)) this.guessed = { [name]: sent };
      }
    }
    const hasNumber = /^\d+$/.test(levelText(this.#originalLevel) ?? "");
    if (this.level === null && hasNumber && envelope.level === undefined) {
      // Monolog has the level's number in `level`, and its name in another member.
      this.level = levelBeside(event, envelope.isSyslog ?? false);
    } else if (
      this.level === null && this.#originalLevel === null && envelope.level === undefined
    ) {
      const value = take(event, "level", used, (sent, name) => {
        const level = levelUnder(name, sent, envelope.isSyslog ?? false);
        return level === null ? undefined : { level, sent };
      });
      if (value !== undefined) {
        this.level = value.level;
        const isSaid = levelText(value.sent)?.toLowerCase() === value.level;
        if (!isSaid || isComposite(value.sent)) this.#originalLevel = value.sent;
      }
    }
    for (const [at, field] of textFields.entries()) {
      this.texts[at] ??= take(event, field, used, field === "msg" ? messageText : nameText) ?? null;
    }
    this.#readSerilog(used);
    if (this.texts[0] === null && isComposite(event.message)) {
      this.texts[0] = jsonTextOf(event.message);
      used.add("message");
    }
    this.texts[envColumn] ??= envOfTags(event.ddtags);
    const traceId = take(event, "trace_id", used, nameText);
    const spanId = take(event, "span_id", used, nameText);
    this.texts[reqIdColumn] ??= traceId ?? null;

    if (traceId !== undefined) this.#addAttr("trace_id", traceId);
    if (spanId !== undefined) this.#addAttr("span_id", spanId);
    for (const key in event) {
      if (otherKeys.has(key) && !used.has(key)) this.#addAttr(key, event[key]);
    }
  }
}

/** Finds a level under another name, such as consola's `type`, if `level` cannot be read. Both members stay. */
function levelBeside(event: JsonObject, isSyslog: boolean): Level | null {
  for (const name of [...namesOf.level, { flat: "type", path: undefined }]) {
    const level = name.flat === "status"
      ? null
      : levelUnder(name.flat, lookUp(event, name), isSyslog);
    if (level !== null) return level;
  }
  return null;
}

/** Returns the text of a message. journald writes one that is not UTF-8 as an array of bytes, and several as a list. */
function messageText(value: unknown, name: string): string | undefined {
  if (name !== "MESSAGE" || !Array.isArray(value)) return scalarText(value);
  if (value.every((part) => typeof part === "string")) return value.join("\n");
  const areBytes = value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
  return areBytes ? new TextDecoder().decode(Uint8Array.from(value)) : undefined;
}

const errorNames = ["error", "err", "exception", "thrown"].map((key) => ({
  flat: `${key}.message`,
  path: [key, "message"],
}));

/** The message of an event that has only an error. */
function messageOfError(event: JsonObject): Text {
  for (const name of errorNames) {
    const text = lookUp(event, name);
    if (typeof text === "string" && text !== "") return text;
  }
  return null;
}

/** Fills a message template of Serilog with its values: `{Name}`, `{@Name}`, `{Name,5:000}`; `{{` is a brace. */
function rendered(template: string, values: JsonObject): string {
  return template.replace(
    /\{\{|\}\}|\{[@$]?(\w{1,100})(?:,-?\d+)?(?::[^{}]{0,100})?\}/g,
    (hole, name?: string) => {
      if (name === undefined) return hole[0];
      return Object.hasOwn(values, name) ? textOf(values[name]) ?? "null" : hole;
    },
  );
}

/** The first accepted value under one of a field's names. It is marked as used, or removed from its path. */
function take<T>(
  event: JsonObject,
  target: keyof typeof namesOf,
  used: Set<string>,
  accept: (value: unknown, name: string) => T | undefined,
): T | undefined {
  for (const name of namesOf[target]) {
    if (used.has(name.flat)) continue;
    const value = lookUp(event, name) ?? null;
    const accepted = value === null ? undefined : accept(value, name.flat);
    if (accepted === undefined) continue;
    if (Object.hasOwn(event, name.flat)) used.add(name.flat);
    else takeOut(event, name);
    return accepted;
  }
  return undefined;
}

const envColumn = textFields.indexOf("env");
const reqIdColumn = textFields.indexOf("req_id");

/** The env in Datadog's tags (`env:prod,team:pay`). The tags stay. */
function envOfTags(tags: unknown): Text {
  if (typeof tags !== "string" || !tags.includes("env:")) return null;
  return /(?:^|,)\s*env:([^,]*)/.exec(tags)?.[1].trim() || null;
}

/** A name is a non-empty text or a number. */
function nameText(value: unknown): string | undefined {
  const text = typeof value === "boolean" ? undefined : scalarText(value);
  return text === "" ? undefined : text;
}

function levelUnder(name: string, value: unknown, isSyslog: boolean): Level | null {
  const lower = levelText(value)?.toLowerCase();
  if (lower === undefined) return null;
  if (name === "s") return levelOfLetter(lower.toUpperCase());
  // A number in `status` is more often an HTTP status.
  if (name === "status" && /^\d/.test(lower)) return null;
  return (isSyslog || name === "PRIORITY" ? syslogLevelOf(lower) : null) ?? levelOf(lower);
}

function isComposite(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): Text {
  return value === null ? null : scalarText(value) ?? jsonTextOf(value);
}

/** Names of times that may not be the event's own. */
const vagueNames: ReadonlySet<string> = new Set([
  ...["timestamp", "time", "dt", "date", "datetime", "t", "Timestamp"],
]);

const maxTimeLength = 75;

/** Whether a time is plausible for an event: `time` may be a duration and `date` a birthday. */
function isPlausible(sent: unknown): boolean {
  const iso = isoOf(sent);
  return iso !== undefined && iso >= "2000" && iso < "2100" &&
    (scalarText(sent)?.length ?? 0) <= maxTimeLength;
}
