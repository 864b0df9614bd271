import { type TextField, textFields } from "../_shared/record_fields.ts";
import type { Batch } from "./event_collector.ts";
import type { Text } from "./event_draft.ts";
import { type JsonObject, setMember } from "./json_reader.ts";
import { markedNumber, numberText } from "../_shared/numbers.ts";

/**
 * Shortens records to the database's limit for the JSON text that operations return. An event may use `maxBytes` of
 * this limit. The longest texts are cut first. If that is not enough, or there are more than `maxValues` values, the
 * largest arrays and objects keep only their beginnings. `attrs.logloom_cut` lists the cut parts with their original
 * lengths. Nothing else of an accepted event is lost.
 */
export function cutRecords(batch: Batch, maxBytes: number, maxValues = Infinity): Batch {
  // A guessed time may become an attribute again.
  const [most, mostValues] = batch.p_guessed === undefined
    ? [maxBytes, maxValues]
    : [maxBytes - 64, maxValues - 16];
  let count = 0;
  const texts = textFields.map((field) => [...batch[`p_${field}`] ?? []]);
  const attrs = [...batch.p_attrs ?? []];
  for (let at = 0; at < batch.p_ts.length; at++) {
    const record = new LongRecord(texts.map((column) => column[at] ?? null), attrs[at] ?? null);
    if (record.fits(most, mostValues)) continue;
    record.cut(most, mostValues);
    count++;
    attrs[at] = record.attrs;
    for (const [n, column] of texts.entries()) {
      if (column.length > 0) column[at] = record.texts[n];
    }
  }
  if (count === 0) return batch;
  const p_attrs = batch.p_ts.map((_, at) => attrs[at] ?? null);
  const columns = textFields.flatMap((field, n): [`p_${TextField}`, Text[]][] => {
    return texts[n].length > 0 ? [[`p_${field}`, texts[n]]] : [];
  });
  return { ...batch, ...Object.fromEntries(columns), p_attrs, attrTexts: undefined, p_cut: count };
}

/** The most bytes of an event's time and level. */
const bareBytes = 41;

/** `logloom_cut` may take this part (1/16) of a record's bytes and values. */
const shareOfNote = 16;
/** Texts shorter than this part (1/256) of a record are cut only after arrays and objects. */
const shareOfText = 256;
const maxPathLength = 200;
/** What a member of an object adds to the number of values, and what an array or object adds to its contents. */
const [valuesOfMember, valuesOfContainer] = [2, 11];
/** What a `logloom_cut` adds without its paths: the member of the attributes, the object, and `more`. */
const valuesOfNote = 2 * valuesOfMember + valuesOfContainer;

/** A text of a record that may be cut, and its place. */
interface LongText {
  readonly text: string;
  readonly bytes: number;
  readonly path: string;
  readonly replace: (text: string) => void;
}

class LongRecord {
  readonly texts: Text[];
  attrs: JsonObject | null;
  /** Paths with the original lengths. */
  readonly #cut = new Map<string, number>();
  readonly #bytes = new Bytes();
  readonly #values = new Values();

  constructor(texts: Text[], attrs: JsonObject | null) {
    this.texts = texts;
    this.attrs = attrs;
  }

  get bytes(): number {
    let bytes = bareBytes + this.#bytes.of(this.attrs);
    for (const text of this.texts) bytes += this.#bytes.of(text);
    return bytes;
  }

  fits(maxBytes: number, maxValues: number): boolean {
    const { bytes } = this;
    if (bytes > maxBytes) return false;
    // There are at most six values a byte: an array in an array takes two bytes and counts as twelve values.
    return 6 * bytes <= maxValues || this.#values.of(this.attrs) <= maxValues;
  }

