import { namesFor } from "./found_names.ts";
import { LogQuery } from "./logs.ts";
import {
  type FoundField,
  isInternal,
  nameOfField,
  recordField,
  streamFields,
  textOf,
} from "./names.ts";
import { limitOf, type Request, stepOf } from "./query.ts";
import { evaluated, timesOf } from "./evaluate.ts";
import { Refusal, refuse } from "./refusal.ts";
import { jsonOf, labelsOfJson, labelsOfLogfmt } from "./line_parsers.ts";
import { labelsOf, recordsOf } from "./streams.ts";
import { parametersOfRange, rangeOf, type TimeRange } from "./times.ts";
import { parseLogql } from "./tree.ts";
import { type Evaluated, textOfValue } from "./vectors.ts";

type Answer = Promise<unknown>;

interface Row {
  readonly group: Record<string, string | null>;
  readonly value: number;
  readonly values?: Record<string, unknown>;
  readonly total_groups?: number;
}

/** What a request asks about: a range, the records of a selector, all where there is none, and more names. */
async function asked(
  request: Request,
  selector = request.parameters.get("query") ?? "",
  more: readonly string[] = [],
) {
  const { parameters, now, ask } = request;
  const range = rangeOf(parameters, now);
  const p = parametersOfRange(range);
  const tree = /^\s*(?:\{\s*\})?\s*$/.test(selector)
    ? parseLogql(`{__all__=~".*"}`)
    : parseLogql(selector);
  const expression = tree.children[0]?.children[0];
  if (expression?.name !== "LogExpr") refuse("only a selector of records is allowed here");
  const namesOf = await namesFor(tree, range, ask, more);
  return { range, p, logs: new LogQuery(expression, namesOf(expression)) };
}

/** How many values each field has in all records. Of what is hidden from the reader there are none. */
async function cardinalitiesOf(
  fields: readonly string[],
  logs: LogQuery,
  p: Record<string, string>,
  ask: Request["ask"],
): Promise<Map<string, number>> {
  if (fields.length === 0) return new Map();
  if (fields.length > aggregatesAtOnce) {
    const some = await cardinalitiesOf(fields.slice(0, aggregatesAtOnce), logs, p, ask);
    const others = await cardinalitiesOf(fields.slice(aggregatesAtOnce), logs, p, ask);
    return new Map([...some, ...others]);
  }
  const counts = fields.map((field, n) => `count_distinct(${field}) as n${n}`).join(", ");
  try {
    const [row] = await ask<Row[]>("log_stats", { p_query_dsl: `${logs.dsl} | ${counts}`, ...p });
    return new Map(
      fields.map((
        field,
        n,
      ) => [field, Number(fields.length === 1 ? row?.value : row?.values?.[`n${n}`])]),
    );
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 400) throw error;
    // The selector itself may be what is refused.
    if (fields.length === 1) {
      await ask("log_stats", { p_query_dsl: `${logs.dsl} | count()`, ...p });
      return new Map();
    }
    const found = new Map<string, number>();
    for (const field of fields) {
      const [entry] = await cardinalitiesOf([field], logs, p, ask);
      if (entry !== undefined) found.set(...entry);
    }
    return found;
  }
}

const aggregatesAtOnce = 10;

async function streamLabels(request: Request): Promise<{ label: string; cardinality: number }[]> {
  const { p, logs } = await asked(request);
  const found = await cardinalitiesOf(streamFields, logs, p, request.ask);
  return [...found].filter(([, count]) => count > 0)
    .flatMap(([field, cardinality]) => {
      const names = field === "service" ? [field, "service_name"] : [field];
      return names.map((label) => ({ label, cardinality }));
    })
    .sort((a, b) => a.label < b.label ? -1 : 1);
}

export async function labels(request: Request): Answer {
  const found = await streamLabels(request);
  return { status: "success", data: found.map(({ label }) => label) };
}

export async function detectedLabels(request: Request): Answer {
  return { detectedLabels: await streamLabels(request) };
}

