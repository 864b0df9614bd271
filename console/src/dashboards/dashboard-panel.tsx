import type { ReactNode } from "react";
import { go } from "../address/address.ts";
import type { Instants, Range } from "../address/range.ts";
import { type Mode, splitQuery, withClause } from "../language/edit-query.ts";
import { groupKeys } from "../language/edit-query.ts";
import { Groups } from "../search/groups-table.tsx";
import { SeriesFigure } from "../search/series-figure.tsx";
import { useHas, useOperation } from "../service/operation-hooks.ts";
import type { LogPanel } from "../service/logloom.ts";
import { Boundary } from "../shared/error-boundary.tsx";
import { Empty, IconButton } from "../shared/basic-controls.tsx";
import { measure } from "../shared/format-number.ts";
import { Loaded } from "../shared/list-table.tsx";
import { PanelNote } from "../shared/panel-note.tsx";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

const mostGroups = 20;

/** A dashboard's panel: lines over time, a bar for each group, or a number. */
export function Panel({ panel, range, instants, onDrop, tools }: {
  panel: LogPanel;
  range: Range;
  instants: Instants | null;
  /** Takes another panel that is being dragged. */
  onDrop: (() => void) | null;
  /** The buttons for the dashboard's creator. */
  tools: ReactNode;
}) {
  const stats = useOperation("log_stats", {
    p_query_dsl: panel.query_dsl,
    p_ts_from: instants?.from,
    p_ts_to: instants?.to,
    p_limit: mostGroups,
  }, { enabled: instants !== null, keep: true });
  // The portal's page of dashboards has no search beside it.
  const hasSearch = useHas("search_logs");
  const open = (query: string) =>
    go({
      screen: "search",
      parameters: { q: query, from: range.from, to: range.to === "now" ? "" : range.to },
    });
  const onFilter = (field: string, value: string, mode: Mode) =>
    open(withClause(splitQuery(panel.query_dsl).filter, field, value, mode));
  const rows = stats.data ?? [];
  const all = rows[0]?.total_groups ?? 0;
  return (
    <section
      className={`panel width-${panel.width}${onDrop ? " drop" : ""}`}
      aria-label={plain(panel.title)}
      onDragOver={(event) => onDrop && event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        onDrop?.();
      }}
    >
      <header className="panel-head">
        <h2>{plain(oneLine(panel.title, 100))}</h2>
        <PanelNote
          answer={stats.data}
          isBusy={stats.isFetching}
          of={all > rows.length
            ? say("{part} of {whole}", { part: rows.length, whole: all })
            : null}
        />
        <span className="spring" />
        {hasSearch && (
          <IconButton
            icon="search"
            label={say("Search: {title}", { title: panel.title })}
            onClick={() => open(panel.query_dsl)}
          />
        )}
        {tools}
      </header>
      <Boundary what={say("This panel")} of={stats.data}>
        <Loaded answer={stats} lines={4}>
          {() =>
            panel.kind === "number"
              ? <p className="panel-number">{measure(rows[0]?.value)}</p>
              : rows.length === 0
              ? <Empty title={say("Nothing to count in this range")} />
              : panel.kind === "lines"
              ? <SeriesFigure query={panel.query_dsl} instants={instants} height={170} />
              : (
                <div className="panel-groups" tabIndex={0} role="group" aria-label={say("Groups")}>
                  <Groups
                    rows={rows}
                    keys={groupKeys(panel.query_dsl)}
                    onFilter={hasSearch ? onFilter : null}
                  />
                </div>
              )}
        </Loaded>
      </Boundary>
    </section>
  );
}
