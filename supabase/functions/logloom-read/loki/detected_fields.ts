import { jsonOf, labelsOfJson, labelsOfLogfmt } from "./line_parsers.ts";
import type { LogQuery } from "./logql_query.ts";
import { nameOfField, recordField, streamFields } from "./label_names.ts";
import { limitOf, type Request } from "./query_endpoints.ts";
import { unlessRefused } from "./loki_error.ts";
import { asked, cardinalitiesOf } from "./selector_stats.ts";
import { recordsOf } from "./loki_streams.ts";
import type { TimeRange } from "./times_and_durations.ts";

interface FoundField {
  readonly field: string;
  readonly type: string;
  readonly count: number;
  readonly values: readonly { readonly value: string; readonly count: number }[];
}

const fieldTypes: Record<string, string> = { number: "float", boolean: "boolean" };

interface Detected {
  readonly label: string;
  readonly type: string;
  readonly cardinality: number;
  readonly parsers: readonly string[] | null;
}

/** Fields of records, and of lines. An attribute has no parser in the answer, because it needs none. */
export async function detectedFields(request: Request): Promise<unknown> {
  const limit = limitOf(request.parameters, 1000);
  const { p, logs, range } = await asked(request);
  // Stages do not change the records' own fields.
  const found = await request.ask<FoundField[]>("list_log_fields", {
    p_query_dsl: logs.filterDsl,
    ...p,
  });
  const fields = found.filter(({ field }) =>
    field === "level" || field.startsWith("attrs.") || recordField(field) !== undefined &&
      !(streamFields as readonly string[]).includes(field)
  );
  // A field with a full list of values may have more values, so they are counted.
  const many = fields.flatMap(({ field, values }) => values.length < listedValues ? [] : [field]);
  const counts = await cardinalitiesOf(many, logs, p, request.ask);
  const ofRecords = fields.map(({ field, type, values }): Detected => ({
    label: field === "level" ? "detected_level" : nameOfField(field),
    type: type === "number" && values.every(({ value }) => /^-?[0-9]+$/.test(value))
      ? "int"
      : fieldTypes[type] ?? "string",
    cardinality: Math.max(values.length, counts.get(field) ?? 0),
    parsers: null,
  }));
  const known = new Set(ofRecords.map(({ label }) => label));
  const members = await membersOfLines(logs, range, request);
  const ofLines = [...members].map(([label, { parser, texts }]): Detected => ({
    label,
    type: typeOf([...texts]),
    cardinality: texts.size,
    parsers: [parser],
  }));
  const level = ofRecords.filter(({ label }) => label === "detected_level");
  const others = ofRecords.filter(({ label }) => label !== "detected_level");
  const all = [...level, ...others, ...ofLines.filter(({ label }) => !known.has(label))];
  const warnings = [`Only ${limit} fields: raise the limit or narrow the selector.`];
  return { fields: all.slice(0, limit), limit, ...all.length > limit && { warnings } };
}

/** list_log_fields lists at most this many values of a field. */
const listedValues = 10;

type Members = Map<string, { parser: string; texts: Set<string> }>;

/** Finds the members that json and logfmt read in the newest lines. Reads as many lines as Loki does. */
export async function membersOfLines(
  logs: LogQuery,
  range: TimeRange,
  { parameters, ask }: Request,
): Promise<Members> {
  const asked = parameters.get("line_limit");
  const limit = asked ? Math.min(1000, limitOf(new URLSearchParams({ limit: asked }), 100)) : 100;
  const asking = recordsOf(logs, range, { limit, direction: "backward" }, ask);
  // A view may allow the fields of records, but not the records.
  const { found } = await unlessRefused(asking, [403], () => ({ found: [], isCut: false }));
  const values: Members = new Map();
  for (const { entry: { line } } of found) {
    const json = jsonOf(line);
    const parser = json === undefined ? "logfmt" : "json";
    const members = json === undefined ? labelsOfLogfmt(line) : labelsOfJson(json);
    for (const [label, text] of members) {
      const one = values.get(label) ?? { parser, texts: new Set<string>() };
      one.texts.add(text);
      values.set(label, one);
    }
  }
  return values;
}

function typeOf(texts: readonly string[]): string {
  const are = (pattern: RegExp) => texts.every((text) => pattern.test(text));
  if (are(/^-?[0-9]+$/)) return "int";
  if (are(/^-?[0-9]+(\.[0-9]+)?$/)) return "float";
  return are(/^(true|false)$/) ? "boolean" : "string";
}
