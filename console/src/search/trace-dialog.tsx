import type { ReactNode } from "react";
import type { LogRecord } from "../service/logloom.ts";
import { Dialog } from "../shared/dialog.tsx";
import { offset } from "../shared/format-number.ts";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { type Gap, type Lane, traceOf } from "./trace-lanes.ts";

/** The width of a lane's drawing, in its own units. */
const scale = 1000;

/** The records of a trace in the whole width: a lane for each service, errors marked, gaps shown. */
export function TraceDialog({ title, records, onOpen, onClose, children }: {
  title: string;
  records: LogRecord[];
  onOpen: (record: LogRecord) => void;
  onClose: () => void;
  /** The records as a list. */
  children: ReactNode;
}) {
  const { lanes, gaps, ms } = traceOf(records);
  return (
    <Dialog title={title} onClose={onClose} size="full">
      <div className="trace" role="group" aria-label={say("Services over time")}>
        {lanes.map((lane) => (
          <TraceLane key={lane.service ?? ""} lane={lane} gaps={gaps} onOpen={onOpen} />
        ))}
        <span className="about">{offset(ms, "never")}</span>
        <div className="trace-gaps">
          {gaps.map(({ from, to, ms }) => (
            <span key={from} style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}>
              {say("nothing for {span}", { span: offset(ms, "never") })}
            </span>
          ))}
        </div>
      </div>
      <ol className="time-line wide" tabIndex={0}>{children}</ol>
    </Dialog>
  );
}

function TraceLane({ lane: { service, marks }, gaps, onOpen }: {
  lane: Lane;
  gaps: Gap[];
  onOpen: (record: LogRecord) => void;
}) {
  const errors = marks.filter(({ record }) => record.level === "error").length;
  return (
    <>
      <span className="trace-service" title={service ?? undefined}>
        {service === null ? say("without a service") : plain(oneLine(service, 40))}
        {errors > 0 && (
          <span className="field-error">{say("{count} errors", { count: errors })}</span>
        )}
      </span>
      <svg viewBox={`0 0 ${scale} 24`} preserveAspectRatio="none" aria-hidden="true">
        {gaps.map(({ from, to }) => (
          <rect
            key={from}
            className="trace-gap"
            x={from * scale}
            width={(to - from) * scale}
            height="24"
          />
        ))}
        {marks.map(({ record, place }) => (
          <rect
            key={record.id}
            className={`trace-mark ${record.level ?? "none"}`}
            x={Math.min(scale - 4, place * scale)}
            y={record.level === "error" ? 2 : 7}
            width="4"
            height={record.level === "error" ? 20 : 10}
            onClick={() => onOpen(record)}
          />
        ))}
      </svg>
    </>
  );
}
