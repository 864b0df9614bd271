import fc from "fast-check";
import type { TextField } from "../../supabase/functions/_shared/record_fields.ts";
import { ofTexts } from "../support/each_text_field.ts";

/** A record as the columns of logloom.logs; attrs is the text of its JSON, so that numbers keep every digit. */
export interface Row extends Record<TextField, string | null> {
  ts: string;
  received_at: string;
  write_seq: number;
  id: string;
  level: string | null;
  attrs: string | null;
}

// Texts with separators, escapes, digits and letters of unusual case.
const odd = [
  "",
  "0",
  "00",
  "007",
  "-0",
  "-5",
  "1,2",
  "1 2",
  "9223372036854775807",
  "9223372036854775808",
  "a\u001eb",
  "\u001e",
  "\u001f",
  "1\u001f2",
  "\u001e\u001d\u001d",
  "\ufffd",
  "%s",
  "%%",
  "%1$s",
  "{}",
  "{a,b}",
  "null",
  "NULL",
  '"',
  "'",
  "\\",
  "\\x41",
  "a\nb",
  "\t",
  "İstanbul",
  "ẞß",
  "ΑΣ ας",
  "٣٤",
  "０１",
  "日本1",
  "👍2",
  "\u{10ffff}",
  "\u{e000}",
  "e\u0301",
  "Failed password for root from 10.0.0.1 port 22",
  "failed password for root from 10.9.8.7 port 4711",
];
const controls = String.fromCharCode(...Array.from({ length: 31 }, (_, n) => n + 1));

const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...odd) },
  { weight: 3, arbitrary: fc.nat(99_999).map((n) => `request ${n} took ${n % 977} ms`) },
  { weight: 2, arbitrary: fc.string({ unit: "binary" }).map((s) => s.replaceAll("\0", "\ufffd")) },
  { weight: 1, arbitrary: fc.constant(controls) },
  { weight: 1, arbitrary: fc.uuid() },
  { weight: 1, arbitrary: fc.nat(3).map((n) => "x1".repeat(200 * n)) },
).map((s) => s.toWellFormed());
const field = fc.option(text, { freq: 3 });

const numbers = [
  "0",
  "-0.0",
  "1",
  "1.0",
  "1.10",
  "-1",
  "1e400",
  "1e-400",
  "0.1",
  "123456789012345678",
  "-999999999999999999",
  "9223372036854775807",
  "9223372036854775808",
  "1234567890123456789012345678901234567890.5",
];
const json: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...numbers, "null", "true", "false", '""', "[]", "{}"),
    fc.nat(99_999).map(String),
    text.map((s) => JSON.stringify(s)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
    fc.dictionary(fc.constantFrom("a", "a.b", "0", ""), tie("value"), { maxKeys: 3 }).map(object),
  ),
})).value;
const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("status", "a", "a.b", "0", "", "attrs", '"', "k\u001e") },
  { weight: 1, arbitrary: fc.nat(300).map((n) => `key ${n}`) },
  { weight: 1, arbitrary: fc.constant("long ".repeat(60)) },
);
const attrs = fc.option(fc.dictionary(key, json, { maxKeys: 6 }).map(object), { freq: 4 });

function object(members: Record<string, string>): string {
  const parts = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `{${parts.join(",")}}`;
}

/** Times are within eight days, rarely within a year, with and without whole milliseconds. */
const ts = fc.oneof(
  fc.nat(999).map((n) => n * 1000),
  fc.nat(999_999),
  fc.nat(8 * 86400).map((s) => s * 1_000_000),
  fc.nat(8 * 86400 * 1000).map((ms) => ms * 1000 + 7),
  { weight: 1, arbitrary: fc.nat(365 * 86400).map((s) => s * 1_000_000 + s % 1_000_000) },
).map((us) => timestamp(Date.UTC(2026, 10, 2) * 1000 + us));

/** Writes a time in microseconds since 1970 as ISO 8601. */
export function timestamp(us: number): string {
  const micros = ((us % 1e6) + 1e6) % 1e6;
  const seconds = new Date((us - micros) / 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros).padStart(6, "0")}Z`;
}

/** Ids as the queue makes them, from a few batches, and random ids. */
const id = fc.oneof(
  fc.tuple(fc.nat(3), fc.nat(65535)).map(([batch, index]) =>
    `019a9e8f-900${batch}-7e50-8eb7-598b5803${index.toString(16).padStart(4, "0")}`
  ),
  fc.uuid(),
);

export const row: fc.Arbitrary<Row> = fc.record({
  ts,
  received_at: ts,
  write_seq: fc.oneof(fc.nat(3), fc.maxSafeNat()),
  id,
  level: fc.constantFrom("debug", "info", "warn", "error", null),
  ...ofTexts(() => field),
  service: fc.oneof(fc.constantFrom("api", "web", "", null), field),
  env: fc.constantFrom("prod", "prod", "test", null),
  attrs,
});
