import { useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { isSpan } from "../../../supabase/functions/_shared/trace.ts";
import { clause, withClause } from "../language/edit-query.ts";
import { LogloomError, type LogRecord } from "../service/logloom.ts";
import { useService } from "../service/operation-hooks.ts";
import { IconButton } from "../shared/basic-controls.tsx";
import { Dialog } from "../shared/dialog.tsx";
import { Loaded } from "../shared/list-table.tsx";
import { say } from "../shared/translate.ts";
import { useEditQuery } from "./edit-query-context.ts";
import { Detail } from "./record-detail.tsx";
import { aroundOf, Moments, type Tie } from "./related-records.tsx";
import { TraceLanes } from "./trace-drawing.tsx";
import { Waterfall } from "./waterfall.tsx";
import "../styles/waterfall.css";

const most = 10_000;

/** The first records of a record's trace, the oldest first. */
function useTrace(record: LogRecord, { field, value }: Tie) {
  const service = useService();
  const read = async (fields: Iterable<string>, signal: AbortSignal) => {
    const query = [...fields].map((one) => clause(one, value, "in")).join(" OR ");
    const logs: LogRecord[] = [];
    const options = { ...aroundOf(record), order: "asc", signal } as const;
    for await (const one of service.records(query, options)) {
      if (logs.length === most) return { logs, hasMore: true };
      logs.push(one);
    }
    return { logs, hasMore: false };
  };
  return useQuery<{ logs: LogRecord[]; hasMore: boolean }, LogloomError>({
    queryKey: ["search_logs", "trace", field, value, record.ts],
    // A span has its trace id in req_id, a log record also in an attribute.
    queryFn: ({ signal }) =>
      read(new Set([field, "req_id", "attrs.trace_id"]), signal).catch((error) => {
        // The reader's view may hide one of the fields.
        if (!(error instanceof LogloomError) || error.status !== 400) throw error;
        return read([field], signal);
      }),
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
