import { isSpan, traceOf } from "../../_shared/trace.ts";
import { refuse, unlessRefused } from "../loki/loki_error.ts";
import { pagesOf } from "../loki/loki_streams.ts";
import { limitOf, type Request } from "../loki/query_endpoints.ts";
import { quoted } from "../loki/string_literals.ts";
import { isoOf, rangeOf } from "../loki/times_and_durations.ts";
import { maxRecords, type RecordOfTrace } from "../read_trace.ts";
import { nanosOf } from "./trace_otlp.ts";
import { spans, translated } from "./traceql.ts";

/** As many ids of this length fit a query, which may have 2,048 bytes. */
const maxTraces = 45;
const maxId = 36;
const none = { logs: [] as RecordOfTrace[] };
const hour = 3_600_000_000_000n;

/** Finds the newest traces with a span that the query finds. */
export async function search({ parameters, now, ask }: Request): Promise<unknown> {
  const range = rangeOf(parameters, now);
  const limit = limitOf(parameters, 20);
  if (limit > maxTraces) refuse(`limit: at most ${maxTraces} traces, not ${limit}`);
  for (const name of ["tags", "minDuration", "maxDuration"]) {
    if (parameters.get(name)) refuse(`${name} is not supported: use q, such as { duration > 1s }`);
  }
  const spss = limitOf(new URLSearchParams({ limit: parameters.get("spss") ?? "" }), 3);
  const found = new Map<string, RecordOfTrace[]>();
  const query = { dsl: translated(parameters.get("q") || "{}"), isDecidedByRecord: true };
  let inspectedSpans = 0;
  pages:
  for await (const page of pagesOf(query, range, { limit, order: "desc" }, ask)) {
    for (const record of page.logs as unknown as RecordOfTrace[]) {
      const id = idOf(record);
      const matched = found.get(id) ?? [];
      if (matched.length === 0 && found.size === limit) break pages;
      if (++inspectedSpans > maxRecords) break pages;
      if (id !== "" && isSpan(record)) found.set(id, [...matched, record]);
    }
  }
  if (inspectedSpans > 0 && found.size === 0) {
    refuse(
      "the spans have no trace: req_id and attrs.trace_id are missing, or hidden from this key",
    );
  }
  const all = new Set([...found].flatMap(([id, [{ req_id }]]) => [id, String(req_id ?? id)]));
  const ids = [...all].filter((id) => id.length <= maxId).slice(0, maxTraces).map(quoted);
  const asked = () =>
    ask<typeof none>("search_logs", {
      p_query_dsl: `${spans} -attrs.parent_id:* req_id:(${ids.join(" ")})`,
      // A root may have begun before the range.
      p_ts_from: isoOf(range.start > hour ? range.start - hour : 0n),
      p_ts_to: isoOf(range.end),
      p_limit: 1000,
    });
  // A key may be refused req_id.
  const { logs: roots } = ids.length === 0 ? none : await unlessRefused(asked(), [400], () => none);
  const traces = [...found].map(([traceID, matched]) => {
    const trace = traceOf(matched);
    const root = roots.find((record) => idOf(record) === traceID);
    const { start, duration, spans: [{ record }] } = root === undefined ? trace : traceOf([root]);
    return {
      traceID,
      rootServiceName: record.service ?? "",
      rootTraceName: record.msg ?? "",
      startTimeUnixNano: nanosOf(start),
      // Grafana reads 32 bits.
      durationMs: Math.min(Math.floor(duration / 1000), 2 ** 32 - 1),
      spanSets: [{
        matched: matched.length,
        spans: trace.spans.slice(0, spss).map((span) => ({
          spanID: span.id ?? "",
          name: span.record.msg ?? "",
          startTimeUnixNano: nanosOf(trace.start + span.start),
          durationNanos: nanosOf(span.duration),
        })),
      }],
    };
  });
  return { traces, metrics: { inspectedSpans: `${inspectedSpans}` } };
}

/** The trace of a span. If its request has an id of its own, that is `req_id`. */
function idOf({ attrs, req_id }: RecordOfTrace): string {
  return String(attrs?.trace_id ?? req_id ?? "");
}
