import { failure, type Result, success } from "../_shared/errors.ts";
import { hasUnusualNumbers, markedNumber, markNumbers, unmarkNumbers } from "./numbers.ts";
import { isoFromNumber, isoFromText } from "./timestamps.ts";

/** The parameters of `ingest_logs` that a body yields, named as there; columns are parallel. */
export interface Batch {
  readonly p_ts: readonly Text[];
  readonly p_level?: readonly Text[];
  readonly p_msg?: readonly Text[];
  readonly p_service?: readonly Text[];
  readonly p_env?: readonly Text[];
  readonly p_req_id?: readonly Text[];
  readonly p_user_id?: readonly Text[];
  readonly p_route?: readonly Text[];
  readonly p_host?: readonly Text[];
  readonly p_attrs?: readonly (JsonObject | null)[];
  readonly p_positions?: readonly number[];
  readonly p_rejected?: number;
  readonly p_errors?: readonly EventError[];
}

export interface EventError extends Rejection {
  readonly index: number;
}

interface Rejection {
  readonly code:
    | "not_an_object"
    | "level_unknown"
    | "ts_unreadable"
    | "field_not_text"
    | "attrs_not_an_object";
  readonly message: string;
}

/** A body that was read. */
export interface Events {
  readonly batch: Batch;
  /** `batch` and further parameters as JSON that Postgres takes. */
  toJson(parameters: Record<string, unknown>): string;
}

type Text = string | null;
type JsonObject = Record<string, unknown>;

const maxEvents = 10_000;
const maxErrors = 100;
/** Postgres refuses JSON of some thousands of levels; people cannot read a tenth of it. */
const maxDepth = 64;
const textFields = ["msg", "service", "env", "req_id", "user_id", "route", "host"] as const;
const eventFields: ReadonlySet<string> = new Set(["ts", "level", "attrs", ...textFields]);

/** Reads and normalises the body of a request; a failure is the answer to the client. */
export function readEvents(text: string): Result<Events> {
  let events = normalise(text, markNumbers(text, "risky"));
  if (events.ok && events.value.sawNumberAsText && hasUnusualNumbers(text)) {
    // A text field keeps a number as it was written (1.50 as 1.50), which only the source tells.
    events = normalise(text, markNumbers(text, "all"));
  }
  return events;
}

function normalise(
  source: string,
  marked: string,
): Result<Events & { readonly sawNumberAsText: boolean }> {
  const list = parseList(marked);
  if (!list.ok) return list;
  const normaliser = new Normaliser();
  normaliser.addAll(list.value);
  const batch = normaliser.batch();
  return success({
    batch,
    sawNumberAsText: normaliser.sawNumberAsText,
    toJson(parameters) {
      let json = JSON.stringify({ ...parameters, ...batch });
      if (marked !== source) json = unmarkNumbers(json);
      return mayHoldUnstorable(source) ? replaceUnstorable(json) : json;
    },
  });
}

function parseList(text: string): Result<readonly unknown[]> {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return failure(400, "Invalid JSON");
  }
  const list = listOf(body);
  if (list === undefined) {
    return failure(
      400,
      'Invalid body: expected an array of log events, a log event, or {"logs": [...]}',
    );
  }
  if (list.length > maxEvents) {
    return failure(400, `Too many records: ${list.length} (max ${maxEvents})`);
  }
  return success(list);
}

