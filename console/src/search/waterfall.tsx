import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { traceOf } from "../../../supabase/functions/_shared/trace.ts";
import type { LogRecord } from "../service/logloom.ts";
import { offset } from "../shared/format-number.ts";
import { say } from "../shared/translate.ts";
import { useIsNarrow } from "../shared/use-is-narrow.ts";
import { Moments } from "./related-records.tsx";
import { SpanRow } from "./span-row.tsx";
import { GapWords } from "./trace-drawing.tsx";
import { coloursOf, gapsOf, type LogSpan, shownSpans } from "./waterfall-rows.ts";

/** The spans of a trace as a tree on a line of time. Only visible rows are in the document. */
export function Waterfall({ records, from, open, onOpen }: {
  records: LogRecord[];
  /** The record from which the trace was opened. */
  from: LogRecord;
  /** The id of the open record. */
  open: string | undefined;
  /** Opens a record, with the log records of its span. */
  onOpen: (record: LogRecord, logs?: readonly LogRecord[]) => void;
}) {
  const trace = useMemo(() => traceOf(records), [records]);
  const colours = useMemo(() => coloursOf(trace), [trace]);
  const gaps = useMemo(() => gapsOf(trace), [trace]);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => shownSpans(trace, closed), [trace, closed]);
  const [active, setActive] = useState(() =>
    trace.spans.find(({ record, logs }) => [record, ...logs].some(({ id }) => id === from.id))
  );
  const at = rows.findIndex(({ span }) => span === active);
  const current = rows[at];

  const scroller = useRef<HTMLDivElement>(null);
  const height = useIsNarrow() ? 46 : 25;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 10,
    getItemKey: (index) => rows[index]?.span.record.id ?? index,
  });
  const items = virtual.getVirtualItems();
  useLayoutEffect(() => virtual.measure(), [virtual, height]);
  useEffect(() => virtual.scrollToIndex(Math.max(0, at), { align: "center" }), [virtual]);

  const openRow = useCallback((span: LogSpan, record: LogRecord) => {
    setActive(span);
    onOpen(record, span.logs);
  }, [onOpen]);
  const toggle = useCallback((id: string) => {
    setClosed((before) =>
      before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id])
    );
  }, []);
  const moveTo = (index: number) => {
    const span = rows[index]?.span;
    if (!span) return;
    virtual.scrollToIndex(index, { align: "auto" });
    if (open === undefined) setActive(span);
    else openRow(span, span.record);
  };
  const depth = current?.span.depth ?? 0;
  const id = current?.span.record.id ?? "";
  const isExpanded = current?.hasChildren === true && !closed.has(id);
  const actions: Record<string, () => unknown> = {
    ArrowDown: () => moveTo(at + 1),
    ArrowUp: () => moveTo(at - 1),
    Home: () => moveTo(0),
    End: () => moveTo(rows.length - 1),
    ArrowRight: () => isExpanded ? moveTo(at + 1) : current?.hasChildren && toggle(id),
    ArrowLeft: () =>
      isExpanded
        ? toggle(id)
        : moveTo(rows.slice(0, at).findLastIndex(({ span }) => span.depth < depth)),
    Enter: () => current && openRow(current.span, current.span.record),
  };
  return (
    <>
      <div className="span-axis">
        <div className="span-ticks">
          {[0, 0.5, 1].map((part) => (
            <span key={part}>{offset(part * trace.duration / 1000, "never")}</span>
          ))}
        </div>
        <GapWords gaps={gaps} />
      </div>
      <div
        ref={scroller}
        className="span-rows"
        role="tree"
        aria-label={say("Spans")}
        aria-activedescendant={current && `span-${id}`}
        tabIndex={0}
        onKeyDown={(event) => {
          const action = actions[event.key];
          if (!action) return;
          event.preventDefault();
          action();
        }}
      >
        <div role="none" className="rows-space" style={{ height: virtual.getTotalSize() }}>
          <div
            role="none"
            className="rows-window"
            style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}
          >
            {items.map(({ key, index }) => {
              const row = rows[index];
              if (!row) return null;
              const { id, service } = row.span.record;
              return (
                <SpanRow
                  key={key}
                  span={row.span}
                  trace={trace}
                  gaps={gaps}
                  colour={colours.get(service)}
                  isExpanded={row.hasChildren ? !closed.has(id) : undefined}
                  isOpen={id === open}
                  isActive={index === at}
                  onToggle={toggle}
                  onOpen={openRow}
                />
              );
            })}
          </div>
        </div>
      </div>
      {trace.logs.length > 0 && (
        <details>
          <summary>{say("{count} records without a span", { count: trace.logs.length })}</summary>
          <Moments records={trace.logs} record={from} onOpen={onOpen} />
        </details>
      )}
    </>
  );
}