/** What an answer says that has less than there is. */
function cut(rows: readonly Row[], what: string): { warnings?: string[] } {
  const total = rows[0]?.total_groups ?? 0;
  return total > rows.length
    ? { warnings: [`Only ${rows.length} of ${total} ${what}: narrow the selector or the range.`] }
    : {};
}

async function valuesOf(request: Request, name: string, limit: number) {
  if (isInternal(name)) return { values: [], warning: {} };
  if (!/^[A-Za-z0-9_]+$/.test(name)) refuse(`invalid label name ${JSON.stringify(name)}`);
  const { p, logs } = await asked(request, undefined, [name]);
  const fields = logs.fields(name);
  const rows = await request.ask<Row[]>("log_stats", {
    p_query_dsl: `${logs.dsl} | count() by ${fields.join(", ")}`,
    ...p,
    p_limit: Math.min(limit, 1000),
  });
  const values = rows.map(({ group }) => textOf(name, firstOf(fields, group)));
  return {
    values: [...new Set(values)].filter((value) => value !== "").sort(),
    warning: cut(rows, `values of ${name}, the most frequent ones`),
  };
}

function firstOf(fields: readonly string[], group: Row["group"]): string | null | undefined {
  return fields.map((field) => group[field]).find((text) => text !== null && text !== undefined);
}

export async function labelValues(request: Request, name: string): Answer {
  const { values, warning } = await valuesOf(request, name, 1000);
  return { status: "success", ...warning, data: values };
}

export async function detectedFieldValues(request: Request, name: string): Answer {
  const limit = limitOf(request.parameters, 1000);
  const { values, warning } = await valuesOf(request, name, limit);
  if (values.length > 0 || isInternal(name)) return { values, limit, ...warning };
  // What only lines have.
  const { logs, range } = await asked(request, undefined, [name]);
  const texts = (await membersOfLines(logs, range, request)).get(name)?.texts ?? [];
  return { values: [...texts].sort().slice(0, limit), limit };
}

const fieldTypes: Record<string, string> = { number: "float", boolean: "boolean" };

interface Detected {
  readonly label: string;
  readonly type: string;
  readonly cardinality: number;
  readonly parsers: readonly string[] | null;
}

/** No parser is named for attributes, because they need none. */
export async function detectedFields(request: Request): Answer {
  const limit = limitOf(request.parameters, 1000);
  const { p, logs, range } = await asked(request);
  // Of records as they are, with which stages have nothing to do.
  const found = await request.ask<FoundField[]>("list_log_fields", {
    p_query_dsl: logs.filterDsl,
    ...p,
  });
  const fields = found.filter(({ field }) =>
    field === "level" || field.startsWith("attrs.") || recordField(field) !== undefined &&
      !(streamFields as readonly string[]).includes(field)
  ).slice(0, limit);
  // More than the frequent values that are listed: those are counted.
  const many = fields.filter(({ values }) => values.length >= listedValues).map(({ field }) =>
    field
  );
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
  return { fields: all.slice(0, limit), limit };
}

/** As many as list_log_fields names of a field. */
const listedValues = 10;

type Members = Map<string, { parser: string; texts: Set<string> }>;

