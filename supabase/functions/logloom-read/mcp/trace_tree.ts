import { type Span, traceOf } from "../../_shared/trace.ts";
import { type RecordOfTrace, recordsOfTrace } from "../read_trace.ts";
import { Refused } from "./tool_answer.ts";
import type { Given, Read } from "./tool_definition.ts";

/** About 2,000 tokens. */
const maxCharacters = 6000;
const maxIndent = 12;

/** The spans of a trace as lines. Those that do not fit are left out: fast, deep spans without an error first. */
export async function traceTree({ id }: Given, read: Read): Promise<unknown> {
  const { records, isCut } = await recordsOfTrace(read, String(id));
  const { spans, logs, duration } = traceOf(records);
  if (spans.length === 0) throw new Refused(`The trace has ${logs.length} log records, no spans`);
  // Errors and the spans around them come first. Spans come in the order of the tree.
  let depth = 0;
  const ranked = spans.toReversed().map((span) => {
    const isWanted = span.isError || span.depth < depth;
    if (isWanted) depth = span.depth;
    return { span, rank: isWanted ? Infinity : span.duration / (span.depth + 1) };
  });
  const kept = new Set<Span<RecordOfTrace>>();
  let left = maxCharacters;
  for (const { span } of ranked.sort((one, other) => other.rank - one.rank || 0)) {
    left -= JSON.stringify(lineOf(span)).length + 1;
    if (left < 0) break;
    kept.add(span);
  }
  return {
    duration_ms: duration / 1000,
    spans: spans.length,
    left_out: spans.length - kept.size,
    logs_without_span: logs.length,
    is_complete: !isCut,
    tree: spans.filter((span) => kept.has(span)).map(lineOf),
  };
}

function lineOf({ record, depth, start, duration, logs, ...span }: Span<RecordOfTrace>): string {
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
