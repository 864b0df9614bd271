import { memo } from "react";
import type { LogRecord } from "../service/logloom.ts";
import { Badge } from "../shared/basic-controls.tsx";
import { offset } from "../shared/format-number.ts";
import { LogText } from "../shared/log-text.tsx";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { Drawing, scale } from "./trace-drawing.tsx";
import type { Gap } from "./trace-lanes.ts";
import { type LogSpan, type LogTrace, marksOf, shareOf } from "./waterfall-rows.ts";

/** Deeper spans are not indented further. Their depth is in the tree. */
const mostIndent = 16;

interface Props {
  span: LogSpan;
  trace: LogTrace;
  gaps: Gap[];
  colour: string | undefined;
  /** Undefined if the span has no children. */
  isExpanded: boolean | undefined;
  isOpen: boolean;
  isActive: boolean;
  onToggle: (id: string) => void;
  onOpen: (span: LogSpan, record: LogRecord) => void;
}

/** A span: its name, service and duration, its bar on the line of time, and its log records. */
export const SpanRow = memo(function SpanRow({ span, trace, colour, isExpanded, ...props }: Props) {
  const { record, depth, isError, isCritical, lacksParent } = span;
  const width = Math.max(3, shareOf(span.duration, trace) * scale);
  const x = Math.min(scale - 3, shareOf(span.start, trace) * scale);
  const critical = say("on the critical path");
  return (
    <div
      role="treeitem"
      id={`span-${record.id}`}
      aria-level={depth + 1}
      aria-expanded={isExpanded}
      aria-selected={props.isOpen}
      className={props.isActive ? "span-row active" : "span-row"}
      onClick={({ target }) => {
        if ((target as Element).matches(".span-toggle")) props.onToggle(record.id);
        else props.onOpen(span, record);
      }}
    >
      <span
        className="span-name"
        style={{ paddingInlineStart: `calc(${Math.min(depth, mostIndent)} * var(--indent))` }}
      >
        <span className="span-toggle" aria-hidden="true">
          {isExpanded === undefined ? "" : isExpanded ? "▾" : "▸"}
        </span>
        <i className="swatch" style={{ background: colour }} />
        {isCritical && <span role="img" aria-label={critical} title={critical}>◆</span>}
        <span className={isError ? "moment-words field-error" : "moment-words"}>
          <LogText text={oneLine(record.msg ?? "–", 200)} />{" "}
          <span className="about">{plain(oneLine(record.service ?? "", 40))}</span>
        </span>
        {isError && <Badge tone="bad">{say("error")}</Badge>}
        {lacksParent && <Badge tone="warn">{say("parent is missing")}</Badge>}
      </span>
      <span className="number">{offset(span.duration / 1000, "never")}</span>
      <Drawing
        gaps={props.gaps}
        marks={marksOf(span, trace)}
        onOpen={(log) => props.onOpen(span, log)}
      >
        <rect
          style={{ fill: isError ? "var(--level-error)" : colour }}
          {...{ x, y: 5, width, height: 14 }}
        />
        {isCritical && <rect fill="currentColor" {...{ x, y: 20, width, height: 2 }} />}
      </Drawing>
    </div>
  );
});
