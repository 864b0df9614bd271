import { useCallback } from "react";
import { change, useAddress } from "../address/address.ts";
import { wider } from "../address/range.ts";
import type { LogRecord, QueryWarning } from "../service/logloom.ts";
import { Button, Empty, ErrorNote, Skeleton } from "../shared/basic-controls.tsx";
import { EmptyProject } from "./empty-project.tsx";
import { useFeatures } from "./reader-features.ts";
import { LiveNote } from "./live-note.tsx";
import { closeRecord, useOpenRecord } from "./open-record.ts";
import { AnswerHint } from "./query-verdict.tsx";
import { RowsBar } from "./rows-bar.tsx";
import { RowsGrid } from "./rows-grid.tsx";
import { SearchError } from "./search-error.tsx";
import { type Run, runQuery, runRange, useRows } from "./search-run.ts";
import { useFirstEvent } from "./use-first-event.ts";
import { useTail } from "./use-tail.ts";
import { say } from "../shared/translate.ts";

/** The records, loaded while scrolling, or live. */
export function ResultRows({ run, isPaused, onPause, onFields }: {
  run: Run & { again: () => void };
  isPaused: boolean;
  onPause: (isPaused: boolean) => void;
  onFields: () => void;
}) {
  const open = useAddress().parameters.id || null;
  const openRecord = useOpenRecord();
  const toggle = useCallback(
    (record: LogRecord) => record.id === open ? closeRecord() : openRecord(record),
    [open, openRecord],
  );
  const pages = useRows(run);
  const tail = useTail(run.query, run.isLive, isPaused);
  const rows = run.isLive ? tail.rows : pages.data?.pages.flatMap(({ logs }) => logs) ?? [];
  // Also true while the rows of an earlier run are shown.
  const hasMore = pages.data?.pages.at(-1)?.next_cursor != null;
  const isNothing = !run.isLive && pages.isSuccess && rows.length === 0;
  const { isEmpty, isUnknown } = useFirstEvent(run, useFeatures().senders && isNothing);

  return (
    <section
      className="results"
      {...run.isLive
        ? { "aria-label": say("Records") }
        : { id: "panel-records", role: "tabpanel", "aria-labelledby": "tab-records" }}
    >
      <RowsBar
        run={run}
        rows={rows}
        answer={run.isLive ? null : pages.data?.pages[0]}
        isBusy={!run.isLive && pages.isFetching}
        onFields={onFields}
      />
      {run.isLive && <LiveNote tail={tail} isPaused={isPaused} />}
      {!run.isLive && pages.error && rows.length === 0
        ? <SearchError error={pages.error} run={run} retry={() => void pages.refetch()} />
        : isEmpty
        ? <EmptyProject />
        : isNothing && !isUnknown
        ? <NothingFound run={run} warning={pages.data?.pages[0]?.warnings[0]} />
        : isUnknown || (!run.isLive && pages.isPending)
        ? run.instants && <Skeleton lines={18} />
        : (
          <RowsGrid
            key={run.isLive ? "live" : "pages"}
            rows={rows}
            isOld={!run.isLive && pages.isPlaceholderData}
            open={open}
            onToggle={toggle}
            isLive={run.isLive}
            isPaused={isPaused}
            onPause={onPause}
            onEnd={() => {
              if (pages.hasNextPage && !pages.isFetching) {
                void pages
                  .fetchNextPage();
              }
            }}
            end={run.isLive
              ? null
              : pages.isFetchNextPageError
              ? <ErrorNote error={pages.error} retry={() => void pages.fetchNextPage()} />
              : hasMore
              ? <span className="about">{say("Loading more…")}</span>
              : <span className="about">{say("No more records in this range.")}</span>}
          />
        )}
    </section>
  );
}

function NothingFound({ run, warning }: { run: Run; warning: QueryWarning | undefined }) {
  const next = run.instants && wider(run.instants);
  const { parameters } = useAddress();
  const { live } = useFeatures();
  return (
    <Empty title={say("Nothing found in this range")}>
      <AnswerHint text={run.query} warning={warning} onCorrect={runQuery} />
      <div className="row">
        {next && (
          <Button look="primary" onClick={() => runRange({ from: next.from, to: "now" })}>
            {say("Show: {range}", { range: say(next.label) })}
          </Button>
        )}
        {run.query !== "" && <Button onClick={() => runQuery("")}>{say("Clear the query")}</Button>}
        {live && parameters.live !== "1" && (
          <Button onClick={() => change({ live: "1" })}>{say("Wait for records live")}</Button>
        )}
      </div>
    </Empty>
  );
}
