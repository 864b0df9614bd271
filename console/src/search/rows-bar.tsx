import { change } from "../address/address.ts";
import type { LogRecord } from "../service/logloom.ts";
import { IconButton } from "../shared/controls.tsx";
import { count } from "../shared/format.ts";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { ExportMenu } from "./export-menu.tsx";
import type { Run } from "./use-search.ts";

/** Information and choices about all rows. */
export function RowsBar({ run, rows, hasMore, onFields }: {
  run: Run;
  rows: LogRecord[];
  hasMore: boolean;
  onFields: () => void;
}) {
  const { wrap, roomy } = usePreferences();
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
      <ExportMenu run={run} rows={rows} />
    </div>
  );
}
