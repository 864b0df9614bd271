import { useCallback, useEffect, useRef, useState } from "react";
import { change, useAddress } from "../address/address.ts";
import { useShortcuts } from "../shared/shortcuts.ts";
import { type Mode, withClause } from "../language/edit-query.ts";
import { Boundary } from "../shared/error-boundary.tsx";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { AggregateView } from "./aggregate-view.tsx";
import { ChangesView } from "./changes-view.tsx";
import { useFeatures } from "./reader-features.ts";
import { FieldsPanel } from "./fields-panel.tsx";
import { HistogramPanel } from "./histogram-panel.tsx";
import { PatternsView } from "./patterns-view.tsx";
import { type BarHandle, QueryBar } from "./query-bar.tsx";
import { type EditQuery, EditQueryContext } from "./edit-query-context.ts";
import { RecordPanel } from "./record-panel.tsx";
import { ResultTabs, useTab } from "./result-tabs.tsx";
import { ResultRows } from "./result-rows.tsx";
import { useFields, useRun } from "./search-run.ts";
import { say } from "../shared/translate.ts";

const liveChartMs = 10_000;

export function SearchScreen() {
  const run = useRun();
  const { parameters } = useAddress();
  const preferences = usePreferences();
  const features = useFeatures();
  const [isDrawn, setDrawn] = useState(false);
  const bar = useRef<BarHandle>(null);
  const fields = useFields(run, features.fields);
  const tab = useTab(run);

  const toggleFields = () => {
    if (globalThis.matchMedia("(max-width: 760px)").matches) setDrawn(!isDrawn);
    else prefer({ fields: !preferences.fields });
  };
  const [isPaused, setPaused] = useState(false);
  const { isLive, again } = run;
  useEffect(() => {
    setPaused(false);
    if (!isLive) return;
    // In a live view the chart is updated less often than the rows.
    const timer = setInterval(() => !document.hidden && again(), liveChartMs);
    return () => clearInterval(timer);
  }, [isLive]);
  useShortcuts({
    "/": () => bar.current?.focus(),
    f: toggleFields,
    l: () => {
      if (features.live) change({ live: run.isLive ? "" : "1" });
    },
  });

  const edit = useCallback<EditQuery>((change) => bar.current?.edit(change), []);
  const filter = useCallback(
    (field: string, value: string, mode: Mode) =>
      edit((query) => withClause(query, field, value, mode)),
    [edit],
  );

  const parts = ["search"];
  if (preferences.fields && features.fields) parts.push("with-fields");
  if (isDrawn && features.fields) parts.push("drawn");
  if (parameters.id) parts.push("with-record");
  return (
    <EditQueryContext value={edit}>
      <div className={parts.join(" ")}>
        <h1 className="hidden">{say("Search")}</h1>
        <QueryBar
          ref={bar}
          run={run}
          fields={fields.data ?? []}
          isPaused={isPaused}
          onResume={() => setPaused(false)}
        />
        {run.instants === null && (
          <ErrorNote error={new Error(say("This range is invalid, or ends before it begins."))} />
        )}
        {features.histogram && (
          <Boundary what={say("The chart")} of={run}>
            <HistogramPanel run={run} />
          </Boundary>
        )}
        <div className="search-body">
          {features.fields && (
            <Boundary what={say("The list of fields")} of={fields.data}>
              <FieldsPanel fields={fields} run={run} onClose={() => setDrawn(false)} />
            </Boundary>
          )}
          <Boundary what={say("The result")} of={run}>
            <div className="result-column">
              {!run.isAggregate && !run.isLive && <ResultTabs tab={tab} />}
              {run.isAggregate
                ? <AggregateView run={run} onFilter={filter} />
                : tab === "patterns"
                ? <PatternsView run={run} />
                : tab === "changes"
                ? <ChangesView run={run} />
                : (
                  <ResultRows
                    run={run}
                    isPaused={isPaused}
                    onPause={setPaused}
                    onFields={toggleFields}
                  />
                )}
            </div>
          </Boundary>
          {parameters.id && (
            <RecordPanel id={parameters.id} ts={parameters.at ?? ""} onFilter={filter} />
          )}
        </div>
      </div>
    </EditQueryContext>
  );
}
