import { Refusal } from "../client/service.ts";

export interface LogRecord {
  ts: string;
  level: string | null;
  msg: string | null;
  service: string | null;
  attrs: Record<string, unknown> | null;
}

const colours: Record<string, string> = {
  error: "\x1b[31m",
  warn: "\x1b[33m",
  info: "\x1b[36m",
  debug: "\x1b[90m",
};
const dim = "\x1b[90m";
const bold = "\x1b[1m";
const plain = "\x1b[0m";

/** Log content never reaches the terminal as a command. */
const hostile =
  // deno-lint-ignore no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export function harmless(text: string): string {
  return text.replace(/[\r\n]+/g, " ↵ ").replaceAll("\t", "  ").replace(hostile, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : `<${code.toString(16)}>`;
  });
}

/** A record as one line of JSON; characters that a terminal would interpret are escaped. */
export function jsonLine(record: unknown): string {
  return JSON.stringify(record).replace(
    /[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A record for people: local time, level, service, message, attributes. */
export function humanLine(record: LogRecord, isColoured: boolean): string {
  const paint = (colour: string, text: string) =>
    isColoured && text !== "" ? `${colour}${text}${plain}` : text;
  const level = record.level ?? "-";
  const attributes = Object.entries(record.attrs ?? {})
    .map(([name, value]) => `${harmless(name)}=${harmless(valueText(value))}`)
    .join(" ");
  return [
    paint(dim, localTime(record.ts)),
    paint((level === "error" ? bold : "") + (colours[level] ?? ""), level.padEnd(5)),
    paint(bold, harmless(record.service ?? "-").padEnd(12)),
    harmless(record.msg ?? ""),
    ...(attributes === "" ? [] : [paint(dim, attributes)]),
  ].join(" ");
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function localTime(ts: string): string {
  const date = new Date(ts);
  if (Number.isNaN(date.getTime())) return ts;
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(5, 23).replace("T", " ");
}

export interface Stat {
  group: Record<string, string | null>;
  value: unknown;
  values?: Record<string, unknown>;
}

/** The rows of an aggregate, in columns. */
export function statLines(rows: Stat[]): string[] {
  if (rows.length === 0) return [];
  const fields = Object.keys(rows[0].group);
  const names = rows[0].values ? Object.keys(rows[0].values) : ["value"];
  const cells = [
    [...fields, ...names],
    ...rows.map((row) => [
      ...fields.map((field) => harmless(row.group[field] ?? "-")),
      ...names.map((name) => harmless(valueText(row.values ? row.values[name] : row.value))),
    ]),
  ];
  const widths = cells[0].map((_, i) => Math.max(...cells.map((row) => [...row[i]].length)));
  return cells.map((row) =>
    row.map((cell, i) => i < fields.length ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))
      .join("  ").trimEnd()
  );
}

/** What the service takes for a probable mistake: the query is valid and means something else. */
export interface Warning {
  readonly position?: number | null;
  readonly message: string;
  readonly suggestion?: string | null;
}

/** A warning of the service, with what to write instead. */
export function warningLine({ message, suggestion }: Warning): string {
  return `logloom: ${harmless(message)}${
    suggestion ? `; perhaps you mean ${harmless(suggestion)}` : ""
  }`;
}

/** A refusal of the service, with its position in the query and the hint. */
export function refusalLines(error: Refusal, query: string): string[] {
  const lines = [`logloom: ${harmless(error.message)}`];
  if (error.position !== null) {
    const before = [...query].slice(0, error.position - 1).join("");
    const start = before.lastIndexOf("\n") + 1;
    const line = query.slice(start).split("\n")[0];
    lines.push(`  ${harmless(line)}`, `  ${" ".repeat([...before.slice(start)].length)}^`);
  }
  if (error.hint) lines.push(`  ${harmless(error.hint)}`);
  return lines;
}