/** What json and logfmt find in the newest lines, as many as Loki looks at. */
async function membersOfLines(
  logs: LogQuery,
  range: TimeRange,
  { parameters, ask }: Request,
): Promise<Members> {
  const asked = parameters.get("line_limit");
  const limit = asked ? Math.min(1000, limitOf(new URLSearchParams({ limit: asked }), 100)) : 100;
  let lines: string[] = [];
  try {
    const { found } = await recordsOf(logs, range, { limit, direction: "backward" }, ask);
    lines = found.map(({ entry }) => entry.line);
  } catch (error) {
    // A view may be closed to records, while their fields are open.
    if (!(error instanceof Refusal) || error.status !== 403) throw error;
  }
  const values: Members = new Map();
  for (const line of lines) {
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

export async function series(request: Request): Answer {
  const selectors = request.parameters.getAll("match[]");
  if (selectors.length > 10) refuse("match[]: at most 10 selectors");
  const found = new Map<string, Record<string, string>>();
  let warnings: string[] = [];
  for (const selector of selectors.length === 0 ? [""] : selectors) {
    const { p, logs } = await asked(request, selector);
    const rows = await countedBy(streamFields, logs, p, request)
      // Where a field is hidden from the reader, the others are what a stream has.
      .catch(async (error) => {
        if (!(error instanceof Refusal) || error.status !== 400) throw error;
        const shown = await cardinalitiesOf(streamFields, logs, p, request.ask);
        return await countedBy([...shown.keys()], logs, p, request);
      });
    for (const { group } of rows) {
      const labels = labelsOf(group);
      found.set(JSON.stringify(labels), labels);
    }
    warnings = [...warnings, ...cut(rows, "series, the largest ones").warnings ?? []];
  }
  return {
    status: "success",
    ...warnings.length > 0 && { warnings },
    data: [...found.values()],
  };
}

async function countedBy(
  names: readonly string[],
  logs: LogQuery,
  p: Record<string, string>,
  { ask }: Request,
): Promise<Row[]> {
  if (names.length === 0) return [];
  const p_query_dsl = `${logs.dsl} | count() by ${names.join(", ")}`;
  return await ask<Row[]>("log_stats", { p_query_dsl, ...p, p_limit: 1000 });
}

/** Entries are counted; chunks and bytes are of Loki's own store. */
export async function indexStats(request: Request): Answer {
  const { p, logs } = await asked(request);
  const [row] = await request.ask<Row[]>("log_stats", {
    p_query_dsl: `${logs.dsl} | count()`,
    ...p,
  });
  return { streams: 0, chunks: 0, entries: row?.value ?? 0, bytes: 0 };
}

/** The labels by which a volume is told apart: those asked for, or those of the selector. */
async function volumeOf(request: Request) {
  const found = await asked(request);
  const { parameters } = request;
  const aggregateBy = parameters.get("aggregateBy") || "series";
  if (!["series", "labels"].includes(aggregateBy)) {
    refuse(`aggregateBy: series or labels, not ${JSON.stringify(aggregateBy)}`);
  }
  const isByLabel = aggregateBy === "labels";
  const targets = (parameters.get("targetLabels") || "").split(",").map((name) => name.trim())
    .filter((name) => name !== "");
  const wanted = (targets.length > 0 ? targets : found.logs.selected)
    .filter((name) => !isInternal(name));
  const isAll = wanted.length === 0 || isByLabel && targets.length === 0;
  const names = [...new Set<string>(isAll ? streamFields : wanted)];
  for (const name of names) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      refuse(`invalid label name ${JSON.stringify(name)}`);
    }
  }
  return { ...found, names, isByLabel };
}

/** Records, since their bytes are not counted. */
export async function indexVolume(request: Request): Answer {
  const { range, p, logs, names, isByLabel } = await volumeOf(request);
  const limit = limitOf(request.parameters, 100);
  const at = Number(range.end / 1_000_000n) / 1000;
  const answer = (
    result: { metric: Record<string, string>; value: number }[],
    warning: { warnings?: string[] } = {},
  ) => ({
    status: "success",
    ...warning,
    data: {
      resultType: "vector",
      result: result.map(({ metric, value }) => ({ metric, value: [at, textOfValue(value)] })),
      stats: {},
    },
  });
  if (isByLabel) {
    const counted = [];
    for (const name of names) {
      const { logs } = await asked(request);
      logs.requireLabel(name);
      const [row] = await request.ask<Row[]>("log_stats", {
        p_query_dsl: `${logs.dsl} | count()`,
        ...p,
      });
      counted.push({ metric: { [name]: "" }, value: row?.value ?? 0 });
    }
    const found = counted.filter(({ value }) => value > 0).sort((a, b) => b.value - a.value);
    return answer(found.slice(0, limit));
  }
  const fields = [...new Set(names.flatMap((name) => logs.fields(name)))];
  const by = fields.length === 0 ? "" : ` by ${fields.join(", ")}`;
  const rows = await request.ask<Row[]>("log_stats", {
    p_query_dsl: `${logs.dsl} | count()${by}`,
    ...p,
    p_limit: Math.min(limit, 1000),
  });
  return answer(
    rows.map(({ group, value }) => ({
      metric: Object.fromEntries(
        names.map((name) => [name, textOf(name, firstOf(logs.fields(name), group))])
          .filter(([, text]) => text !== ""),
      ),
      value,
    })).filter(({ metric }) => names.length === 0 || Object.keys(metric).length > 0),
    cut(rows, "volumes, the largest ones"),
  );
}

