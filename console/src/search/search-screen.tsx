import { useRef, useState } from "react";
import { change, useAddress } from "../address/address.ts";
import { useShortcuts } from "../app/shortcuts.ts";
import { type Mode, withClause } from "../language/edit.ts";
import { ErrorNote } from "../shared/controls.tsx";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { AggregateView } from "./aggregate-view.tsx";
import { FieldsPanel } from "./fields-panel.tsx";
import { HistogramPanel } from "./histogram-panel.tsx";
import { QueryBar } from "./query-bar.tsx";
import { RecordDialog } from "./record-dialog.tsx";
import { ResultRows } from "./result-rows.tsx";
import { runQuery, useFields, useRun } from "./use-search.ts";

export function SearchScreen() {
  const run = useRun();
  const { parameters } = useAddress();
  const preferences = usePreferences();
  const [isDrawn, setDrawn] = useState(false);
  const box = useRef<{ focus: () => void }>(null);
  const fields = useFields(run);

  const toggleFields = () => {
    if (globalThis.matchMedia("(max-width: 760px)").matches) setDrawn(!isDrawn);
    else prefer({ fields: !preferences.fields });
  };
  useShortcuts({
    "/": () => box.current?.focus(),
    f: toggleFields,
    l: () => change({ live: run.isLive ? "" : "1" }),
    r: () => run.again(),
  });

  const filter = (field: string, value: string, mode: Mode) =>
    runQuery(withClause(run.query, field, value, mode));

  const parts = ["search"];
  if (preferences.fields) parts.push("with-fields");
  if (isDrawn) parts.push("drawn");
  return (
    <div className={parts.join(" ")}>
      <h1 className="hidden">Search</h1>
      <QueryBar ref={box} run={run} fields={fields.data ?? []} />
      {run.instants === null && (
        <ErrorNote
          error={new Error(
            "This range cannot be read, or ends before it begins.",
          )}
        />
      )}
      {!run.isLive && <HistogramPanel run={run} />}
      <div className="search-body">
        <FieldsPanel
          fields={fields}
          onFilter={filter}
          query={run.query}
          onClose={() => setDrawn(false)}
        />
        {run.isAggregate
          ? <AggregateView run={run} onFilter={filter} />
          : <ResultRows run={run} onFilter={filter} onFields={toggleFields} />}
      </div>
      {parameters.id && (
        <RecordDialog
          id={parameters.id}
          ts={parameters.at ?? ""}
          onFilter={filter}
        />
      )}
    </div>
  );
}
