import { type TextField, textFields } from "../../supabase/functions/_shared/record_fields.ts";
import { compareText, type Event, isRecord, type Json, numberText, QueryError } from "./event.ts";

export const space = new Set([" ", "\t", "\r", "\n", "\u00a0"]);

export type Field =
  | { kind: "time"; name: "ts" | "received_at" }
  | { kind: "id" }
  | { kind: "level" }
  | { kind: "any" }
  | { kind: "text"; name: TextField }
  | { kind: "attrs"; path: string[]; joined: boolean };

export interface Token {
  text: string[];
  at: number;
}

export function readField(name: string[], position: number): Field {
  const text = name.join("");
  if (text === "ts" || text === "received_at") return { kind: "time", name: text };
  if (text === "id" || text === "level" || text === "any") return { kind: text };
  const column = textFields.find((known) => known === text);
  if (column) return { kind: "text", name: column };
  const isShort = text.startsWith("@") && text !== "@timestamp";
  if (!isShort && !text.startsWith("attrs.")) throw new QueryError(position, "unknown field");
  const path: string[] = [];
  let isQuoted = false;
  let rest = isShort ? `.${text.slice(1)}` : text.slice(5);
  while (rest !== "") {
    const segment = /^\.(?:([\p{L}\p{Nd}_-]+)|"((?:[^"\\]|\\[\s\S])*)")/u.exec(rest);
    if (!segment) throw new QueryError(position, "a malformed path");
    if (segment[2] !== undefined) isQuoted = true;
    path.push(segment[1] ?? segment[2].replace(/\\([\s\S])/gu, "$1"));
    rest = rest.slice(segment[0].length);
  }
  if (path.length > 32) throw new QueryError(position, "the path is too long");
  return { kind: "attrs", path, joined: path.length > 1 && !isQuoted };
}

export function attributeOf(field: Field & { kind: "attrs" }, { attrs }: Event): Json | undefined {
  if (attrs === null) return undefined;
  let value: Json | undefined = attrs;
  for (const key of field.path) {
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  if (value !== undefined && value !== null) return value;
  const key = field.path.join(".");
  return field.joined && Object.hasOwn(attrs, key) ? attrs[key] : undefined;
}

export function scalarText(value: Json | undefined): string | null {
  switch (typeof value) {
    case "string":
      return value;
    case "number":
      return numberText(value);
    case "boolean":
      return String(value);
    default:
      return null;
  }
}

/** Returns the text by which a field is grouped or counted. */
export function groupText(field: Field, event: Event): string | null {
  switch (field.kind) {
    case "attrs": {
      const value = attributeOf(field, event) ?? null;
      return scalarText(value) ?? (value === null ? null : jsonText(value));
    }
    case "time":
      return String(event[field.name]);
    case "id":
      return event.id;
    case "level":
      return event.level;
    case "text":
      return event[field.name];
    case "any":
      throw new Error("any cannot be grouped by");
  }
}

/** Returns the text of a JSON value as jsonb prints it. */
function jsonText(value: Json): string {
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const bytes = (key: string) => new TextEncoder().encode(key).length;
  const keys = Object.keys(value).sort((a, b) => bytes(a) - bytes(b) || compareText(a, b));
  return `{${keys.map((key) => `${JSON.stringify(key)}: ${jsonText(value[key])}`).join(", ")}}`;
}
