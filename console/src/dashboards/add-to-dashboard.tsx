import { useState } from "react";
import { go } from "../address/address.ts";
import { groupKeys, seriesOf } from "../language/edit-query.ts";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { LogDashboard, LogPanel } from "../service/logloom.ts";
import { useSession } from "../service/session.ts";
import { FormDialog } from "../shared/dialog.tsx";
import { mostAtOnce } from "../shared/list-table.tsx";
import { prefer, usePreferences } from "../shared/preferences.ts";
import { oneLine, plain } from "../shared/safe-text.ts";
import { SelectField, TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";
import { mostPanels } from "./edit-panels.ts";
import { usePanelsChange } from "./use-panels-change.ts";

/** Adds the search as a panel to one of the user's dashboards, or to a new dashboard. */
export default function AddDialog({ query, onClose }: { query: string; onClose: () => void }) {
  const me = useSession().claims()?.user;
  const list = useOperation("list_log_dashboards", { p_limit: mostAtOnce });
  const mine = (list.data ?? []).filter(({ created_by, panels }) =>
    created_by === me && panels.length < mostPanels
  );
  const [title, setTitle] = useState(oneLine(query, 80));
  const { lastDashboard } = usePreferences();
  const [chosen, setChosen] = useState<string | null>(null);
  const wanted = chosen ?? mine.find(({ dashboard_id }) => dashboard_id === lastDashboard)
    ?.dashboard_id ??
    "";
  const [name, setName] = useState("");
  const touched = ["list_log_dashboards", "get_log_dashboard"] as const;
  const create = useChange("create_log_dashboard", touched);
  const update = usePanelsChange();
  const kind: LogPanel["kind"] = seriesOf(query)
    ? "lines"
    : groupKeys(query).length > 0
    ? "bars"
    : "number";
  const panel: LogPanel = { title, query_dsl: query, kind, width: 6 };
  const isTaken = wanted === "" &&
    mine.some((one) => one.name.trim().toLowerCase() === name.trim().toLowerCase());
  const onSuccess = ({ dashboard_id }: LogDashboard) => {
    prefer({ lastDashboard: dashboard_id });
    go({ screen: "dashboards", parameters: { id: dashboard_id } });
  };
  const submit = () => {
    if (isTaken) return;
    const dashboard = mine.find(({ dashboard_id }) => dashboard_id === wanted);
    if (dashboard) {
      update.mutate({ dashboard, change: (now) => [...now, panel] }, { onSuccess });
    } else create.mutate({ p_name: name, p_panels: [{ ...panel }] }, { onSuccess });
  };
  return (
    <FormDialog
      title={say("Add to a dashboard")}
      action={say("Add")}
      error={isTaken
        ? new Error(say("You already have a dashboard of this name: choose it above."))
        : create.error ?? update.error}
      isPending={create.isPending || update.isPending || list.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField label={say("Title")} required maxLength={100} value={title} onChange={setTitle} />
      <SelectField label={say("Dashboard")} value={wanted} onChange={setChosen}>
        <option value="">{say("New dashboard")}</option>
        {mine.map((one) => (
          <option key={one.dashboard_id} value={one.dashboard_id}>{plain(one.name)}</option>
        ))}
      </SelectField>
      {wanted === "" && (
        <TextField
          label={say("Name of the dashboard")}
          required
          maxLength={200}
          value={name}
          onChange={setName}
        />
      )}
    </FormDialog>
  );
}
