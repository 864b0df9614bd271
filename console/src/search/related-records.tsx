import { useState } from "react";
import { offset } from "../shared/format-number.ts";
import { Sentence } from "../shared/sentence.tsx";
import { clause, filterOf } from "../language/edit-query.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { LogRecord } from "../service/logloom.ts";
import { Loaded } from "../shared/list-table.tsx";
import { oneLine } from "../shared/safe-text.ts";
import { LogText } from "../shared/log-text.tsx";
import { say } from "../shared/translate.ts";
import { shortText, valueOf } from "./record-columns.ts";
import { useOpenRecord } from "./open-record.ts";
import { TraceDialog } from "./trace-dialog.tsx";
import { runQuery } from "./search-run.ts";
import { Button } from "../shared/basic-controls.tsx";

const most = 200;
const aroundMs = 3_600_000;
/** Fields that link related records, the best first. */
const fields = ["attrs.trace_id", "attrs.traceId", "attrs.trace.id", "req_id"];

/** The field that links a record to others, with its value. */
export function tieOf(record: LogRecord): { field: string; value: string } | null {
  for (const field of fields) {
    const value = shortText(valueOf(record, field));
    if (value !== "" && value.length <= 200) return { field, value };
  }
  return null;
}

/** The records of the same request or trace, an hour before and after. */
export function Related({ record, tie }: {
  record: LogRecord;
  tie: { field: string; value: string };
}) {
  const [isWide, setWide] = useState(false);
  const openRecord = useOpenRecord();
  const query = clause(tie.field, tie.value, "in");
  const time = Date.parse(record.ts);
  const answer = useOperation("search_logs", {
    p_query_dsl: filterOf(query),
    p_ts_from: new Date(time - aroundMs).toISOString(),
    p_ts_to: new Date(time + aroundMs).toISOString(),
    p_order: "asc",
    p_limit: most,
  });
  return (
    <section className="related" aria-label={say("The same {field}", { field: tie.field })}>
      <h3>
        <Sentence text="The same {field}" values={{ field: <code>{tie.field}</code> }} />
        <Button look="small quiet" onClick={() => setWide(true)}>{say("Show as lanes")}</Button>
        <Button look="small quiet" onClick={() => runQuery(query)}>
          {say("Show in the list")}
        </Button>
      </h3>
      <Loaded answer={answer} lines={4}>
        {({ logs, next_cursor }) => (
          <>
            <p className="about">
              {next_cursor === null
                ? say("{count} records", { count: logs.length })
                : say("more than {count} records", { count: logs.length })}
              {logs.length > 1 && `, ${spanOf(logs)}`}
            </p>
            <ol className="time-line" tabIndex={0}>
              {logs.map((one) => <Moment key={one.id} one={one} record={record} logs={logs} />)}
            </ol>
            {isWide && (
              <TraceDialog
                title={say("The same {field}", { field: tie.field })}
                records={logs}
                onOpen={(one) => {
                  setWide(false);
                  openRecord(one);
                }}
                onClose={() => setWide(false)}
              >
                {logs.map((one) => <Moment key={one.id} one={one} record={record} logs={logs} />)}
              </TraceDialog>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Moment({ one, record, logs }: {
  one: LogRecord;
  record: LogRecord;
  logs: LogRecord[];
}) {
  const openRecord = useOpenRecord();
  const at = (log: LogRecord | undefined) => Date.parse(log?.ts ?? "");
  const [first, last] = [at(logs[0]), at(logs.at(-1))];
  const place = last > first ? (100 * (at(one) - first)) / (last - first) : 0;
  const isThis = one.id === record.id;
  return (
    <li className={`moment level-${one.level ?? "none"}${isThis ? " this" : ""}`}>
      <button
        type="button"
        aria-current={isThis ? "true" : undefined}
        onClick={() => openRecord(one)}
      >
        <span className="moment-time">{offset(at(one) - at(record))}</span>
        <svg
          className="moment-place"
          viewBox="0 0 100 8"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect x={Math.min(98, place)} width="2" height="8" />
        </svg>
        <span className="moment-words">
          {one.service && <span className="about">{oneLine(one.service, 40)}</span>}{" "}
          <LogText text={oneLine(one.msg ?? "", 300)} />
        </span>
      </button>
    </li>
  );
}

function spanOf(logs: LogRecord[]): string {
  const span = Date.parse(logs.at(-1)?.ts ?? "") - Date.parse(logs[0]?.ts ?? "");
  return offset(span, "never");
}
