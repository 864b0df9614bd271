import type { Node } from "./tree.ts";

/** What Loki calls labels of a stream; all else of a record is structured metadata. */
export const streamFields = ["env", "host", "level", "route", "service"] as const;

/** Names that Grafana's own queries have for our fields. */
export const aliases: Record<string, string> = {
  detected_level: "level",
  service_name: "service",
};

/** The detected_level of a record without a level, as Loki has it. */
export const unknownLevel = "unknown";

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

export interface FoundField {
  readonly field: string;
  readonly type: string;
  readonly count: number;
  readonly values: readonly { readonly value: string; readonly count: number }[];
}

/** Names as LogQL can write them, of attributes as they were found: http_method of attrs.http.method. */
export type Names = ReadonlyMap<string, string>;

/** Those of the records that an expression selects: others of the same query may have another attribute by a name. */
export type NamesOf = (expression: Node) => Names;

/** The name in LogQL of a field as our query language writes it. */
export function nameOfField(field: string): string {
  const name = field.replace(/^attrs\./, "").replaceAll('"', "").replace(/[^A-Za-z0-9_]/g, "_");
  const own = /^[0-9]/.test(name) ? `_${name}` : name;
  return field.startsWith("attrs.") && recordField(own) !== undefined ? `attrs_${own}` : own;
}

/** A field of our query language; a name is letters, digits and _, which need no quotes. */
export function fieldNamed(name: string, names: Names): string {
  return recordField(name) ?? names.get(name) ?? `attrs.${name}`;
}

/** The value of a label, empty where it is absent. */
export function textOf(name: string, value: string | null | undefined): string {
  return value ?? (name === "detected_level" ? unknownLevel : "");
}
