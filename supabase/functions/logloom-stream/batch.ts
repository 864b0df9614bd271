/** A batch as the database gives it out. */
export interface Batch {
  /** The same in every attempt, so that a receiver recognises a repeat. */
  readonly id: string;
  readonly streamId: string;
  readonly tenantId: string;
  readonly kind: string;
  readonly config: Readonly<Record<string, string>>;
  /** Sealed. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly madeAt: string;
  /** Attempts before this one. */
  readonly attempt: number;
  readonly isTest: boolean;
  /** How often streams will have passed on its records once they arrive. */
  readonly hops: number;
  /** The JSON of each record, id and ts first, attrs last. */
  readonly records: readonly string[];
}

interface Head {
  readonly batch: {
    readonly stream_id: string;
    readonly tenant_id: string;
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
 * The batch in the database's answer; undefined if there is none. Records stay texts, which keeps their numbers as they
 * are and costs far less than parsing.
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

/** What is known of a record without parsing it. */
export interface Place {
  readonly id: string;
  readonly ts: string;
  /** What follows these two, from the comma or the last brace on. */
  readonly rest: string;
}

/** `{"id":"…","ts":"…"` is what a record begins with. */
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

/** A record's fields, and the JSON of its attributes. Within a text a quote follows a backslash, so it stands apart. */
export function partsOf(record: string): { readonly fields: Fields; readonly attrs?: string } {
  const at = record.indexOf(',"attrs":');
  if (at === -1) return { fields: JSON.parse(record) };
  return { fields: JSON.parse(`${record.slice(0, at)}}`), attrs: record.slice(at + 9, -1) };
}

/** The seconds since 1970 of a record's time, to the microsecond, as a text. */
export function epochSeconds(ts: string): string {
  const [, before, fraction = "", zone] = /^(.{19})(?:\.(\d{1,6}))?(.*)$/.exec(ts) ?? [];
  const seconds = Date.parse(`${before}${zone}`) / 1000;
  return `${seconds}.${fraction.padEnd(6, "0")}`;
}
