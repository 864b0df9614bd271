import { lazy, Suspense, useState } from "react";
import { loadPart } from "../shared/load-part.ts";
import type { Mode } from "../language/edit-query.ts";
import { groupKeys, splitQuery } from "../language/edit-query.ts";
import { marksOld, useOperation } from "../service/operation-hooks.ts";
import type { StatRow } from "../service/logloom.ts";
import { Button, Empty, Skeleton } from "../shared/basic-controls.tsx";
import { PanelNote } from "../shared/panel-note.tsx";
import { say } from "../shared/translate.ts";
import { useFeatures } from "./reader-features.ts";
import { Groups } from "./groups-table.tsx";
import { HintForNothing } from "./query-verdict.tsx";
import { SeriesFigure } from "./series-figure.tsx";
import { SearchError } from "./search-error.tsx";
import { useEditQuery } from "./edit-query-context.ts";
import type { Run } from "./search-run.ts";

const AddDialog = lazy(() => loadPart(() => import("../dashboards/add-to-dashboard.tsx")));

const most = 200;

/** The result of an aggregate: lines over time, and a bar for each group. */
export function AggregateView({ run, onFilter }: {
  run: Run;
  onFilter: (field: string, value: string, mode: Mode) => void;
}) {
  const stats = useOperation("log_stats", {
    p_query_dsl: run.query,
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
    p_limit: most,
  }, { enabled: run.instants !== null, keep: true });
  const edit = useEditQuery();
  const { saved: saves } = useFeatures();
  const [isAdding, setAdding] = useState(false);
  const rows = stats.data ?? [];
  // The query box shows those with a position.
  const noted = rows[0]?.warnings.filter(({ position }) => position === null) ?? [];
  const isNothing = stats.isSuccess && rows.every(({ value }) => !value);
  return (
    <section className="results" aria-label={say("Numbers")}>
      <div className="rows-bar">
        <p className="rows-count">
          {groupKeys(run.query).length > 0 && stats.data && `${groupsOf(rows)} · `}
          <PanelNote answer={stats.data} isBusy={stats.isFetching} />
        </p>
        {saves && (
          <Button
            look="small quiet"
            disabled={stats.error?.status === 400}
            onClick={() => setAdding(true)}
          >
            {say("Add to a dashboard")}
          </Button>
        )}
        {isAdding && (
          <Suspense>
            <AddDialog query={run.query} onClose={() => setAdding(false)} />
          </Suspense>
        )}
        <Button look="small quiet" onClick={() => edit((query) => splitQuery(query).filter)}>
          {say("Show the records")}
        </Button>
      </div>
      {stats.error && !(stats.error.isAway && stats.data)
        ? <SearchError error={stats.error} run={run} retry={() => void stats.refetch()} />
        : stats.isPending
        ? <Skeleton lines={10} />
        : (
          <div
            className="aggregate"
            tabIndex={0}
            role="region"
            aria-label={say("Groups")}
            {...marksOld(stats.isPlaceholderData)}
          >
            {isNothing && <HintForNothing run={run} />}
            {noted.map(({ message }) => <p key={message} className="about">{message}</p>)}
            <SeriesFigure query={run.query} instants={run.instants} />
            {rows.length === 0
              ? <Empty title={say("Nothing to count in this range")} />
              : <Groups rows={rows} keys={groupKeys(run.query)} onFilter={onFilter} />}
          </div>
        )}
    </section>
  );
}

/** "3 groups", or "200 of 1,204 groups". */
function groupsOf(rows: StatRow[]): string {
  const all = Math.max(rows[0]?.total_groups ?? 0, rows.length);
  return all > rows.length
    ? say("{part} of {count} groups", { part: rows.length, count: all })
    : say("{count} groups", { count: all });
}
