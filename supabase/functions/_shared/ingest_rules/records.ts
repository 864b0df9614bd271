import type { JsonObject } from "../json_values.ts";
import { type TextField, textFields } from "../record_fields.ts";
import type { Budget } from "./budget.ts";

export type Text = string | null;
export type Attrs = JsonObject | null;

/** Columns of records, as a batch of ingest has them. Those that a rule does not change stay the same objects. */
export type RecordColumns =
  & { readonly [Field in TextField as `p_${Field}`]?: readonly Text[] }
  & {
    readonly p_ts: readonly Text[];
    readonly p_level?: readonly Text[];
    readonly p_attrs?: readonly Attrs[];
    readonly p_positions?: readonly number[];
    /** By the record's place, from 1: the member that gave `ts` and may become an attribute again. */
    readonly p_guessed?: Readonly<Record<string, JsonObject>>;
    /** JSON texts of attributes that are known already. */
    readonly attrTexts?: readonly (string | undefined)[];
  };

const levelColumn = textFields.length;

/** The column of a text field or of `level`; -1 for another name. */
export function columnOf(field: string): number {
  return field === "level" ? levelColumn : textFields.indexOf(field as TextField);
}

/** Reads and changes one record of a batch at a time. */
export class Records {
  at = 0;
  readonly #batch: RecordColumns;
  readonly #columns: (readonly Text[] | undefined)[];
  /** Columns that were copied for a change. */
  readonly #own: (Text[] | undefined)[] = [];
  #attrs: readonly Attrs[] | undefined;
  #ownAttrs: Attrs[] | undefined;
  #attrTexts: (string | undefined)[] | undefined;
  #guessed: Record<string, JsonObject> | undefined;
  #isChanged = false;
  /** The attributes of the record in hand, if they are a copy. */
  #copy: JsonObject | undefined;

  constructor(batch: RecordColumns, readonly budget: Budget) {
    this.#batch = batch;
    this.#columns = [...textFields.map((field) => batch[`p_${field}`]), batch.p_level];
    this.#attrs = batch.p_attrs;
  }

  get count(): number {
    return this.#batch.p_ts.length;
  }

  get ts(): Text {
    return this.#batch.p_ts[this.at];
  }

  /** The record's place in the request. */
  get position(): number {
    return this.#batch.p_positions?.[this.at] ?? this.at;
  }

  text(column: number): Text {
    return this.#columns[column]?.[this.at] ?? null;
  }

  setText(column: number, text: Text): void {
    if (text === this.text(column)) return;
    const own = this.#own[column] ??= copyOf(this.#columns[column], this.count);
    own[this.at] = text;
    this.#columns[column] = own;
    this.#isChanged = true;
  }

  get attrs(): Attrs {
    return this.#attrs?.[this.at] ?? null;
  }

  /** Takes a copy. */
  set attrs(attrs: Attrs) {
    if (attrs === this.attrs) return;
    this.#copy = attrs ?? undefined;
    this.#replaceAttrs(attrs);
  }

  #replaceAttrs(attrs: Attrs): void {
    this.#attrs = this.#ownAttrs ??= copyOf(this.#attrs, this.count);
    this.#ownAttrs[this.at] = attrs;
    this.#isChanged = true;
    if (this.#attrTexts !== undefined) this.#attrTexts[this.at] = undefined;
  }

  /** Changes the attributes in a copy, which is made once for all rules: there may be very many. */
  changeAttrs(change: (attrs: JsonObject) => void): void {
    if (this.#copy === undefined || this.#copy !== this.attrs) {
      this.#copy = { ...this.attrs };
      // A member takes about as long to copy as three characters to read.
      this.budget.allow(3 * Object.keys(this.#copy).length);
    }
    change(this.#copy);
    this.#replaceAttrs(this.#copy);
  }

  /** The attributes as JSON. It is kept for the commit. */
  get attrText(): string {
    this.#attrTexts ??= new Array(this.count).fill(undefined);
    const text = this.#attrTexts[this.at] ?? JSON.stringify(this.attrs);
    this.budget.allow(text.length);
    return this.#attrTexts[this.at] = text;
  }

  get guessed(): JsonObject | undefined {
    return (this.#guessed ?? this.#batch.p_guessed)?.[this.at + 1];
  }

  set guessed(member: JsonObject) {
    if (member === this.guessed) return;
    this.#guessed ??= { ...this.#batch.p_guessed };
    this.#guessed[this.at + 1] = member;
    this.#isChanged = true;
  }

  /** About the bytes of the record. */
  get size(): number {
    let size = this.attrs === null ? 0 : JSON.stringify(this.attrs).length;
    for (let column = 0; column <= levelColumn; column++) size += this.text(column)?.length ?? 0;
    return size;
  }

  /** The changed columns, without the records that were left out. Undefined if nothing changed. */
  changed(leftOut: ReadonlySet<number>): RecordColumns | undefined {
    const attrTexts = this.#attrTexts;
    if (!this.#isChanged && leftOut.size === 0) {
      return attrTexts && { p_ts: this.#batch.p_ts, attrTexts };
    }
    const { p_ts, p_attrs, p_positions, p_guessed } = this.#batch;
    for (const [at, attrs] of this.#ownAttrs?.entries() ?? []) {
      const isEmpty = attrs !== null && attrs !== p_attrs?.[at] && !hasMembers(attrs);
      if (isEmpty) this.#ownAttrs![at] = null;
    }
    const guessed = this.#guessed ?? p_guessed;
    const places: number[] = [];
    for (let at = 0; at < p_ts.length; at++) if (!leftOut.has(at)) places.push(at);
    const kept = <T>(column: readonly T[]) =>
      leftOut.size === 0 ? column : places.map((at) => column[at]);
    const column = <T>(values: readonly (T | null)[] | undefined) => {
      const left = values && kept(values);
      return left?.some((value) => value !== null) ? left : undefined;
    };
    const texts = textFields.map((field, n) => [`p_${field}`, column(this.#columns[n])]);
    const members = places.flatMap((at, n) => {
      const member = guessed?.[at + 1];
      return member === undefined ? [] : [[n + 1, member]];
    });
    const positions = p_positions !== undefined ? kept(p_positions) : places;
    return {
      p_ts: kept(p_ts),
      p_level: column(this.#columns[levelColumn]),
      ...Object.fromEntries(texts),
      p_attrs: column(this.#attrs),
      ...leftOut.size > 0 && { p_positions: positions },
      ...attrTexts && { attrTexts: kept(attrTexts) },
      ...guessed && { p_guessed: Object.fromEntries(members) },
    };
  }
}

function copyOf<T>(column: readonly (T | null)[] | undefined, count: number): (T | null)[] {
  return column === undefined ? new Array(count).fill(null) : [...column];
}

function hasMembers(object: JsonObject): boolean {
  for (const _ in object) return true;
  return false;
}
