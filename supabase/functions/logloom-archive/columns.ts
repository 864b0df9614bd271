import { textFields } from "../_shared/record_fields.ts";

/** How a key of attrs is stored: by the type of its values, as exact digits, or as JSON texts if the types differ. */
export type KeyKind = "string" | "integer" | "number" | "exact" | "boolean" | "json";

export interface KeyColumn {
  readonly key: string;
  readonly kind: KeyKind;
  /** Null for records without the key. */
  readonly values: readonly (string | number | boolean | null)[];
}

/** The text fields of records, in the order of a file's columns. */
export const textColumns = [
  "level",
  "service",
  "env",
  "host",
  "route",
  "req_id",
  "user_id",
  "msg",
] as const;

export type TextColumn = typeof textColumns[number];

/** Fails the type check if a field of records has no column here. */
const _allTexts: readonly (typeof textFields[number])[] = textColumns.filter((name) =>
  name !== "level"
);

/** Records as columns, as the database returns them and a file stores them. */
export type Columns = Readonly<Record<TextColumn, readonly (string | null)[]>> & {
  readonly id: readonly string[];
  /** Microseconds since 1970. */
  readonly ts: readonly number[];
  readonly received_at: readonly number[];
  /** The keys of attrs that have a column. */
  readonly attrs: readonly KeyColumn[];
  /** The other keys of attrs as JSON texts: {} if there are none, null if attrs is null. */
  readonly rest: readonly (string | null)[];
};

/** The records at these places, in this order. */
export function at(columns: Columns, places: readonly number[]): Columns {
  const picked = <T>(values: readonly T[]) => places.map((place) => values[place]);
  const texts = Object.fromEntries(textColumns.map((name) => [name, picked(columns[name])]));
  return {
    ...texts as Record<TextColumn, (string | null)[]>,
    id: picked(columns.id),
    ts: picked(columns.ts),
    received_at: picked(columns.received_at),
    attrs: columns.attrs.map(({ key, kind, values }) => ({ key, kind, values: picked(values) })),
    rest: picked(columns.rest),
  };
}

/** Sorts records in the order that compresses best: by service, level, the message without its numbers, and time. */
export function sorted(columns: Columns): Columns {
  const { id, ts, level, service, msg } = columns;
  // Words of hexadecimal digits, such as ids, count as numbers.
  const templates = msg.map((text) =>
    text?.replace(/[0-9a-f]+/gi, (word) => /\d/.test(word) ? "0" : word) ?? ""
  );
  const compare = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0;
  const places = id.map((_, place) => place);
  places.sort((a, b) =>
    compare(service[a] ?? "", service[b] ?? "") || compare(level[a] ?? "", level[b] ?? "") ||
    compare(templates[a], templates[b]) || ts[a] - ts[b] || compare(id[a], id[b])
  );
  return at(columns, places);
}

/** The first column in which two lists of records differ; undefined if they are equal. */
export function difference(a: Columns, b: Columns): string | undefined {
  const isEqual = <T>(left: readonly T[], right: readonly T[]) =>
    left.length === right.length && left.every((value, place) => value === right[place]);
  for (const name of [...textColumns, "id", "ts", "received_at", "rest"] as const) {
    if (!isEqual<unknown>(a[name], b[name])) return name;
  }
  if (!isEqual(a.attrs.map(nameOf), b.attrs.map(nameOf))) return "attrs";
  return a.attrs.find(({ values }, n) => !isEqual(values, b.attrs[n].values))?.key;
}

function nameOf({ key, kind }: KeyColumn): string {
  return `${kind} ${key}`;
}

/** The records as a JSON array. JSON texts are inserted as they are, so numbers keep their digits. */
export function recordsJson(columns: Columns): string {
  const keys = columns.attrs.map(({ key, kind, values }) => ({
    name: `${JSON.stringify(key)}:`,
    isText: kind === "json" || kind === "exact",
    values,
  }));
  const records = columns.id.map((id, place) => {
    const members = [
      `"id":"${id}"`,
      `"ts":"${instant(columns.ts[place])}"`,
      `"received_at":"${instant(columns.received_at[place])}"`,
    ];
    for (const name of textColumns) {
      const value = columns[name][place];
      if (value !== null) members.push(`"${name}":${JSON.stringify(value)}`);
    }
    const rest = columns.rest[place];
    if (rest !== null) {
      const pairs = rest === "{}" ? [] : [rest.slice(1, -1)];
      for (const { name, isText, values } of keys) {
        const value = values[place];
        if (value !== null) pairs.push(name + (isText ? value : JSON.stringify(value)));
      }
      members.push(`"attrs":{${pairs.join(",")}}`);
    }
    return `{${members.join(",")}}`;
  });
  return `[${records.join(",")}]`;
}

/** Microseconds since 1970 as a timestamp for the database. */
export function instant(micros: number): string {
  const millis = Math.floor(micros / 1000);
  const rest = String(micros - millis * 1000).padStart(3, "0");
  return new Date(millis).toISOString().replace(/Z$/, `${rest}Z`);
}
