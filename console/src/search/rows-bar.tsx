import { change } from "../address/address.ts";
import { exactJson } from "../service/numbers.ts";
import type { LogRecord } from "../service/records.ts";
import { IconButton } from "../shared/controls.tsx";
import { count } from "../shared/format.ts";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { csvOf, save } from "./export.ts";
import type { Run } from "./use-search.ts";

/** What is said and chosen about the rows as a whole. */
export function RowsBar({ run, rows, hasMore, onFields }: {
  run: Run;
  rows: LogRecord[];
  hasMore: boolean;
  onFields: () => void;
}) {
  const { wrap, roomy } = usePreferences();
  const name = `logs-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}`;
  return (
    <div className="rows-bar">
      <IconButton icon="fields" label="Fields (f)" onClick={onFields} />
      <p className="rows-count">
        {rows.length > 0 && `${count(rows.length)}${hasMore ? "+" : ""} loaded`}
      </p>
      {!run.isLive && (
        <button
          type="button"
          className="button small quiet"
          onClick={() => change({ order: run.order === "desc" ? "asc" : "" })}
        >
          {run.order === "desc" ? "Newest first" : "Oldest first"}
        </button>
      )}
      <IconButton
        icon="wrap"
        label="Wrap long lines"
        aria-pressed={wrap}
        onClick={() => prefer({ wrap: !wrap })}
      />
      <IconButton
        icon="rows"
        label="Roomy rows"
        aria-pressed={roomy}
        onClick={() => prefer({ roomy: !roomy })}
      />
      <IconButton
        icon="download"
        label="Save what is loaded"
        popoverTarget="export-menu"
      />
      <div id="export-menu" popover="auto" className="popover menu">
        <button
          type="button"
          className="menu-item"
          onClick={() =>
            save(
              `${name}.ndjson`,
              rows.map((row) => exactJson(row, 0)).join("\n") + "\n",
            )}
        >
          Loaded rows as NDJSON
        </button>
        <button
          type="button"
          className="menu-item"
          onClick={() => save(`${name}.csv`, csvOf(rows))}
        >
          Loaded rows as CSV
        </button>
      </div>
    </div>
  );
}
