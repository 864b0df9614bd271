import type { Node } from "./syntax_tree.ts";

/** The fields that are stream labels in Loki's terms. All others are structured metadata. */
export const streamFields = ["env", "host", "level", "route", "service"] as const;

/** Names of our fields in Grafana's own queries. */
const aliases: Record<string, string> = { detected_level: "level", service_name: "service" };

/** Loki's detected_level of a record without a level. */
const unknownLevel = "unknown";

const recordFields: readonly string[] = [...streamFields, "req_id", "user_id"];

/** The field that a label of LogQL stands for; undefined for an attribute. */
export function recordField(name: string): string | undefined {
  const field = Object.hasOwn(aliases, name) ? aliases[name] : name;
  return recordFields.includes(field) ? field : undefined;
}

/** Whether a label is Loki's own, such as `__error__` or `__stream_shard__`, and no record has it. */
export function isInternal(name: string): boolean {
  return name.startsWith("__");
}

/**
 * The attributes of each label: LogQL writes attrs.http.method as http_method. If several attributes have one label, a
 * record's value is the first that it has. `isInLines`: whether records without them may have it in their line.
 */
export type Names = ReadonlyMap<
  string,
  { readonly fields: readonly string[]; readonly isInLines: boolean }
>;

/** Names by expression: the same label may stand for another attribute in another part of the query. */
export type NamesOf = (expression: Node) => Names;

/** The LogQL label of a field. */
export function nameOfField(field: string): string {
  const name = field.replace(/^attrs\./, "").replaceAll('"', "").replace(/[^A-Za-z0-9_]/g, "_");
  const own = /^[0-9]/.test(name) ? `_${name}` : name;
  return field.startsWith("attrs.") && recordField(own) !== undefined ? `attrs_${own}` : own;
}

/** The fields that a label can stand for: each `_` may be a character that LogQL cannot write. */
export function fieldsThatMayBe(name: string): string[] {
  const parts = name.split("_");
  const gaps = parts.length - 1;
  const filled = (signs: readonly string[]) =>
    parts.map((part, n) => n === 0 ? part : `${signs[n - 1]}${part}`).join("");
  const uniform = ["_", ".", "-", " ", "/", ":", "$", "@"].map((sign) => Array(gaps).fill(sign));
  const mixed = gaps > 5
    // One part may itself contain `_`, as in http.request.header.content_type.
    ? parts.flatMap((_, n) =>
      [["_", "."], [".", "_"]].map(([before, after]) =>
        Array.from({ length: gaps }, (_, gap) => gap < n ? before : after)
      )
    )
    : combined(gaps > 3 ? ["_", "."] : ["_", ".", "-"], gaps);
  const own = [...uniform, ...mixed].map(filled);
  const hidden = /^attrs_(.+)$/.exec(name)?.[1] ?? /^_([0-9].*)$/.exec(name)?.[1];
  const fields = [...own, ...hidden === undefined ? [] : [hidden]].map(fieldOf);
  // Leaves out paths that end with a dot.
  return [...new Set(fields)].filter((field) =>
    [name, `attrs_${name}`].includes(nameOfField(field))
  );
}

/**
 * Returns the members of lines that a label can stand for, if their names need no quotes. Each `_` is itself or a step
 * into an object, or all are `-`. In a long name at most one `_` is a step, or all are.
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

/** A key as it is written in a path of our query language. */
export function keyOf(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

function fieldOf(path: string): string {
  const segments = path.split(".");
  // A name that begins or ends with a dot, or has two in a row, is one key.
  const keys = segments.includes("") ? [path] : segments;
  return ["attrs", ...keys.map(keyOf)].join(".");
}

/** The fields of a label, first the field that is spelled like the label. */
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
