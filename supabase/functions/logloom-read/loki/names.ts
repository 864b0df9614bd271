import type { Node } from "./syntax_tree.ts";

/** What Loki calls labels of a stream; all else of a record is structured metadata. */
export const streamFields = ["env", "host", "level", "route", "service"] as const;

/** Names that Grafana's own queries have for our fields. */
const aliases: Record<string, string> = { detected_level: "level", service_name: "service" };

/** The detected_level of a record without a level, as Loki has it. */
const unknownLevel = "unknown";

const recordFields: readonly string[] = [...streamFields, "req_id", "user_id"];

/** The field of a record that a name of LogQL means; undefined for an attribute. */
export function recordField(name: string): string | undefined {
  const field = Object.hasOwn(aliases, name) ? aliases[name] : name;
  return recordFields.includes(field) ? field : undefined;
}

/** Loki's own, which no record has: `__error__`, `__stream_shard__`. */
export function isInternal(name: string): boolean {
  return name.startsWith("__");
}

/**
 * Names as LogQL can write them, of attributes as records have them: http_method of attrs.http.method. Where several have
 * one name, a record's value is that of the first which it has.
 */
export type Names = ReadonlyMap<string, readonly string[]>;

/** Those of the records that an expression selects: others of the same query may have another attribute by a name. */
export type NamesOf = (expression: Node) => Names;

/** The name in LogQL of a field as our query language writes it. */
export function nameOfField(field: string): string {
  const name = field.replace(/^attrs\./, "").replaceAll('"', "").replace(/[^A-Za-z0-9_]/g, "_");
  const own = /^[0-9]/.test(name) ? `_${name}` : name;
  return field.startsWith("attrs.") && recordField(own) !== undefined ? `attrs_${own}` : own;
}

/** The fields that can have a name, with what LogQL cannot write in place of each `_`. */
export function fieldsThatMayBe(name: string): string[] {
  const parts = name.split("_");
  const gaps = parts.length - 1;
  const filled = (signs: readonly string[]) =>
    parts.map((part, n) => n === 0 ? part : `${signs[n - 1]}${part}`).join("");
  const uniform = ["_", ".", "-", " ", "/", ":", "$", "@"].map((sign) => Array(gaps).fill(sign));
  const mixed = gaps > 5
    // Words of one name, within others or around them: http.request.header.content_type.
    ? parts.flatMap((_, n) =>
      [["_", "."], [".", "_"]].map(([before, after]) =>
        Array.from({ length: gaps }, (_, gap) => gap < n ? before : after)
      )
    )
    : combined(gaps > 3 ? ["_", "."] : ["_", ".", "-"], gaps);
  const own = [...uniform, ...mixed].map(filled);
  const hidden = /^attrs_(.+)$/.exec(name)?.[1] ?? /^_([0-9].*)$/.exec(name)?.[1];
  const fields = [...own, ...hidden === undefined ? [] : [hidden]].map(fieldOf);
  // An end of a path is no name.
  return [...new Set(fields)].filter((field) => nameOfField(field) === name);
}

/**
 * The members of lines that can have a name, which their fields need no quotes for: each `_` as such, or where an object
 * is walked into, of a long name one or all; or `-` for all.
 */
export function membersThatMayBe(name: string): string[] {
  const gaps = name.split("_").length - 1;
  const fields = fieldsThatMayBe(name).filter((field) => {
    const walks = field.split(".").length - 2;
    const hyphens = field.split("-").length - 1;
    return /^attrs\.[\w.-]+$/.test(field) && (hyphens === 0 || hyphens === gaps) &&
      (gaps <= 3 || walks <= 1 || walks === gaps);
  });
  return [...new Set([`attrs.${name}`, ...fields])];
}

function combined(signs: readonly string[], length: number): string[][] {
  return length === 0
    ? [[]]
    : combined(signs, length - 1).flatMap((rest) => signs.map((sign) => [sign, ...rest]));
}

/** A key as a path of our query language has it. */
export function keyOf(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function fieldOf(path: string): string {
  const segments = path.split(".");
  // What begins or ends with a dot, or has two, is one key.
  const keys = segments.includes("") ? [path] : segments;
  return ["attrs", ...keys.map(keyOf)].join(".");
}

/** The first of a name's fields is the one that is written as the name itself. */
export function inOrder(name: string, fields: Iterable<string>): string[] {
  const own = `attrs.${name}`;
  return [...new Set(fields)].sort((a, b) =>
    Number(b === own) - Number(a === own) || (a < b ? -1 : 1)
  );
}

/** The value of a label that a record does not have. */
export function emptyOf(name: string): string {
  return name === "detected_level" ? unknownLevel : "";
}

export function textOf(name: string, value: string | null | undefined): string {
  return value ?? emptyOf(name);
}

/** The keys of an attribute's path. */
export function segmentsOf(field: string): string[] {
  const segments = field.match(/"(?:[^"\\]|\\.)*"|[^".]+/g) ?? [];
  return segments.slice(1).map((part) => part.startsWith('"') ? JSON.parse(part) : part);
}
