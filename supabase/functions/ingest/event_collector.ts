import { type TextField, textFields } from "../_shared/record_fields.ts";
import { Draft, type Envelope, type Text } from "./event_draft.ts";
import {
  harmlessLength,
  isObject,
  type JsonObject,
  jsonTextOf,
  noShape,
  setMember,
  ShapeCount,
} from "./json_reader.ts";
import { createOwnTraffic, type DrainSender } from "./own_drain_events.ts";
import { unmarkNumbers } from "../_shared/numbers.ts";

type TextColumns = { readonly [Field in TextField as `p_${Field}`]?: readonly Text[] };

/** The columns of the database's `ingest_request`. They are parallel: one element for each event. */
export interface Batch extends TextColumns {
  readonly p_ts: readonly Text[];
  readonly p_level?: readonly Text[];
  readonly p_attrs?: readonly (JsonObject | null)[];
  readonly p_positions?: readonly number[];
  readonly p_rejected?: number;
  readonly p_errors?: readonly EventError[];
  /** Whether every rejected event is listed, not only the first hundred. */
  readonly p_all_errors?: boolean;
  /** By the event's place, from 1: the member from which `ts` was read, if it may mean something else. */
  readonly p_guessed?: Readonly<Record<string, JsonObject>>;
  /** JSON texts of attributes that are known already; not sent. */
  readonly attrTexts?: readonly (string | undefined)[];
  /** Events that were shortened. */
  readonly p_cut?: number;
}

export interface EventError {
  readonly index: number;
  readonly code: string;
  readonly message: string;
}

/** The code of an event that a later request may store. */
export const sendAgain = "send_again";

/** Thrown by the first event beyond the request's limit. */
export class TooManyEvents extends Error {}

/** Thrown if copying shared parts into each event would take far too much memory. */
export class TooMuchShared extends Error {}

const anySender = createOwnTraffic()("");
/** The most errors in one answer. */
export const maxErrors = 100;
/** The attribute that counts how often log streams passed an event on, which ends loops. */
const hopsMember = "logloom_hops";
/** The deepest nesting of attributes. Postgres refuses thousands of levels, and nobody can read hundreds. */
const maxDepth = 64;
const maxEventsInSlice = 10_000;
const maxBytesInSlice = 512_000;
const maxSharedBytes = 32 * 1024 * 1024;

/** Normalises events and collects them by column, as the queue stores them. */
export class EventCollector {
  /**
   * True if every event had a readable time of its own. An equal request is then a repeat, and not a request with new
   * events that look the same.
   */
  haveOwnTimes = true;
  /** Set by protocols that answer for each event. */
  listsAllErrors = false;

  /** The sender, by which Logloom's own events in Supabase's drains are recognised. */
  sender: DrainSender = anySender;

  readonly #maxEvents: number;
  readonly #hops: number | undefined;
  readonly #shapes: ShapeCount | undefined;
  readonly #ts: Text[] = [];
  readonly #level: Text[] = [];
  readonly #texts: readonly Text[][] = textFields.map(() => []);
  readonly #attrs: (JsonObject | null)[] = [];
  readonly #positions: number[] = [];
  /** By the event's index: the member that was taken for a time. */
  readonly #guessed = new Map<number, JsonObject>();
  /** Every tenant accepts times between these, however short its `ingest_future_limit` is. */
  readonly #near = [-nearMs, clockMs].map((ms) => new Date(Date.now() + ms).toISOString());
  readonly #far = new Date(Date.now() + nearMs).toISOString();
  readonly #errors: EventError[] = [];
  /** The bytes that each event shares with others; empty if none does. */
  readonly #shared: number[] = [];
  #sharedBytes = 0;
  /** Whether these events are only a part of the request's events. */
  #isPart = false;
  #count = 0;
  #own = 0;
  #rejected = 0;

  /** `contentLength`: the size of the source. `hops`: how often log streams passed on its events. */
  constructor(maxEvents: number, contentLength = 0, hops?: number) {
    this.#maxEvents = maxEvents;
    this.#hops = hops;
    if (contentLength > harmlessLength) this.#shapes = new ShapeCount();
  }

  /** The number of added events, including rejected ones. */
  get count(): number {
    return this.#count;
  }

