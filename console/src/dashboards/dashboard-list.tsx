import { Said } from "../shared/said.tsx";
import { useState } from "react";
import { go } from "../address/address.ts";
import { useChange, useOperation } from "../service/hooks.ts";
import type { LogDashboard } from "../service/logloom.ts";
import { useMay } from "../service/role.ts";
import { useSession } from "../service/session.ts";
import { Confirm } from "../shared/confirm.tsx";
import { Badge, ScreenHead } from "../shared/controls.tsx";
import { ago } from "../shared/format.ts";
import { count } from "../shared/numbers.ts";
import { actions, ListTable, mostAtOnce } from "../shared/list.tsx";
import { plain } from "../shared/plain.ts";
import { say } from "../shared/words.ts";
import { DashboardDialog } from "./dashboard-dialog.tsx";

/** One's own dashboards and those that colleagues share. */
export function DashboardList() {
  const me = useSession().claims()?.user;
  const list = useOperation("list_log_dashboards", { p_limit: mostAtOnce });
  const remove = useChange("delete_log_dashboard", ["list_log_dashboards"]);
  const mayMake = useMay("member");
  const [isNew, setNew] = useState(false);
  const [doomed, setDoomed] = useState<LogDashboard | null>(null);
  const open = (one: LogDashboard) =>
    go({ screen: "dashboards", parameters: { id: one.dashboard_id } });
  return (
    <div className="page">
      <ScreenHead
        title={say("Dashboards")}
        about={say("Queries that are shown together, over one range.")}
      >
        {mayMake && (
          <button type="button" className="button primary" onClick={() => setNew(true)}>
            {say("New dashboard")}
          </button>
        )}
      </ScreenHead>
      <ListTable
        answer={list}
        label={say("Dashboards")}
        columns={[say("Name"), { name: say("Panels"), is: "number" }, say("Changed"), actions]}
        empty={{
          title: say("No dashboards yet"),
          about: mayMake === false
            ? say("Those that colleagues share are here.")
            : say("Make one, or add the numbers of a search to one."),
        }}
      >
        {(one) => (
          <tr key={one.dashboard_id}>
            <th scope="row">
              <button type="button" className="card-title" onClick={() => open(one)}>
                {plain(one.name)}
              </button>{" "}
              {one.is_shared && (
                <Badge tone="info">
                  {one.created_by === me ? say("shared") : say("a colleague's")}
                </Badge>
              )}
            </th>
            <td className="number">{count(one.panels.length)}</td>
            <td>{ago(one.updated_at)}</td>
            <td className="number">
              {mayMake && one.created_by === me && (
                <button
                  type="button"
                  className="button small danger"
                  aria-label={say("Delete {name}", { name: one.name })}
                  onClick={() => setDoomed(one)}
                >
                  {say("Delete")}
                </button>
              )}
            </td>
          </tr>
        )}
      </ListTable>
      {isNew && <DashboardDialog onClose={() => setNew(false)} onMade={open} />}
      {doomed && (
        <Confirm
          title={say("Delete the dashboard?")}
          action={say("Delete")}
          change={remove}
          parameters={{ p_dashboard_id: doomed.dashboard_id }}
          onClose={() => setDoomed(null)}
        >
          <Said
            words="{name} is gone for everyone who uses it."
            of={{ name: plain(doomed.name) }}
            strong
          />
        </Confirm>
      )}
    </div>
  );
}