export async function indexVolumeRange(request: Request): Answer {
  const { range, logs, names, isByLabel } = await volumeOf(request);
  const step = stepOf(request.parameters, range);
  const counted = async (logs: LogQuery, by: readonly string[]) =>
    await evaluated(
      {
        kind: "range",
        logs,
        aggregate: "count()",
        joins: "sum",
        sampled: { name: "count_over_time", number: NaN, unwrapped: undefined },
        seconds: step,
        isPerSecond: false,
        offset: 0,
        by,
        isGrouped: true,
      },
      timesOf(range.start, range.end, step),
      request.ask,
    );
  let found: Evaluated;
  if (isByLabel) {
    const series = [];
    for (const name of names) {
      const { logs } = await asked(request);
      logs.requireLabel(name);
      const [one] = (await counted(logs, [])).series;
      if (one !== undefined) series.push({ labels: { [name]: "" }, points: one.points });
    }
    found = { series, isCut: false };
  } else found = await counted(logs, names);
  return {
    status: "success",
    ...found.isCut && { warnings: ["There are more series than these, the largest ones."] },
    data: {
      resultType: "matrix",
      result: found.series.map(({ labels, points }) => ({
        metric: labels,
        values: [...points].map(([at, value]) => [at, textOfValue(value)]),
      })),
      stats: {},
    },
  };
}

/** Each pattern with one sample, of all its records, where it was seen last. */
export async function patterns(request: Request): Answer {
  const { p, logs } = await asked(request);
  const rows = await request.ask<Row[]>("log_stats", {
    p_query_dsl: `${logs.dsl} | patterns`,
    ...p,
    p_limit: 300,
  });
  return {
    status: "success",
    ...cut(rows, "patterns, the most frequent ones"),
    data: rows.flatMap(({ group, value, values }) => {
      const last = Date.parse(String(values?.last));
      if (group.pattern === null || Number.isNaN(last)) return [];
      const pattern = group.pattern.replaceAll("<*>", "<_>");
      return [{ pattern, samples: [[Math.floor(last / 1000), value]] }];
    }),
  };
}

/** A query as it is, if it is one: the editor has formatted what it shows. */
export function formatQuery({ parameters }: Request): unknown {
  const query = (parameters.get("query") ?? "").trim();
  parseLogql(query);
  return { status: "success", data: query };
}

export function drilldownLimits(): unknown {
  return {
    limits: {
      discover_log_levels: true,
      discover_service_name: ["service"],
      log_level_fields: ["level"],
      max_entries_limit_per_query: 5000,
      max_line_size_truncate: false,
      max_query_bytes_read: "0B",
      max_query_length: "0s",
      max_query_lookback: "0s",
      max_query_range: "0s",
      max_query_series: 1000,
      metric_aggregation_enabled: false,
      pattern_persistence_enabled: false,
      query_timeout: "15s",
      retention_period: "0s",
      volume_enabled: true,
      volume_max_series: 1000,
    },
    pattern_ingester_enabled: true,
    version: "unknown",
  };
}

/** Grafana offers what Loki of this version can do. */
export function buildInfo(): unknown {
  return {
    version: "3.5.0",
    revision: "logloom",
    branch: "",
    buildUser: "",
    buildDate: "",
    goVersion: "",
  };
}