  cut(maxBytes: number, maxValues: number): void {
    const noteBytes = Math.floor(maxBytes / shareOfNote);
    const least = Math.floor(maxBytes / shareOfText);
    const budget = maxBytes - noteBytes;
    // Copies, because events of a request share parts.
    const attrs = this.attrs = copyOf(this.attrs ?? {});
    // The name is reserved: a member of this name in the event is lost.
    if (Object.hasOwn(attrs, "logloom_cut")) {
      this.#note("attrs.logloom_cut", this.#bytes.of(attrs.logloom_cut));
      delete attrs.logloom_cut;
      this.#values.forget();
    }
    const noteValues = Math.floor(maxValues / shareOfNote);
    this.attrs = this.#fitting(attrs, "attrs", this.#values, {
      budget: maxValues * (1 - 1 / shareOfNote),
      least: maxValues / shareOfText,
    });
    this.#bytes.forget();
    this.#cutTexts(budget, least);
    const left = budget - (this.bytes - this.#bytes.of(this.attrs));
    this.attrs = this.#fitting(this.attrs, "attrs", this.#bytes, { budget: left, least });
    setMember(this.attrs, "logloom_cut", this.#noted(noteBytes, noteValues));
  }

  /** Cuts the longest texts to one length so that everything fits, but none below the minimum. */
  #cutTexts(budget: number, least: number): void {
    const excess = this.bytes - budget;
    const long = this.#longTexts(least);
    const limit = evenLimit(
      long.map(({ bytes }) => bytes),
      long.reduce((sum, { bytes }) => sum + bytes, 0) - excess,
    );
    for (const { text, bytes, path, replace } of long) {
      const most = Math.max(limit, least);
      if (bytes <= most) continue;
      const isPlain = bytes === text.length + 2;
      this.#note(path, isPlain ? text.length : characters(text));
      replace(isPlain ? text.slice(0, most - 2) : cutText(text, most));
    }
    this.#bytes.forget();
  }

  #longTexts(least: number): LongText[] {
    const found: LongText[] = [];
    const look = (value: unknown, path: string, replace: (text: string) => void) => {
      if (typeof value === "string") {
        const bytes = this.#bytes.of(value);
        if (bytes > least) found.push({ text: value, bytes, path, replace });
      } else if (isContainer(value) && this.#bytes.of(value) > least) {
        eachMember(value, (member, key) => {
          // A character takes at most six bytes.
          if (typeof member === "string" ? member.length * 6 > least : isContainer(member)) {
            look(member, below(path, key), (text) => setAt(value, key, text));
          }
        });
      }
    };
    for (const [n, field] of textFields.entries()) {
      look(this.texts[n], field, (text) => this.texts[n] = text);
    }
    look(this.attrs, "attrs", () => {});
    return found;
  }

  /**
   * Makes an array or object fit: shortens its largest arrays and objects to one size. If it has too many, or all are
   * small, keeps only its first members.
   */
  #fitting<T extends object>(container: T, path: string, measure: Measure, room: Room): T {
    const { budget, least } = room;
    const whole = measure.of(container);
    if (whole <= budget) return container;
    const large: { key: string | number; value: object; size: number }[] = [];
    eachMember(container, (value, key) => {
      if (!isContainer(value)) return;
      const size = measure.of(value);
      if (size > least) large.push({ key, value, size });
    });
    const sizes = large.map(({ size }) => size);
    const others = whole - sizes.reduce((sum, size) => sum + size, 0);
    const limit = evenLimit(sizes, budget - others);
    if (large.length > 0 && limit >= least) {
      const each = { budget: limit, least };
      for (const { key, value } of large) {
        setAt(container, key, this.#fitting(value, below(path, key), measure, each));
      }
      return container;
    }
    let left = budget - measure.ofContainer;
    let count = 0;
    if (Array.isArray(container)) {
      this.#note(path, container.length);
      while ((left -= measure.of(container[count]) + measure.ofElement) >= 0) count++;
      container.length = count;
      return container;
    }
    const kept: JsonObject = {};
    eachMember(container, (value, key) => {
      count++;
      const size = measure.ofKey(String(key)) + measure.of(value);
      if (size > left) return;
      left -= size;
      setMember(kept, String(key), value);
    });
    this.#note(path, count);
    return kept as T;
  }

  #note(path: string, length: number): void {
    if (!this.#cut.has(path)) this.#cut.set(path, length);
  }

  /** The cut parts, longest first; if the list does not fit, their number. */
  #noted(maxBytes: number, maxValues: number): JsonObject {
    const noted: JsonObject = {};
    const mostPaths = Math.floor((maxValues - valuesOfNote) / valuesOfMember);
    const sorted = [...this.#cut].sort(([, a], [, b]) => b - a);
    let left = maxBytes - 64;
    for (const [n, [path, length]] of sorted.entries()) {
      left -= jsonBytes(path) + 4 + String(length).length;
      if (left < 0 || n >= mostPaths) {
        noted.more = sorted.length - n;
        break;
      }
      setMember(noted, path, length);
    }
    return noted;
  }
}

/** How an array or object is cut. Nested arrays and objects of at least the size `least` are cut first. */
interface Room {
  readonly budget: number;
  readonly least: number;
}

/** Measures values and remembers the result until a change. */
abstract class Measure {
  abstract readonly ofElement: number;
  /** What an array or object counts as without its contents. */
  abstract readonly ofContainer: number;
  protected abstract readonly ofEmpty: number;
  readonly #known = new Map<object, number>();

  abstract ofKey(key: string): number;
  protected abstract ofSimple(value: unknown): number;

  of(value: unknown): number {
    if (!isContainer(value)) return this.ofSimple(value);
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    let size = this.ofContainer;
    if (Array.isArray(value)) {
      for (const item of value) size += this.of(item) + this.ofElement;
    } else {
      const members = value as JsonObject;
      for (const key in members) size += this.ofKey(key) + this.of(members[key]);
    }
    size = Math.max(size, this.ofEmpty);
    // Small arrays and objects are not remembered: measuring them again is cheaper.
    if (size > 256) this.#known.set(value, size);
    return size;
  }

