import { change } from "../address/address.ts";
import { byDuration, hasClause } from "../language/edit-query.ts";
import type { LogRecord } from "../service/logloom.ts";
import { Button, IconButton } from "../shared/basic-controls.tsx";
import { PanelNote } from "../shared/panel-note.tsx";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { useEditQuery } from "./edit-query-context.ts";
import { useFeatures } from "./reader-features.ts";
import { ExportMenu } from "./export-menu.tsx";
import type { Run } from "./search-run.ts";
import { say } from "../shared/translate.ts";

/** The bar above the rows: order, wrapping, density and export. */
export function RowsBar({ run, rows, answer, isBusy, onFields }: {
  run: Run;
  rows: LogRecord[];
  answer: unknown;
  isBusy: boolean;
  onFields: () => void;
}) {
  const { wrap, roomy } = usePreferences();
  const features = useFeatures();
  const edit = useEditQuery();
  return (
    <div className="rows-bar">
      {features.fields && <IconButton icon="fields" label={say("Fields (f)")} onClick={onFields} />}
      <p className="rows-count">
        <PanelNote answer={answer} isBusy={isBusy} />
      </p>
      {hasClause(run.query, "attrs.kind", "span") && (
        <Button
          look="small quiet"
          onClick={() => edit(byDuration)}
        >
          {say("By duration")}
        </Button>
      )}
      {!run.isLive && (
        <Button
          look="small quiet"
          onClick={() => change({ order: run.order === "desc" ? "asc" : "" })}
        >
          {run.order === "desc" ? say("Newest first") : say("Oldest first")}
        </Button>
      )}
      <IconButton
        icon="wrap"
        label={say("Wrap long lines")}
        aria-pressed={wrap}
        onClick={() => prefer({ wrap: !wrap })}
      />
      <IconButton
        icon="rows"
        label={say("Roomy rows")}
        aria-pressed={roomy}
        onClick={() => prefer({ roomy: !roomy })}
      />
      {features.export && <ExportMenu run={run} rows={rows} />}
    </div>
  );
}
