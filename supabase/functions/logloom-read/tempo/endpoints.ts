import { corsHeaders } from "../../_shared/http.ts";
import type { Row } from "../loki/call_operation.ts";
import { answeredBy, decoded } from "../loki/endpoints.ts";
import { segmentsOf } from "../loki/label_names.ts";
import { Refusal } from "../loki/loki_error.ts";
import { limitOf, type Request } from "../loki/query_endpoints.ts";
import { shortened } from "../loki/syntax_tree.ts";
import { parametersOfRange, rangeOf } from "../loki/times_and_durations.ts";
import type { Asked } from "../protocol.ts";
import { maxRecords, recordsOfTrace } from "../read_trace.ts";
import { asProtobuf, resourceSpansOf } from "./trace_otlp.ts";
import { search } from "./search.ts";
import { attributes, fieldsOf, intrinsics, spans, translated } from "./traceql.ts";

/** Answers `/api/…`, the requests of Grafana to Tempo. */
export function answer(asked: Asked): Promise<Response> {
  return answeredBy(asked, () => endpointOf(asked.path.slice("/api/".length)));
}

function endpointOf(name: string): (request: Request) => unknown {
  const [, isV2, path] = /^(v2\/)?(.+)$/.exec(name) ?? [];
  const [, id] = /^traces\/([^/]+)$/.exec(path) ?? [];
  const [, tag] = /^v2\/search\/tag\/([^/]+)\/values$/.exec(name) ?? [];
  if (id !== undefined) return (request) => trace(request, decoded(id), isV2 !== undefined);
  if (tag !== undefined) return (request) => values(request, decoded(tag));
  if (path === "search/tags") return (request) => tags(request, isV2 !== undefined);
  if (name === "search") return search;
  if (name === "echo") return () => new Response("echo", { headers: corsHeaders });
  throw new Refusal(404, `Unknown endpoint: ${shortened(name)}`);
}

async function trace({ parameters, headers, now, ask }: Request, given: string, isV2: boolean) {
  const id = /^[\da-f]{32}$/i.test(given) ? given.toLowerCase() : given;
  const range = parametersOfRange(rangeOf(parameters, now));
  const { records, isCut } = await recordsOfTrace(ask, id, range);
  const found = resourceSpansOf(records, id);
  if (found.length === 0) throw new Refusal(404, `Trace not found: no spans of ${shortened(id)}`);
  const cut = { status: "PARTIAL", message: `Only the first ${maxRecords} records or 5 MB` };
  const whole = isV2 ? { trace: { resourceSpans: found }, ...isCut && cut } : { batches: found };
  if (!/\bprotobuf\b/.test(headers.get("Accept") ?? "")) return whole;
  const headersOf = { ...corsHeaders, "Content-Type": "application/protobuf" };
  return new Response(asProtobuf(isV2 ? "v2" : "v1", whole), { headers: headersOf });
}

async function tags({ parameters, now, ask }: Request, isV2: boolean) {
  const range = parametersOfRange(rangeOf(parameters, now));
  const found = await ask<{ field: string }[]>("list_log_fields", { p_query_dsl: spans, ...range });
  const own = ["attrs.kind", "attrs.resource", ...[...intrinsics.values()].flat()];
  const names = found.flatMap(({ field }) => {
    const [known] = [...attributes].find(([, one]) => one === field) ?? [];
    const keys = segmentsOf(field);
    if (known !== undefined || keys.length === 0 || own.includes(field)) return known ?? [];
    return keys[0] === "resource" ? keys.join(".") : `span.${keys.join(".")}`;
  });
  const scopes = ["resource", "span"].map((name) => ({
    name,
    tags: names.flatMap((one) => one.startsWith(`${name}.`) ? one.slice(name.length + 1) : [])
      .sort(),
  }));
  const all = [...scopes, { name: "intrinsic", tags: [...intrinsics.keys()] }];
  return isV2 ? { scopes: all } : { tagNames: [...new Set(all.flatMap(({ tags }) => tags))] };
}

async function values({ parameters, now, ask }: Request, tag: string) {
  const fields = fieldsOf(tag);
  if (fields[0] === "level") {
    return { tagValues: ["error", "ok", "unset"].map((value) => ({ type: "keyword", value })) };
  }
  const filter = translated(parameters.get("q") || "{}");
  const asked = fields.map(async (field, n) => {
    const others = fields.slice(0, n).map((other) => `-${other}:* `).join("");
    const rows = await ask<Row[]>("log_stats", {
      p_query_dsl: `${filter} ${others}${field}:* | count() by ${field}`,
      ...parametersOfRange(rangeOf(parameters, now)),
      p_limit: Math.min(limitOf(parameters, 1000), 1000),
    });
    return rows.flatMap(({ group }) => group[field] ?? []);
  });
  const type = fields[0] === "attrs.span_kind" ? "keyword" : "string";
  const found = [...new Set((await Promise.all(asked)).flat())].sort();
  return { tagValues: found.map((value) => ({ type, value })) };
}
