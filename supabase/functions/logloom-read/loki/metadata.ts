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
import { labelsOf } from "./streams.ts";
import { parametersOfRange, rangeOf } from "./times.ts";
import { parseLogql } from "./tree.ts";

type Answer = Promise<unknown>;

interface Row {
  readonly group: Record<string, string | null>;
  readonly value: number;
  readonly values?: Record<string, unknown>;
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

async function fieldsOf(request: Request): Promise<FoundField[]> {
  const { p, logs } = await asked(request);
  // Of records as they are, with which stages have nothing to do.
  return await request.ask<FoundField[]>("list_log_fields", { p_query_dsl: logs.filterDsl, ...p });
}

function streamLabels(fields: readonly FoundField[]): { label: string; cardinality: number }[] {
  return fields.filter(({ field }) => (streamFields as readonly string[]).includes(field))
    .flatMap(({ field, values }) => {
      const names = field === "service" ? [field, "service_name"] : [field];
      return names.map((label) => ({ label, cardinality: values.length }));
    })
    .sort((a, b) => a.label < b.label ? -1 : 1);
}

export async function labels(request: Request): Answer {
  const found = streamLabels(await fieldsOf(request));
  return { status: "success", data: found.map(({ label }) => label) };
}

export async function detectedLabels(request: Request): Answer {
  return { detectedLabels: streamLabels(await fieldsOf(request)) };
}

async function valuesOf(request: Request, name: string, limit: number): Promise<string[]> {
  if (isInternal(name)) return [];
  if (!/^[A-Za-z0-9_]+$/.test(name)) refuse(`invalid label name ${JSON.stringify(name)}`);
  const { p, logs } = await asked(request, undefined, [name]);
  const field = logs.field(name);
  const rows = await request.ask<Row[]>("log_stats", {
    p_query_dsl: `${logs.dsl} | count() by ${field}`,
    ...p,
    p_limit: Math.min(limit, 1000),
  });
  return rows.flatMap(({ group }) => {
    const value = textOf(name, group[field]);
    return value === "" ? [] : [value];
  }).sort();
}

export async function labelValues(request: Request, name: string): Answer {
  return { status: "success", data: await valuesOf(request, name, 1000) };
}

export async function detectedFieldValues(request: Request, name: string): Answer {
  const limit = limitOf(request.parameters, 1000);
  return { values: await valuesOf(request, name, limit), limit };
}

const fieldTypes: Record<string, string> = { number: "float", boolean: "boolean" };

/** No parser is named, because attributes need none. */
export async function detectedFields(request: Request): Answer {
  const limit = limitOf(request.parameters, 1000);
  const found = await fieldsOf(request);
  const fields = found
    .filter(({ field }) =>
      field.startsWith("attrs.") || recordField(field) !== undefined &&
        !(streamFields as readonly string[]).includes(field)
    )
    .map(({ field, type, values }) => ({
      label: nameOfField(field),
      type: type === "number" && values.every(({ value }) => /^-?[0-9]+$/.test(value))
        ? "int"
        : fieldTypes[type] ?? "string",
      cardinality: values.length,
      parsers: null,
    }));
  const level = found.find(({ field }) => field === "level");
  const detected = level === undefined ? [] : [{
    label: "detected_level",
    type: "string",
    cardinality: level.values.length,
    parsers: null,
  }];
  return { fields: [...detected, ...fields].slice(0, limit), limit };
}

export async function series(request: Request): Answer {
  const selectors = request.parameters.getAll("match[]");
  if (selectors.length > 10) refuse("match[]: at most 10 selectors");
  const found = new Map<string, Record<string, string>>();
  for (const selector of selectors.length === 0 ? [""] : selectors) {
    const { p, logs } = await asked(request, selector);
    const rows = await countedBy(streamFields, logs, p, request)
      // Where a field is hidden from the reader, the others are what a stream has.
      .catch(async (error) => {
        if (!(error instanceof Refusal) || error.status !== 400) throw error;
        const parameters = { p_query_dsl: logs.filterDsl, ...p };
        const found = await request.ask<FoundField[]>("list_log_fields", parameters);
        const shown = streamFields.filter((name) => found.some(({ field }) => field === name));
        return await countedBy(shown, logs, p, request);
      });
    for (const { group } of rows) {
      const labels = labelsOf(group);
      found.set(JSON.stringify(labels), labels);
    }
  }
  return { status: "success", data: [...found.values()] };
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
  if ((parameters.get("aggregateBy") || "series") !== "series") {
    refuse("aggregateBy: only series is supported");
  }
  const targets = (parameters.get("targetLabels") || "").split(",").map((name) => name.trim())
    .filter((name) => name !== "");
  const wanted = (targets.length > 0 ? targets : found.logs.selected)
    .filter((name) => !isInternal(name));
  const names = [...new Set<string>(wanted.length > 0 ? wanted : streamFields)];
  for (const name of names) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      refuse(`invalid label name ${JSON.stringify(name)}`);
    }
  }
  return { ...found, names };
}

/** Records, since their bytes are not counted. */
export async function indexVolume(request: Request): Answer {
  const { range, p, logs, names } = await volumeOf(request);
  const limit = limitOf(request.parameters, 100);
  const fields = [...new Set(names.map((name) => logs.field(name)))];
  const by = fields.length === 0 ? "" : ` by ${fields.join(", ")}`;
  const rows = await request.ask<Row[]>("log_stats", {
    p_query_dsl: `${logs.dsl} | count()${by}`,
    ...p,
    p_limit: Math.min(limit, 1000),
  });
  const at = Number(range.end / 1_000_000n) / 1000;
  return {
    status: "success",
    data: {
      resultType: "vector",
      result: rows.map(({ group, value }) => ({
        metric: Object.fromEntries(
          names.map((name) => [name, textOf(name, group[logs.field(name)])])
            .filter(([, text]) => text !== ""),
        ),
        value: [at, String(value)],
      })).filter(({ metric }) => names.length === 0 || Object.keys(metric).length > 0),
      stats: {},
    },
  };
}

export async function indexVolumeRange(request: Request): Answer {
  const { range, logs, names } = await volumeOf(request);
  const step = stepOf(request.parameters, range);
  const { series } = await evaluated(
    {
      kind: "range",
      logs,
      aggregate: "count()",
      joins: "sum",
      seconds: step,
      isPerSecond: false,
      offset: 0,
      by: names,
    },
    timesOf(range.start, range.end, step),
    request.ask,
  );
  return {
    status: "success",
    data: {
      resultType: "matrix",
      result: series.map(({ labels, points }) => ({
        metric: labels,
        values: [...points].map(([at, value]) => [at, String(value)]),
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
