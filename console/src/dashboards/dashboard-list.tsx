import { Sentence } from "../shared/sentence.tsx";
import { useState } from "react";
import { go, useAddress } from "../address/address.ts";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { LogDashboard } from "../service/logloom.ts";
import { useIsCustomer, useMay } from "../service/roles.ts";
import { useUserId } from "../service/session.ts";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { Badge, Button, ScreenHead } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { count } from "../shared/format-number.ts";
import { actions, ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { DashboardDialog } from "./dashboard-dialog.tsx";

/** The user's dashboards, and those that colleagues share. */
export function DashboardList() {
  const me = useUserId();
  const isCustomer = useIsCustomer();
  const { from = "", to = "" } = useAddress().parameters;
  const list = useOperation("list_log_dashboards", { p_limit: mostAtOnce });
  const remove = useChange("delete_log_dashboard", ["list_log_dashboards"]);
  const mayMake = useMay("member");
  const [isNew, setNew] = useState(false);
  const [toDelete, setToDelete] = useState<LogDashboard | null>(null);
  const open = (one: LogDashboard) =>
    go({ screen: "dashboards", parameters: { id: one.dashboard_id, from, to } });
  return (
    <div className="page">
      <ScreenHead
        title={say("Dashboards")}
        about={say("Charts of several queries over one time range.")}
      >
        {mayMake && (
          <Button look="primary" onClick={() => setNew(true)}>{say("New dashboard")}</Button>
        )}
      </ScreenHead>
      <ListTable
        answer={list}
        label={say("Dashboards")}
        columns={[say("Name"), { name: say("Panels"), is: "number" }, say("Changed"), actions]}
        empty={{
          title: say("No dashboards yet"),
          about: isCustomer
            ? undefined
            : mayMake === false
            ? say("Dashboards that colleagues share appear here.")
            : say("Create one, or add the chart of a search."),
        }}
      >
        {(one) => (
          <tr key={one.dashboard_id}>
            <th scope="row">
              <button type="button" className="card-title" onClick={() => open(one)}>
                {plain(one.name)}
              </button>{" "}
              {one.is_shared && !isCustomer && (
                <Badge tone="info">
                  {one.created_by === me ? say("shared") : say("a colleague's")}
                </Badge>
              )}
            </th>
            <td className="number">{count(one.panels.length)}</td>
            <td>{ago(one.updated_at)}</td>
            <td className="tools">
              {mayMake && one.created_by === me && (
                <Button
                  look="small danger"
                  aria-label={say("Delete {name}", { name: one.name })}
                  onClick={() => setToDelete(one)}
                >
                  {say("Delete")}
                </Button>
              )}
            </td>
          </tr>
        )}
      </ListTable>
      {isNew && <DashboardDialog onClose={() => setNew(false)} onMade={open} />}
      {toDelete && (
        <Confirm
          title={say("Delete the dashboard?")}
          action={say("Delete")}
          change={remove}
          parameters={{ p_dashboard_id: toDelete.dashboard_id }}
          onClose={() => setToDelete(null)}
        >
          <Sentence
            text="{name} is deleted for everyone."
            values={{ name: plain(toDelete.name) }}
            strong
          />
        </Confirm>
      )}
    </div>
  );
}
