/** A batch as the database returns it. */
export interface Batch {
  /** The same in every attempt, so that a receiver recognises a repeat. */
  readonly id: string;
  readonly streamId: string;
  readonly tenantId: string;
  /** The tenant's customer who made the stream. */
  readonly customer: string | null;
  readonly kind: string;
  readonly config: Readonly<Record<string, string>>;
  /** Sealed secrets by name. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly madeAt: string;
  /** The number of earlier attempts. */
  readonly attempt: number;
  readonly isTest: boolean;
  /** How often log streams passed these records on, this time included. */
  readonly hops: number;
  /** Each record as JSON: id and ts first, attrs last. */
  readonly records: readonly string[];
}

interface Head {
  readonly batch: {
    readonly stream_id: string;
    readonly tenant_id: string;
    readonly customer: string | null;
    readonly batch_id: string;
    readonly kind: string;
    readonly config: Record<string, string>;
    readonly secrets: Record<string, string>;
    readonly made_at: string;
    readonly attempt: number;
    readonly is_test: boolean;
    readonly hops: number;
    readonly records: number;
  };
}

/**
 * The batch in the database's answer; undefined if there is none. Records stay texts: that keeps their numbers exact
 * and costs far less than parsing.
 */
export function readBatch(answer: string): Batch | undefined {
  const lines = answer.trim().split("\n");
  if (lines[0] === "null") return undefined;
  const { batch } = JSON.parse(`${lines[0]}]}`) as Head;
  const records = lines.slice(1, -1).map((line) => line.endsWith(",") ? line.slice(0, -1) : line);
  if (records.length !== batch.records) throw new Error("not a batch");
  return {
    id: batch.batch_id,
    streamId: batch.stream_id,
    tenantId: batch.tenant_id,
    customer: batch.customer,
    kind: batch.kind,
    config: batch.config,
    secrets: batch.secrets,
    madeAt: batch.made_at,
    attempt: batch.attempt,
    isTest: batch.is_test,
    hops: batch.hops,
    records,
  };
}

/** Parts of a record that are found without parsing it. */
export interface Place {
  readonly id: string;
  readonly ts: string;
  /** The rest of the record, from the comma or the last brace on. */
  readonly rest: string;
}

/** Splits a record, which begins with `{"id":"…","ts":"…"`. */
export function placeOf(record: string): Place {
  const end = record.indexOf('"', 51);
  return { id: record.slice(7, 43), ts: record.slice(51, end), rest: record.slice(end + 1) };
}

export interface Fields {
  readonly id: string;
  readonly ts: string;
  readonly received_at?: string;
  readonly level?: string;
  readonly msg?: string;
  readonly service?: string;
  readonly env?: string;
  readonly req_id?: string;
  readonly user_id?: string;
  readonly route?: string;
  readonly host?: string;
}

/** A record's fields, and its attributes as JSON. The text `,"attrs":` cannot be within a string, where quotes are escaped. */
export function partsOf(record: string): { readonly fields: Fields; readonly attrs?: string } {
  const at = record.indexOf(',"attrs":');
  if (at === -1) return { fields: JSON.parse(record) };
  return { fields: JSON.parse(`${record.slice(0, at)}}`), attrs: record.slice(at + 9, -1) };
}

/** A record's time in seconds since 1970, to the microsecond, as text. */
export function epochSeconds(ts: string): string {
  const [, before, fraction = "", zone] = /^(.{19})(?:\.(\d{1,6}))?(.*)$/.exec(ts) ?? [];
  const seconds = Date.parse(`${before}${zone}`) / 1000;
  return `${seconds}.${fraction.padEnd(6, "0")}`;
}
