import { labels } from "../../../supabase/functions/_shared/record_fields.ts";
import { exactJson } from "../service/exact-json.ts";
import type { AuditTrailEvent, LogRecord } from "../service/logloom.ts";

const columns = ["ts", ...labels, "msg", "attrs", "id"] as const;

export type Format = "ndjson" | "csv";

/** The limits of a file saved from a live view. */
export const mostSaved = { records: 50_000, bytes: 200_000_000 };

const head = `${columns.join(",")}\r\n`;

function lineOf(row: LogRecord): string {
  return columns.map((name) => cell(name === "attrs" ? exactJson(row.attrs, 0) : row[name]))
    .join(",");
}

export function csvOf(rows: LogRecord[]): string {
  return head + rows.map((row) => `${lineOf(row)}\r\n`).join("");
}

/** Collects records into a file. */
export class RecordFile {
  readonly #parts: string[];
  #bytes = 0;
  count = 0;

  constructor(readonly format: Format) {
    this.#parts = format === "csv" ? [head] : [];
  }

  /** Adds a record, or returns false if the file is full. */
  add(row: LogRecord): boolean {
    const line = this.format === "csv" ? `${lineOf(row)}\r\n` : `${exactJson(row, 0)}\n`;
    if (
      this.count === mostSaved.records ||
      this.#bytes + line.length > mostSaved.bytes
    ) {
      return false;
    }
    this.#parts.push(line);
    this.#bytes += line.length;
    this.count += 1;
    return true;
  }

  save(): void {
    saveParts(this.format, this.#parts);
  }
}

/** Downloads audit events, in the columns of the service's own export. */
export function saveAudit(format: Format, events: AuditTrailEvent[]): void {
  const head =
    "event_id,occurred_at,source,actor,action,targets,context,client_id,day,position,erased_at";
  const texts = (event: Record<string, unknown>) =>
    head.split(",").map((name) => event[name] ?? "")
      .map((value) => cell(typeof value === "string" ? value : exactJson(value, 0))).join(",");
  const parts = format === "ndjson"
    ? events.map((event) => `${exactJson(event, 0)}\n`)
    : [head, ...events.map((event) => texts({ ...event }))].map((line) => `${line}\r\n`);
  saveParts(format, parts, "audit");
}

/** Downloads the parts as one file. */
export function saveParts(format: Format, parts: (string | Blob)[], name = "logs"): void {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "");
  save(`${name}-${time}.${format}`, parts);
}

/** Spreadsheets run text that begins like a formula, also in full-width characters. A leading apostrophe prevents it. */
function cell(value: string | null): string {
  const text = value ?? "";
  const safe = /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function save(name: string, parts: (string | Blob)[]): void {
  const url = URL.createObjectURL(new Blob(parts, { type: "text/plain;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
