import { useMemo } from "react";
import { filterOf } from "../language/edit-query.ts";
import { marksOld, useOperation } from "../service/operation-hooks.ts";
import { Empty, Skeleton } from "../shared/basic-controls.tsx";
import { PanelNote } from "../shared/panel-note.tsx";
import { SortHead, useSorted } from "../shared/sorting.tsx";
import { say } from "../shared/translate.ts";
import { PatternRow } from "./pattern-row.tsx";
import { type Pattern, patternsOf } from "./patterns.ts";
import { HintForNothing } from "./query-verdict.tsx";
import { SearchError } from "./search-error.tsx";
import { panelOf } from "./result-tabs.tsx";
import type { Run } from "./search-run.ts";

const most = 200;
const mostBefore = 1000;
const dayMs = 86_400_000;

const valueOf = (pattern: Pattern, column: string) => pattern[column as keyof Pattern];

/** Groups of similar messages: how many, since when, and which are new since yesterday. */
export function PatternsView({ run, label }: { run: Run; label?: string }) {
  const query = `${filterOf(run.query)} | patterns`;
  const answer = useOperation("log_stats", {
    p_query_dsl: query,
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
    p_limit: most,
  }, { enabled: run.instants !== null, keep: true });
  const patterns = useMemo(() => patternsOf(answer.data ?? []), [answer.data]);
  const known = useKnownBefore(run, query, answer.isSuccess);
  const [sorted, sorting] = useSorted(patterns, valueOf);
  const all = Math.max(answer.data?.[0]?.total_groups ?? 0, patterns.length);
  const warning = answer.data?.[0]?.warnings[0];
  return (
    <section className="results patterns" {...panelOf("patterns", label)}>
      <div className="rows-bar">
        <p className="rows-count" role="status">
          {answer.data &&
            `${
              all > patterns.length
                ? say("{part} of {count} patterns", { part: patterns.length, count: all })
                : say("{count} patterns", { count: all })
            } · `}
          <PanelNote answer={answer.data} isBusy={answer.isFetching} of={warning?.message} />
        </p>
      </div>
      {answer.error && !answer.data
        ? <SearchError error={answer.error} run={run} retry={() => void answer.refetch()} />
        : answer.isPending
        ? run.instants && <Skeleton lines={12} />
        : (
          <div
            className="aggregate"
            tabIndex={0}
            role="region"
            aria-label={say("Patterns")}
            {...marksOld(answer.isPlaceholderData)}
          >
            {patterns.length === 0
              ? (
                <>
                  <Empty title={say("No messages in this range")} />
                  <HintForNothing run={run} />
                </>
              )
              : (
                <table className="table patterns-table">
                  <thead>
                    <tr>
                      <th scope="col">{say("Trend")}</th>
                      <SortHead name="count" label={say("Records")} sorting={sorting} isNumber />
                      <SortHead name="text" label={say("Pattern")} sorting={sorting} />
                      <SortHead name="first" label={say("First seen")} sorting={sorting} />
                      <th scope="col">
                        <span className="hidden">{say("Actions")}</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {sorted.map((pattern) => (
                      <PatternRow
                        key={pattern.text}
                        pattern={pattern}
                        run={run}
                        isNew={known !== null && !known.has(pattern.text)}
                      />
                    ))}
                  </tbody>
                </table>
              )}
          </div>
        )}
    </section>
  );
}

/** The patterns of the day before the range, or null if they are not loaded or the list is incomplete. */
function useKnownBefore(run: Run, query: string, isWanted: boolean): Set<string> | null {
  const start = run.instants ? Date.parse(run.instants.from) : 0;
  const before = useOperation("log_stats", {
    p_query_dsl: query,
    p_ts_from: new Date(start - dayMs).toISOString(),
    p_ts_to: new Date(start).toISOString(),
    p_limit: mostBefore,
  }, { enabled: isWanted && run.instants !== null });
  return useMemo(() => {
    const rows = before.data;
    if (!rows || before.isPlaceholderData) return null;
    const isCut = (rows[0]?.total_groups ?? 0) > rows.length || (rows[0]?.warnings.length ?? 0) > 0;
    return isCut ? null : new Set(patternsOf(rows).map(({ text }) => text));
  }, [before.data, before.isPlaceholderData]);
}
