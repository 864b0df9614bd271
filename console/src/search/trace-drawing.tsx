import type { ReactNode } from "react";
import type { LogRecord } from "../service/logloom.ts";
import { offset } from "../shared/format-number.ts";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { Moments } from "./related-records.tsx";
import { type Gap, type Lane, lanesOf } from "./trace-lanes.ts";

/** The width of a lane's drawing, in its own units. */
export const scale = 1000;

/** A lane for each service, errors marked, gaps shown, and the records as a list. */
export function TraceLanes({ records, from, onOpen }: {
  records: LogRecord[];
  from: LogRecord;
  onOpen: (record: LogRecord) => void;
}) {
  const { lanes, gaps, ms } = lanesOf(records);
  return (
    <>
      <div className="trace" role="group" aria-label={say("Services over time")}>
        {lanes.map((lane) => (
          <TraceLane key={lane.service ?? ""} lane={lane} gaps={gaps} onOpen={onOpen} />
        ))}
        <span className="about">{offset(ms, "never")}</span>
        <GapWords gaps={gaps} />
      </div>
      <Moments records={records} record={from} onOpen={onOpen} />
    </>
  );
}

export function GapWords({ gaps }: { gaps: Gap[] }) {
  return (
    <div className="trace-gaps">
      {gaps.map(({ from, to, ms }) => (
        <span key={from} style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}>
          {say("nothing for {span}", { span: offset(ms, "never") })}
        </span>
      ))}
    </div>
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
      <Drawing gaps={gaps} marks={marks} onOpen={onOpen} />
    </>
  );
}

/** Gaps, and records as marks, on a line of time. */
export function Drawing({ gaps, marks, onOpen, children }: {
  gaps: Gap[];
  marks: Lane["marks"];
  onOpen: (record: LogRecord) => void;
  /** Drawn below the marks. */
  children?: ReactNode;
}) {
  return (
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
      {children}
      {marks.map(({ record, place }) => (
        <rect
          key={record.id}
          className={`trace-mark ${record.level ?? "none"}`}
          x={Math.min(scale - 4, place * scale)}
          y={record.level === "error" ? 2 : 7}
          width="4"
          height={record.level === "error" ? 20 : 10}
          onClick={(event) => {
            event.stopPropagation();
            onOpen(record);
          }}
        />
      ))}
    </svg>
  );
}