  forget(): void {
    this.#known.clear();
  }
}

/** The bytes of a value's JSON text as the database writes it, with a blank after each : and , */
class Bytes extends Measure {
  // n members have two brackets, and n - 1 times a comma and a blank: two bytes for each member.
  readonly ofElement = 2;
  readonly ofContainer = 0;
  readonly ofEmpty = 2;
  /** Sizes of long texts, which are needed several times. */
  readonly #ofLongTexts = new Map<string, number>();

  ofKey(key: string): number {
    return jsonBytes(key) + 4;
  }

  ofSimple(value: unknown): number {
    switch (typeof value) {
      case "string":
        return markedNumber(value)?.length ?? this.#ofText(value);
      case "number":
        return numberText(value).length;
      case "boolean":
        return value ? 4 : 5;
    }
    return 4;
  }

  #ofText(text: string): number {
    if (text.length < 10_000) return jsonBytes(text);
    const bytes = this.#ofLongTexts.get(text) ?? jsonBytes(text);
    this.#ofLongTexts.set(text, bytes);
    return bytes;
  }
}

/**
 * The number of values as the database counts them. A member of an object counts as two. An array or object counts as
 * eleven plus its contents, because reading it takes as much memory as several numbers; an empty one counts as if it
 * had one value.
 */
class Values extends Measure {
  readonly ofElement = 1;
  readonly ofContainer = valuesOfContainer;
  readonly ofEmpty = valuesOfContainer + 1;

  ofKey(): number {
    return valuesOfMember;
  }

  ofSimple(): number {
    return 0;
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Visits members in order. Members of arrays are visited by index, because its text is rarely needed. */
function eachMember(
  container: object,
  visit: (value: unknown, key: string | number) => void,
): void {
  if (Array.isArray(container)) {
    for (let at = 0; at < container.length; at++) visit(container[at], at);
  } else {
    for (const key in container) visit((container as JsonObject)[key], key);
  }
}

/** Attributes are at most 64 levels deep. */
function copyOf<T extends object>(container: T): T {
  const copy = Array.isArray(container) ? [] : {};
  eachMember(
    container,
    (value, key) => setAt(copy, key, isContainer(value) ? copyOf(value) : value),
  );
  return copy as T;
}

function setAt(container: object, key: string | number, value: unknown): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  else setMember(container as JsonObject, String(key), value);
}

function below(path: string, key: string | number): string {
  return path.length > maxPathLength ? path : cutCharacters(`${path}.${key}`);
}

/** Cuts a path that is too long, but not within a character. */
function cutCharacters(path: string): string {
  if (path.length <= maxPathLength) return path;
  return `${path.slice(0, maxPathLength).toWellFormed().replace(/\ufffd$/, "")}…`;
}

/**
 * Returns the size to which the larger ones of these sizes must be cut so that the total is at most `sum`. 0 if that is
 * impossible, Infinity if nothing must be cut.
 */
function evenLimit(sizes: readonly number[], sum: number): number {
  const sorted = [...sizes].sort((a, b) => a - b);
  let left = sum;
  for (const [n, size] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - n));
    if (size > share) return Math.max(share, 0);
    left -= size;
  }
  return Infinity;
}

/** A character that may take more than one byte in JSON. Most texts have none. */
const otherLetter = /[^ !#-[\]-~]/;
/** The bytes of each ASCII character in Postgres' JSON. NUL cannot be stored and becomes U+FFFD. */
const asciiBytes = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code === 0) return 3;
  if (code === 0x22 || code === 0x5c) return 2;
  if (code >= 0x20) return 1;
  return code >= 8 && code <= 13 && code !== 11 ? 2 : 6;
});

/** Returns the bytes of a text as JSON with its quotes. Unstorable characters become U+FFFD. */
function jsonBytes(text: string): number {
  const other = text.search(otherLetter);
  if (other === -1) return text.length + 2;
  let bytes = 2 + other;
  for (let at = other; at < text.length; at += unitsAt(text, at)) bytes += bytesAt(text, at);
  return bytes;
}

/** Returns the beginning of a text that takes at most this many bytes as JSON. It ends at a character. */
function cutText(text: string, maxBytes: number): string {
  let bytes = 2;
  let at = 0;
  for (; at < text.length; at += unitsAt(text, at)) {
    bytes += bytesAt(text, at);
    if (bytes > maxBytes) break;
  }
  return text.slice(0, at);
}

function characters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += unitsAt(text, at)) count++;
  return count;
}

function unitsAt(text: string, at: number): number {
  if ((text.charCodeAt(at) & 0xfc00) !== 0xd800) return 1;
  return (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00 ? 2 : 1;
}

function bytesAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) return asciiBytes[code];
  if (code < 0x800) return 2;
  return unitsAt(text, at) === 2 ? 4 : 3;
}
