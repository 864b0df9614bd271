import { Buffer } from "node:buffer";
import { type Span, traceOf } from "../../_shared/trace.ts";
import { type RecordOfTrace, recordsOfTrace } from "../read_trace.ts";
import { Refused } from "./tool_answer.ts";
import { type Given, parametersOf, type Read } from "./tool_definition.ts";

/** About 2,000 tokens in any script. */
const maxBytes = 6000;
const maxIndent = 12;

type Shown = Span<RecordOfTrace>;

/** The spans of a trace as lines. Those that do not fit are left out: fast, deep spans without an error first. */
export async function traceTree({ id, ...range }: Given, read: Read): Promise<unknown> {
  const within = parametersOf({ ts_from: "now-7d", ...range });
  const { records, isCut } = await recordsOfTrace(read, String(id), within);
  if (records.length === 0) {
    throw new Refused(
      `No records of this trace. As attrs.trace_id it is looked for from ${within.p_ts_from} to ` +
        `${within.p_ts_to ?? "now"}: give other ts_from and ts_to`,
    );
  }
  const { spans, logs, duration } = traceOf(records);
  if (spans.length === 0) throw new Refused(`The trace has ${logs.length} log records, no spans`);
  const lines = new Map(spans.map((span) => [span, lineOf(span)]));
  const kept = keptOf(spans, lines);
  return {
    duration_ms: duration / 1000,
    spans: spans.length,
    left_out: spans.length - kept.size,
    logs_without_span: logs.length,
    is_complete: !isCut,
    tree: spans.flatMap((span) => kept.has(span) ? lines.get(span) : []),
  };
}

/** Chooses the spans that fit: outer errors first, then slow spans, each with all spans around it. */
function keptOf(spans: readonly Shown[], lines: ReadonlyMap<Shown, string>): Set<Shown> {
  const parents = new Map<Shown, Shown>();
  const path: Shown[] = [];
  for (const span of spans) {
    path[span.depth] = span;
    if (span.depth > 0) parents.set(span, path[span.depth - 1]);
  }
  const rank = ({ isError, duration, depth }: Shown) =>
    (isError ? Number.MAX_VALUE : duration) / (depth + 1);
  const kept = new Set<Shown>();
  let left = maxBytes;
  for (const span of spans.toSorted((one, other) => rank(other) - rank(one))) {
    const added: Shown[] = [];
    let bytes = 0;
    for (
      let one: Shown | undefined = span;
      one !== undefined && !kept.has(one) && bytes <= left;
      one = parents.get(one)
    ) {
      bytes += Buffer.byteLength(JSON.stringify(lines.get(one))) + 1;
      added.push(one);
    }
    if (bytes > left) continue;
    left -= bytes;
    for (const one of added) kept.add(one);
  }
  return kept;
}

function lineOf({ record, depth, start, duration, logs, ...span }: Shown): string {
  const error = logs.find(({ level }) => level === "error");
  return "  ".repeat(Math.min(depth, maxIndent)) +
    `${short(record.msg, 80)} (${short(record.service, 40)}) ${duration / 1000} ms at ` +
    `${start / 1000}` +
    (span.isError ? " [error]" : "") +
    (span.isCritical ? " *" : "") +
    (span.lacksParent ? " [parent missing]" : "") +
    (logs.length > 0 ? ` [logs: ${logs.length}]` : "") +
    (error === undefined ? "" : ` ! ${short(error.msg, 120)}`);
}

function short(text: string | null, most: number): string {
  return text !== null && text.length > most ? `${text.slice(0, most).toWellFormed()}…` : `${text}`;
}
