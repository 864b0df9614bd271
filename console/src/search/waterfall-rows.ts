import { microsOf, type Span, type Trace } from "../../../supabase/functions/_shared/trace.ts";
import type { LogRecord } from "../service/logloom.ts";
import { type Gap, type Lane, leastGap } from "./trace-lanes.ts";

export type LogSpan = Span<LogRecord>;
export type LogTrace = Trace<LogRecord>;

/** How many places of a row may have a mark, so that a span with thousands of records stays light. */
const places = 200;

/** The colour of each service, in the order of their first spans. */
export function coloursOf({ spans }: LogTrace): Map<string | null, string> {
  const services = new Set(spans.map(({ record }) => record.service));
  return new Map([...services].map((name, i) => [name, `var(--series-${i % 8 + 1})`]));
}

/** The spans that are not below a closed one, and whether they have children. */
export function shownSpans({ spans }: LogTrace, closed: ReadonlySet<string>) {
  let hiddenBelow = Infinity;
  return spans.flatMap((span, i) => {
    if (span.depth > hiddenBelow) return [];
    hiddenBelow = closed.has(span.record.id) ? span.depth : Infinity;
    return [{ span, hasChildren: (spans[i + 1]?.depth ?? 0) > span.depth }];
  });
}

/** A time as a share of the trace, from 0 to 1. */
export function shareOf(micros: number, { duration }: LogTrace): number {
  return duration === 0 ? 0 : Math.min(1, Math.max(0, micros / duration));
}

/** The times in which no span ran. */
export function gapsOf(trace: LogTrace): Gap[] {
  let end = 0;
  const rest = { start: trace.duration, duration: 0 };
  return [...trace.spans.toSorted((a, b) => a.start - b.start), rest].flatMap((span) => {
    const [from, to] = [shareOf(end, trace), shareOf(span.start, trace)];
    const ms = (span.start - end) / 1000;
    end = Math.max(end, span.start + span.duration);
    return to - from >= leastGap ? [{ from, to, ms }] : [];
  });
}

/** The marks of a span's log records: one for each place, an error before others. */
export function marksOf({ logs }: LogSpan, trace: LogTrace): Lane["marks"] {
  const marks = new Map<number, Lane["marks"][number]>();
  for (const record of logs) {
    const place = shareOf(microsOf(record.ts) - trace.start, trace);
    const at = Math.round(place * places);
    if (!marks.has(at) || record.level === "error") marks.set(at, { record, place });
  }
  return [...marks.values()];
}
