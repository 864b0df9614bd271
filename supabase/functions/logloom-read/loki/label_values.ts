import type { Row } from "./call_operation.ts";
import { membersOfLines } from "./detected_fields.ts";
import type { LogQuery } from "./logql_query.ts";
import { isInternal, streamFields, textOf } from "./label_names.ts";
import { limitOf, type Request } from "./query_endpoints.ts";
import { refuse, unlessRefused } from "./loki_error.ts";
import { asked, cardinalitiesOf, cut, stats } from "./selector_stats.ts";
import { labelsOf } from "./loki_streams.ts";

type Answer = Promise<unknown>;

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

async function valuesOf(request: Request, name: string, limit: number) {
  if (isInternal(name)) return { values: [], warning: {} };
  if (!/^[A-Za-z0-9_]+$/.test(name)) refuse(`invalid label name ${JSON.stringify(name)}`);
  const { p, logs } = await asked(request, undefined, [name]);
  // Records without the label add no value to the list.
  logs.requireLabel(name);
  const fields = logs.fields(name);
  const most = { ...p, p_limit: Math.min(limit, 1000) };
  const rows = await stats(logs, `count() by ${fields.join(", ")}`, most, request.ask);
  const values = rows.map(({ group }) =>
    textOf(name, fields.map((field) => group[field]).find((text) => text != null))
  );
  return {
    values: [...new Set(values)].filter((value) => value !== "").sort(),
    warning: cut(rows, `values of ${name}, the most frequent ones`),
  };
}

export async function labelValues(request: Request, name: string): Answer {
  const { values, warning } = await valuesOf(request, name, 1000);
  return { status: "success", ...warning, data: values };
}

export async function detectedFieldValues(request: Request, name: string): Answer {
  const limit = limitOf(request.parameters, 1000);
  const { values, warning } = await valuesOf(request, name, limit);
  if (values.length > 0 || isInternal(name)) return { values, limit, ...warning };
  // Members that only lines have.
  const { logs, range } = await asked(request, undefined, [name]);
  const texts = (await membersOfLines(logs, range, request)).get(name)?.texts ?? [];
  return { values: [...texts].sort().slice(0, limit), limit };
}

export async function series(request: Request): Answer {
  const selectors = ["match[]", "match"].flatMap((name) => request.parameters.getAll(name));
  if (selectors.length > 10) refuse("match[]: at most 10 selectors");
  const found = new Map<string, Record<string, string>>();
  let warnings: string[] = [];
  for (const selector of selectors.length === 0 ? [""] : selectors) {
    const { p, logs } = await asked(request, selector);
    const rows = await unlessRefused(countedBy(streamFields, logs, p, request), [400], async () => {
      // If a field is hidden from the reader, a stream has only the other fields.
      const shown = await cardinalitiesOf(streamFields, logs, p, request.ask);
      return await countedBy([...shown.keys()], logs, p, request);
    });
    for (const { group } of rows) {
      const labels = labelsOf(group);
      found.set(JSON.stringify(labels), labels);
    }
    warnings = [...warnings, ...cut(rows, "series, the largest ones").warnings ?? []];
  }
  return { status: "success", ...warnings.length > 0 && { warnings }, data: [...found.values()] };
}

async function countedBy(
  names: readonly string[],
  logs: LogQuery,
  p: Record<string, string>,
  { ask }: Request,
): Promise<Row[]> {
  if (names.length === 0) return [];
  return await stats(logs, `count() by ${names.join(", ")}`, { ...p, p_limit: 1000 }, ask);
}
