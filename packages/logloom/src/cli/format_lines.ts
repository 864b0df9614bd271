import type { LogloomError } from "../read/error.ts";
import type { LogRecord, QueryWarning, StatRow } from "../read/types.ts";
import { inCommands } from "./command_names.ts";
import { jsonOf } from "../../../../supabase/functions/_shared/exact_numbers.ts";

type Shown = Pick<LogRecord, "ts" | "level" | "msg" | "service" | "attrs">;

const colours: Record<string, string> = {
  error: "\x1b[31m",
  warn: "\x1b[33m",
  info: "\x1b[36m",
  debug: "\x1b[90m",
};
const dim = "\x1b[90m";
const bold = "\x1b[1m";
const plain = "\x1b[0m";

/** Characters that a terminal would interpret. They are escaped, so that log content cannot control the terminal. */
const hostile =
  // deno-lint-ignore no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function harmless(text: string): string {
  return text.replace(/[\r\n]+/g, " ↵ ").replaceAll("\t", "  ").replace(hostile, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `<${code.toString(16)}>`;
  });
}

/** Returns a record as one line of JSON. Characters that a terminal would interpret are escaped. */
export function jsonLine(record: unknown): string {
  return jsonOf(record).replace(
    /[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Returns a readable line: local time, level, service, message, attributes. */
export function humanLine(record: Shown, isColoured: boolean): string {
  const paint = (colour: string, text: string) =>
    isColoured && text !== "" ? `${colour}${text}${plain}` : text;
  const level = record.level ?? "-";
  const attributes = Object.entries(record.attrs ?? {})
    .map(([name, value]) => `${harmless(name)}=${harmless(textOf(value))}`)
    .join(" ");
  return [
    paint(dim, localTime(record.ts)),
    paint((level === "error" ? bold : "") + (colours[level] ?? ""), level.padEnd(5)),
    paint(bold, harmless(record.service ?? "-").padEnd(12)),
    harmless(record.msg ?? ""),
    ...(attributes === "" ? [] : [paint(dim, attributes)]),
  ].join(" ");
}

function localTime(ts: string): string {
  const date = new Date(ts);
  if (Number.isNaN(date.getTime())) return ts;
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(5, 23).replace("T", " ");
}

/** Returns a value as text. Strings stay unchanged. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : jsonOf(value);
}

/** Returns the rows of an aggregate in columns. */
export function statLines(rows: readonly Pick<StatRow, "group" | "value" | "values">[]): string[] {
  if (rows.length === 0) return [];
  const fields = Object.keys(rows[0].group);
  const names = Object.keys(rows[0].values);
  return columns(
    [
      [...fields, ...names],
      ...rows.map(({ group, values }) => [
        ...fields.map((field) => group[field] ?? "-"),
        ...names.map((name) => textOf(values[name])),
      ]),
    ],
    (column) => column >= fields.length,
  );
}

/** Returns rows of cells as lines. Each column is as wide as its widest cell. */
export function columns(
  rows: readonly (readonly string[])[],
  isRight: (column: number) => boolean = () => false,
): string[] {
  const cells = rows.map((row) => row.map(harmless));
  const widths = cells[0].map((_, n) => Math.max(...cells.map((row) => [...row[n]].length)));
  return cells.map((row) =>
    row.map((cell, n) => {
      const space = " ".repeat(widths[n] - [...cell].length);
      return isRight(n) ? space + cell : cell + space;
    }).join("  ").trimEnd()
  );
}

/** Returns a warning of the service and its suggestion. */
export function warningLine(
  { message, suggestion }: Pick<QueryWarning, "message" | "suggestion">,
): string {
  return `logloom: ${harmless(message)}${
    suggestion ? `; perhaps you mean ${harmless(suggestion)}` : ""
  }`;
}

/** Returns an error of the service, with its position in the query and its hint. */
export function refusalLines(error: LogloomError, query: string): string[] {
  const lines = [`logloom: ${harmless(reasonOf(error))}`];
  if (error.position !== null) {
    const before = [...query].slice(0, error.position - 1).join("");
    const start = before.lastIndexOf("\n") + 1;
    const line = query.slice(start).split("\n")[0];
    // A query from a rule's file has no line on the screen to point at.
    if (line.trim() !== "") {
      const space = " ".repeat([...harmless(before.slice(start))].length);
      lines.push(`  ${harmless(line)}`, `  ${space}^`);
    }
  }
  if (error.hint) lines.push(`  ${harmless(inCommands(error.hint))}`);
  return lines;
}

/** Returns an error as a sentence. */
export function reasonOf({ status, message }: LogloomError): string {
  const said = inCommands(message);
  return status === 401 ? `${said}: the token or key is not accepted, or no longer.` : said;
}
