import { exactJson, ExactNumber } from "../service/exact-json.ts";
import type { LogRecord } from "../service/logloom.ts";

/** The columns in the address: names separated by commas. Names may have quoted parts. */
export function columnsOf(text: string | undefined): string[] {
  return text?.match(/(?:"(?:\\.|[^"\\])*"|[^,"])+/g) ?? [];
}

/** The segments of a field's path. */
export function segmentsOf(field: string): string[] {
  const parts = field.match(/"(?:\\.|[^"\\])*"|[^."]+/g) ?? [];
  return parts.map((part) =>
    part.startsWith('"') ? part.slice(1, -1).replace(/\\(.)/gs, "$1") : part
  );
}

/** A record's value in a field, or undefined. */
export function valueOf(record: LogRecord, field: string): unknown {
  const [head, ...path] = segmentsOf(field);
  if (head !== "attrs") return record[head as keyof LogRecord];
  return descend(record.attrs, path) ??
    (path.length > 1 ? record.attrs?.[path.join(".")] : undefined);
}

function descend(value: unknown, path: string[]): unknown {
  let now = value;
  for (const segment of path) {
    if (typeof now !== "object" || now === null || !Object.hasOwn(now, segment)) return undefined;
    now = (now as Record<string, unknown>)[segment];
  }
  return now;
}

export function shortText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (value instanceof ExactNumber) return value.text;
  return typeof value === "object" ? exactJson(value, 0) : String(value);
}
