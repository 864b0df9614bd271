import { useState } from "react";
import { QueryVerdict } from "../search/query-verdict.tsx";
import type { LogPanel } from "../service/logloom.ts";
import { FormDialog } from "../shared/dialog.tsx";
import { SelectField, TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";
import { kinds, widths } from "./edit-panels.ts";

const fresh: LogPanel = {
  title: "",
  query_dsl: "level:error | count() by service",
  kind: "lines",
  width: 6,
};

/** Changes a panel's title, query, kind and width. */
export function PanelDialog({ initial = fresh, isBusy, error, onClose, onSave }: {
  initial?: LogPanel;
  isBusy: boolean;
  error: unknown;
  onClose: () => void;
  onSave: (panel: LogPanel) => void;
}) {
  const [panel, setPanel] = useState(initial);
  const put = (part: Partial<LogPanel>) => setPanel((now) => ({ ...now, ...part }));
  return (
    <FormDialog
      title={initial === fresh ? say("New panel") : say("Change the panel")}
      action={say("Save")}
      error={error}
      isPending={isBusy}
      onSubmit={() => onSave(panel)}
      onClose={onClose}
    >
      <TextField
        label={say("Title")}
        required
        maxLength={100}
        value={panel.title}
        onChange={(title) => put({ title })}
      />
      <div>
        <label className="field">
          <span>{say("Query")}</span>
          <textarea
            className="mono"
            required
            spellCheck={false}
            value={panel.query_dsl}
            onChange={(event) => put({ query_dsl: event.target.value })}
          />
        </label>
        <QueryVerdict text={panel.query_dsl} onCorrect={(query_dsl) => put({ query_dsl })} />
      </div>
      <div className="form-pair">
        <SelectField
          label={say("Shown as")}
          value={panel.kind}
          onChange={(text) => put({ kind: text as LogPanel["kind"] })}
        >
          {Object.entries(kinds).map(([kind, words]) => (
            <option key={kind} value={kind}>{say(words)}</option>
          ))}
        </SelectField>
        <SelectField
          label={say("Width")}
          value={panel.width}
          onChange={(text) => put({ width: Number(text) })}
        >
          {widths.every(([width]) => width !== panel.width) && (
            <option value={panel.width}>{panel.width}/12</option>
          )}
          {widths.map(([width, words]) => <option key={width} value={width}>{say(words)}</option>)}
        </SelectField>
      </div>
    </FormDialog>
  );
}
