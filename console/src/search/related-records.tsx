import type { ReactNode } from "react";
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

export type Tie = NonNullable<ReturnType<typeof tieOf>>;

/** The records of the same request or trace, an hour before and after. */
export function Related({ record, tie, children }: {
  record: LogRecord;
  tie: Tie;
  /** A button. */
  children: ReactNode;
}) {
  const openRecord = useOpenRecord();
  const query = clause(tie.field, tie.value, "in");
  const { since, until } = aroundOf(record);
  const answer = useOperation("search_logs", {
    p_query_dsl: filterOf(query),
    p_ts_from: since,
    p_ts_to: until,
    p_order: "asc",
    p_limit: most,
  });
  return (
    <section className="related" aria-label={say("The same {field}", { field: tie.field })}>
      <header>
        <h3>
          <Sentence text="The same {field}" values={{ field: <code>{tie.field}</code> }} />
        </h3>
        {children}
        <Button look="small quiet" onClick={() => runQuery(query)}>
          {say("Show in the list")}
        </Button>
      </header>
      <Loaded answer={answer} lines={4}>
        {({ logs, next_cursor }) => (
          <>
            <p className="about">
              {next_cursor === null
                ? say("{count} records", { count: logs.length })
                : say("more than {count} records", { count: logs.length })}
              {logs.length > 1 && `, ${spanOf(logs)}`}
            </p>
            <Moments records={logs} record={record} onOpen={openRecord} />
          </>
        )}
      </Loaded>
    </section>
  );
}

/** An hour before and after a record. */
function aroundOf({ ts }: LogRecord): { since: string; until: string } {
  const at = (ms: number) => new Date(Date.parse(ts) + ms).toISOString();
  return { since: at(-aroundMs), until: at(aroundMs) };
}

/** The first of these records, with their distances from one record. */
export function Moments({ records, record, onOpen }: {
  records: readonly LogRecord[];
  record: LogRecord;
  onOpen: (record: LogRecord) => void;
}) {
  const logs = records.slice(0, most);
  return (
    <ol className="time-line" tabIndex={0}>
      {logs.map((one) => (
        <Moment key={one.id} one={one} record={record} logs={logs} onOpen={onOpen} />
      ))}
    </ol>
  );
}

function Moment({ one, record, logs, onOpen }: {
  one: LogRecord;
  record: LogRecord;
  logs: LogRecord[];
  onOpen: (record: LogRecord) => void;
}) {
  const at = (log: LogRecord | undefined) => Date.parse(log?.ts ?? "");
  const [first, last] = [at(logs[0]), at(logs.at(-1))];
  const place = last > first ? (100 * (at(one) - first)) / (last - first) : 0;
  const isThis = one.id === record.id;
  return (
    <li className={`moment level-${one.level ?? "none"}${isThis ? " this" : ""}`}>
      <button type="button" aria-current={isThis ? "true" : undefined} onClick={() => onOpen(one)}>
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