function listOf(body: unknown): readonly unknown[] | undefined {
  if (Array.isArray(body)) return body;
  if (!isObject(body)) return undefined;
  // Beside an event's own fields, `logs` is one more attribute of that event.
  if (!Object.hasOwn(body, "logs") || Object.keys(body).some((key) => eventFields.has(key))) {
    return [body];
  }
  const { logs } = body;
  if (Array.isArray(logs)) return logs;
  return isObject(logs) ? [logs] : undefined;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Collects events column by column, as the queue stores them. */
class Normaliser {
  /** A number became text here, as JavaScript prints it. */
  sawNumberAsText = false;

  readonly #ts: Text[] = [];
  readonly #level: Text[] = [];
  readonly #texts: readonly Text[][] = textFields.map(() => []);
  readonly #attrs: (JsonObject | null)[] = [];
  readonly #positions: number[] = [];
  readonly #errors: EventError[] = [];
  #rejected = 0;

  addAll(events: readonly unknown[]): void {
    for (let index = 0; index < events.length; index++) {
      const rejection = this.#add(events[index]);
      if (rejection === undefined) {
        this.#positions.push(index);
        continue;
      }
      this.#rejected++;
      if (this.#errors.length < maxErrors) this.#errors.push({ index, ...rejection });
    }
  }

  batch(): Batch {
    const [msg, service, env, reqId, userId, route, host] = this.#texts.map(unlessAllNull);
    const batch: Batch = {
      p_ts: this.#ts,
      p_level: unlessAllNull(this.#level),
      p_msg: msg,
      p_service: service,
      p_env: env,
      p_req_id: reqId,
      p_user_id: userId,
      p_route: route,
      p_host: host,
      p_attrs: unlessAllNull(this.#attrs),
    };
    if (this.#rejected === 0) return batch;
    return {
      ...batch,
      p_positions: this.#positions,
      p_rejected: this.#rejected,
      p_errors: this.#errors,
    };
  }

  /** Adds the event to every column, or to none and says why. */
  #add(event: unknown): Rejection | undefined {
    if (!isObject(event)) {
      return { code: "not_an_object", message: "A log event must be a JSON object" };
    }

    let ts: Text = null;
    const sentTs = event.ts;
    if (sentTs !== undefined && sentTs !== null) {
      const iso = readTs(sentTs);
      if (iso === undefined) return tsUnreadable(sentTs);
      ts = iso;
    }

    const sentAttrs = event.attrs ?? null;
    if (sentAttrs !== null && !isObject(sentAttrs)) {
      return { code: "attrs_not_an_object", message: "attrs must be a JSON object" };
    }
    let attrs = sentAttrs;

    let level: Text = null;
    let sentLevel = event.level ?? null;
    if (sentLevel !== null) {
      const text = typeof sentLevel === "number" ? String(sentLevel) : this.#text(sentLevel);
      if (text === undefined) return fieldNotText("level", sentLevel);
      const lower = text.toLowerCase();
      level = levelOf(lower);
      if (level === null) return levelUnknown(text);
      if (lower === level) sentLevel = null;
    }

    for (let field = 0; field < textFields.length; field++) {
      const value = event[textFields[field]] ?? null;
      const text = value === null ? null : this.#text(value);
      if (text === undefined) {
        // The columns before this one already hold a value of this event.
        for (let before = 0; before < field; before++) this.#texts[before].pop();
        return fieldNotText(textFields[field], value);
      }
      this.#texts[field].push(text);
    }

    for (const key in event) {
      if (!eventFields.has(key)) addMember(attrs ??= {}, key, event[key]);
    }
    if (sentLevel !== null) addMember(attrs ??= {}, "original_level", sentLevel);

    this.#ts.push(ts);
    this.#level.push(level);
    this.#attrs.push(attrs !== null && boundDepth(attrs, 1) ? attrs : null);
    return undefined;
  }

  /** The text of a scalar; undefined for an object or an array. */
  #text(value: unknown): string | undefined {
    if (typeof value === "string") return markedNumber(value) ?? value;
    if (typeof value === "number") {
      this.sawNumberAsText = true;
      return String(value);
    }
    return typeof value === "boolean" ? String(value) : undefined;
  }
}

function unlessAllNull<T>(column: readonly (T | null)[]): readonly (T | null)[] | undefined {
  return column.some((value) => value !== null) ? column : undefined;
}

/** A member that attrs already has wins. Defined, since assigning `__proto__` would lose it. */
function addMember(attrs: JsonObject, key: string, value: unknown): void {
  if (Object.hasOwn(attrs, key)) return;
  if (key === "__proto__") {
    Object.defineProperty(attrs, key, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  } else {
    attrs[key] = value;
  }
}

function readTs(value: unknown): string | undefined {
  if (typeof value === "string") return isoFromText(markedNumber(value) ?? value);
  return typeof value === "number" ? isoFromNumber(value) : undefined;
}

const levels: ReadonlyMap<string, string> = new Map([
  ["debug", "debug"],
  ["trace", "debug"],
  ["info", "info"],
  ["notice", "info"],
  ["information", "info"],
  ["warn", "warn"],
  ["warning", "warn"],
  ["error", "error"],
  ["err", "error"],
  ["critical", "error"],
  ["crit", "error"],
  ["fatal", "error"],
  ["panic", "error"],
  ["alert", "error"],
  ["emerg", "error"],
  ["emergency", "error"],
]);

function levelOf(lower: string): Text {
  const named = levels.get(lower);
  if (named !== undefined) return named;
  // pino's numbers: 10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal.
  if (!/^[1-6]\d(?:\.\d+)?$/.test(lower)) return null;
  const number = Number(lower);
  if (number < 30) return "debug";
  if (number < 40) return "info";
  return number < 50 ? "warn" : "error";
}

function tsUnreadable(value: unknown): Rejection {
  const sent = typeof value === "string" ? quoted(markedNumber(value) ?? value) : typeName(value);
  return { code: "ts_unreadable", message: `ts is neither ISO 8601 nor a Unix time: ${sent}` };
}

function levelUnknown(text: string): Rejection {
  return {
    code: "level_unknown",
    message: `level is none of debug, info, warn, error: ${quoted(text)}`,
  };
}

function fieldNotText(field: string, value: unknown): Rejection {
  return { code: "field_not_text", message: `${field} must be text, not ${typeName(value)}` };
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : String(value);
}

/** Cut short, and without the half of a surrogate pair that the cut may leave. */
function quoted(text: string): string {
  return JSON.stringify(text.length <= 60 ? text : `${text.slice(0, 60).toWellFormed()}…`);
}

/**
 * Replaces what is nested below the deepest level by its JSON text, in place. True when the
 * container holds anything.
 */
function boundDepth(container: object, level: number): boolean {
  if (Array.isArray(container)) {
    for (let at = 0; at < container.length; at++) {
      const value: unknown = container[at];
      if (typeof value === "object" && value !== null) container[at] = bounded(value, level);
    }
    return container.length > 0;
  }
  const members = container as JsonObject;
  let holds = false;
  for (const key in members) {
    holds = true;
    const value = members[key];
    if (typeof value === "object" && value !== null) members[key] = bounded(value, level);
  }
  return holds;
}

function bounded(value: object, level: number): unknown {
  if (level === maxDepth) return jsonTextOf(value);
  boundDepth(value, level + 1);
  return value;
}

/** JSON.stringify without recursion, since nothing but the body's size bounds the depth here. */
function jsonTextOf(root: object): string {
  const parts: string[] = [];
  /** What is still to be written, last first: values, or text that is ready. */
  const pending: ({ readonly value: unknown } | string)[] = [{ value: root }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") {
      parts.push(next);
      continue;
    }
    const { value } = next;
    if (typeof value === "string") {
      parts.push(markedNumber(value) ?? JSON.stringify(value));
    } else if (typeof value !== "object" || value === null) {
      parts.push(JSON.stringify(value));
    } else if (Array.isArray(value)) {
      pending.push("]");
      for (let at = value.length - 1; at >= 0; at--) {
        pending.push({ value: value[at] });
        if (at > 0) pending.push(",");
      }
      parts.push("[");
    } else {
      pending.push("}");
      const members = Object.entries(value);
      for (let at = members.length - 1; at >= 0; at--) {
        const [key, member] = members[at];
        pending.push({ value: member }, `${JSON.stringify(key)}:`);
        if (at > 0) pending.push(",");
      }
      parts.push("{");
    }
  }
  return parts.join("");
}

/**
 * Escapes are the only way in for NUL and for half surrogate pairs: UTF-8 has no such halves, and
 * JSON no bare NUL.
 */
function mayHoldUnstorable(source: string): boolean {
  return source.includes("\\u") && /\\u(?:0000|[dD][89a-fA-F])/.test(source);
}

/** JSON.stringify writes them as escapes, and whole pairs as characters. */
function replaceUnstorable(json: string): string {
  return json.replace(
    /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g,
    (escape) => escape.startsWith("\\u0000") || escape.startsWith("\\ud") ? "\uFFFD" : escape,
  );
}