  /** Drops an event, which still counts for the limit. */
  leaveOut(): void {
    if (this.#count >= this.#maxEvents) throw new TooManyEvents();
    this.#count++;
  }

  /** Drops an event of Supabase's drains that Logloom's own work caused. True if it was dropped. */
  leaveOutOwn(event: JsonObject, message: unknown): boolean {
    if (!this.sender.isOwn(event, message)) return false;
    this.leaveOut();
    this.#own++;
    return true;
  }

  /** True if there are events and Logloom itself caused all of them. */
  get areOwn(): boolean {
    return this.#own > 0 && this.#own === this.#count;
  }

  get rejected(): number {
    return this.#rejected;
  }

  /** Rejects one event. The other events are stored. */
  reject(code: string, message: string): void {
    if (this.#count >= this.#maxEvents) throw new TooManyEvents();
    const index = this.#count++;
    this.#rejected++;
    if (this.listsAllErrors || this.#errors.length < maxErrors) {
      this.#errors.push({ index, code, message });
    }
  }

  /** Adds an event; the collector owns its objects from now on. `position`: its index in the request. */
  add(event: unknown, envelope: Envelope = nothing, position = this.#count): void {
    if (!isObject(event)) {
      this.reject("not_an_object", "A log event must be a JSON object");
      return;
    }
    if (this.#count >= this.#maxEvents) throw new TooManyEvents();

    if (envelope.sharedBytes !== undefined) {
      this.#shared[this.#ts.length] = envelope.sharedBytes;
      this.#sharedBytes += envelope.sharedBytes;
      if (this.#sharedBytes > maxSharedBytes) throw new TooMuchShared();
    }
    const draft = new Draft(event, envelope);
    let { attrs } = draft;
    if (attrs !== null && !boundDepth(attrs, 1, this.#shapes)) attrs = null;
    // Replaces the event's own count, which is older.
    if (this.#hops !== undefined) (attrs ??= {})[hopsMember] = this.#hops;
    if (draft.ts === null) this.haveOwnTimes = false;
    else if (draft.guessed !== undefined) this.#noteGuess(draft.ts, draft.guessed);
    this.#ts.push(draft.ts);
    this.#level.push(draft.level);
    for (let field = 0; field < textFields.length; field++) {
      this.#texts[field].push(draft.texts[field]);
    }
    this.#attrs.push(attrs);
    if (position !== this.#count) this.#isPart = true;
    this.#positions.push(position);
    this.#count++;
  }

  /**
   * Notes a guessed time that the database must check. Different events may share a day or a time far ahead: an equal
   * request is then no repeat.
   */
  #noteGuess(ts: string, member: JsonObject): void {
    const [from, to] = this.#near;
    if (ts < from || ts > to) this.#guessed.set(this.#ts.length, member);
    if (ts > this.#far || midnight.test(ts)) this.haveOwnTimes = false;
  }

  /** Whether the database may reject a guessed time: its event then gets the time of receipt. */
  get mayGuessWrong(): boolean {
    return this.#guessed.size > 0;
  }

  /** Returns the places in the request of all events after the first `count`. */
  positionsAfter(count: number): readonly number[] {
    return this.#positions.slice(count);
  }

  /** Roughly the length of the last event's record. */
  protected get lastLength(): number {
    const at = this.#ts.length - 1;
    let length = JSON.stringify(this.#attrs[at]).length;
    for (const column of this.#texts) length += column[at]?.length ?? 0;
    return length;
  }

  /** Splits the events of a body of this size into slices, which are committed one by one. */
  slices(bytes: number): Slice[] {
    const total = this.#ts.length;
    if (total <= maxEventsInSlice && bytes + this.#sharedBytes <= maxBytesInSlice) {
      return [{ batch: this.batch(), bytes }];
    }
    const perEvent = bytes / Math.max(total, 1);
    const msgs = this.#texts[0];
    const ends: number[] = [];
    let weight = 0;
    let from = 0;
    for (let at = 0; at < total; at++) {
      const next = Math.max(perEvent, msgs[at]?.length ?? 0) + (this.#shared[at] ?? 0);
      if (at > from && (at - from === maxEventsInSlice || weight + next > maxBytesInSlice)) {
        ends.push(at);
        from = at;
        weight = 0;
      }
      weight += next;
    }
    ends.push(total);
    let start = 0;
    let counted = 0;
    return ends.map((end) => {
      const upTo = Math.round((bytes * end) / Math.max(total, 1));
      const slice = { batch: this.batch(start, end), bytes: upTo - counted };
      start = end;
      counted = upTo;
      return slice;
    });
  }

  #guessedIn(from: number, to: number): Record<string, JsonObject> {
    const members = [...this.#guessed].filter(([at]) => at >= from && at < to);
    return Object.fromEntries(members.map(([at, member]) => [at - from + 1, member]));
  }

  batch(from = 0, to = this.#ts.length): Batch {
    const isAll = from === 0 && to === this.#ts.length;
    const part = <T>(column: readonly T[]) => isAll ? column : column.slice(from, to);
    const texts: TextColumns = Object.fromEntries(
      textFields.map((field, at) => [`p_${field}`, unlessAllNull(part(this.#texts[at]))]),
    );
    const batch: Batch = {
      p_ts: part(this.#ts),
      p_level: unlessAllNull(part(this.#level)),
      ...texts,
      p_attrs: unlessAllNull(part(this.#attrs)),
      ...this.listsAllErrors && { p_all_errors: true },
      ...this.#guessed.size > 0 && { p_guessed: this.#guessedIn(from, to) },
    };
    if (isAll && this.#rejected === 0 && !this.#isPart) return batch;
    return {
      ...batch,
      p_positions: part(this.#positions),
      // Rejected events of the whole request are reported with its first slice.
      ...from === 0 && this.#rejected > 0 &&
        { p_rejected: this.#rejected, p_errors: this.#errors },
    };
  }
}

const nearMs = 12 * 3_600_000;
/** A good clock is at most this much ahead. */
const clockMs = 60_000;
const midnight = /T00:00:00(?:\.0+)?Z$/;

export interface Slice {
  readonly batch: Batch;
  /** The slice's share of the body, for metering. */
  readonly bytes: number;
}

/** A batch and further parameters as JSON for Postgres. */
export function batchJson(batch: Batch, parameters: Record<string, unknown>): string {
  return storableJson({ ...parameters, ...batch, attrTexts: undefined });
}

/** The attributes of a batch as a JSON array. */
export function attrsJson({ p_attrs, attrTexts }: Batch): string {
  if (p_attrs === undefined) return "";
  if (attrTexts === undefined) return storableJson(p_attrs);
  const texts = p_attrs.map((attrs, at) => attrTexts[at] ?? JSON.stringify(attrs));
  return storable(`[${texts.join(",")}]`);
}

/** JSON with numbers as they were sent, and without what Postgres cannot store. */
export function storableJson(value: object): string {
  return storable(JSON.stringify(value));
}

function storable(text: string): string {
  const json = unmarkNumbers(text);
  return mayHoldUnstorable(json) ? replaceUnstorable(json) : json;
}

const nothing: Envelope = {};

function unlessAllNull<T>(column: readonly (T | null)[]): readonly (T | null)[] | undefined {
  return column.some((value) => value !== null) ? column : undefined;
}

/**
 * Replaces values nested too deeply by their JSON text, in place, and counts shapes. True if the container is not empty.
 */
function boundDepth(container: object, level: number, shapes: ShapeCount | undefined): boolean {
  if (Array.isArray(container)) {
    for (let at = 0; at < container.length; at++) {
      const value: unknown = container[at];
      if (typeof value === "object" && value !== null) {
        container[at] = bounded(value, level, shapes);
      }
    }
    return container.length > 0;
  }
  const members = container as JsonObject;
  let holds = false;
  let shape = noShape;
  for (const key in members) {
    holds = true;
    if (shapes !== undefined) shape = shapes.next(shape, key);
    const value = members[key];
    if (typeof value === "object" && value !== null) {
      setMember(members, key, bounded(value, level, shapes));
    }
  }
  return holds;
}

function bounded(value: object, level: number, shapes: ShapeCount | undefined): unknown {
  if (level === maxDepth) return jsonTextOf(value);
  boundDepth(value, level + 1, shapes);
  return value;
}

/** JSON.stringify writes NUL and half surrogate pairs as escapes, whole pairs as characters. */
function mayHoldUnstorable(json: string): boolean {
  return json.includes("\\u") && /\\u(?:0000|d[89a-f])/.test(json);
}

function replaceUnstorable(json: string): string {
  return json.replace(
    /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g,
    (escape) => escape.startsWith("\\u0000") || escape.startsWith("\\ud") ? "\uFFFD" : escape,
  );
}
