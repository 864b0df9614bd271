import { exactJson } from "../service/numbers.ts";
import type { LogRecord } from "../service/records.ts";

const columns = [
  "ts",
  "level",
  "service",
  "host",
  "env",
  "route",
  "req_id",
  "user_id",
  "msg",
  "attrs",
  "id",
] as const;

export function csvOf(rows: LogRecord[]): string {
  const lines = rows.map((row) =>
    columns.map((name) => cell(name === "attrs" ? exactJson(row.attrs, 0) : row[name])).join(",")
  );
  return `${columns.join(",")}\r\n${lines.join("\r\n")}\r\n`;
}

/** A spreadsheet runs what begins like a formula: an apostrophe before it keeps it a text. */
function cell(value: string | null): string {
  const text = value ?? "";
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function save(name: string, text: string): void {
  const url = URL.createObjectURL(
    new Blob([text], { type: "text/plain;charset=utf-8" }),
  );
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
