import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { isSpan, microsOf } from "../../../supabase/functions/_shared/trace.ts";
import { clause, withClause } from "../language/edit-query.ts";
import { LogloomError, type LogRecord } from "../service/logloom.ts";
import { useService } from "../service/operation-hooks.ts";
import { IconButton } from "../shared/basic-controls.tsx";
import { Dialog } from "../shared/dialog.tsx";
import { Loaded } from "../shared/list-table.tsx";
import { say } from "../shared/translate.ts";
import { useEditQuery } from "./edit-query-context.ts";
import { Detail } from "./record-detail.tsx";
import { Moments, type Tie } from "./related-records.tsx";
import { TraceLanes } from "./trace-drawing.tsx";
import { Waterfall } from "./waterfall.tsx";
import "../styles/waterfall.css";

const most = 10_000;

const hourMs = 3_600_000;

/**
 * The first records of a record's trace, the oldest first. Those with the trace as `req_id`, such as spans, are found
 * over all days. Those that only have it as an attribute are looked for an hour around these and the record.
 */
function useTrace(record: LogRecord, { field, value }: Tie) {
  const service = useService();
  const read = async (signal: AbortSignal) => {
    const logs: LogRecord[] = [];
    const add = async (one: string, more: string, since: Date, until?: Date) => {
      const options = { since, until, order: "asc", signal } as const;
      try {
        for await (const log of service.records(clause(one, value, "in") + more, options)) {
          if (logs.length > most) return;
          logs.push(log);
        }
      } catch (error) {
        // The reader's view may hide a field.
        const isHidden = error instanceof LogloomError && error.status === 400;
        if (one === field || !isHidden) throw error;
      }
    };
    await add("req_id", "", new Date(0));
    const times = [record, ...logs.slice(0, 1), ...logs.slice(-1)].map(({ ts }) => Date.parse(ts));
    const since = new Date(Math.min(...times) - hourMs);
    const until = new Date(Math.max(...times) + hourMs);
    const known = new Set(logs.length > 0 ? ["req_id"] : []);
    for (const one of new Set(["attrs.trace_id", field])) {
      if (one === "req_id" || logs.length > most) continue;
      const before = logs.length;
      await add(
        one,
        [...known].map((other) => ` ${clause(other, value, "out")}`).join(""),
        since,
        until,
      );
      if (logs.length > before) known.add(one);
    }
    logs.sort((a, b) => microsOf(a.ts) - microsOf(b.ts));
    return { logs: logs.slice(0, most), hasMore: logs.length > most };
  };
  return useQuery<{ logs: LogRecord[]; hasMore: boolean }, LogloomError>({
    queryKey: ["search_logs", "trace", field, value, record.ts],
    queryFn: ({ signal }) => read(signal),
  });
}

/** A trace or request in the whole width: its spans as a waterfall, or its services as lanes. */
export default function TraceDialog({ record, tie, onClose }: {
  record: LogRecord;
  tie: Tie;
  onClose: () => void;
}) {
  const answer = useTrace(record, tie);
  const edit = useEditQuery();
  const [shown, setShown] = useState<LogRecord[]>([]);
  /** The open record, then the log records of its span. */
  const [one, ...ofSpan] = shown;
  const open = useCallback(
    (record: LogRecord, logs: readonly LogRecord[] = []) => setShown([record, ...logs]),
    [],
  );
  return (
    <Dialog title={say("The same {field}", { field: tie.field })} onClose={onClose} size="full">
      <div
        className="trace-body"
        onKeyDown={(event) => {
          if (event.key !== "Escape" || event.defaultPrevented || !one) {
            return;
          }
          event.preventDefault();
          setShown([]);
        }}
      >
        <Loaded answer={answer} lines={12}>
          {({ logs, hasMore }) => (
            <div>
              {hasMore && say("Only the first {count} records are shown.", { count: most })}
              {logs.some(isSpan)
                ? <Waterfall records={logs} from={record} open={one?.id} onOpen={open} />
                : <TraceLanes records={logs} from={record} onOpen={open} />}
            </div>
          )}
        </Loaded>
        {one && (
          <aside className="record-panel" aria-label={say("Record")}>
            <header className="record-head">
              <h2>{say("Record")}</h2>
              <IconButton
                icon="close"
                label={say("Close the record")}
                onClick={() => setShown([])}
              />
            </header>
            <Detail
              key={one.id}
              record={one}
              onFilter={(...how) => {
                onClose();
                edit((query) =>
                  withClause(query, ...how)
                );
              }}
            >
              {ofSpan.length > 0 && (
                <section className="related">
                  <h3>{say("Records of the span")}</h3>
                  <Moments
                    records={ofSpan}
                    record={one}
                    onOpen={(log) => open(log, ofSpan)}
                  />
                </section>
              )}
            </Detail>
          </aside>
        )}
      </div>
    </Dialog>
  );
}
