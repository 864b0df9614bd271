import { useMemo, useState } from "react";
import { go } from "../address/address.ts";
import type { AlertRule } from "../alerts/rules.ts";
import { useChange, useOperation } from "../service/hooks.ts";
import { Badge, ErrorNote, ScreenHead } from "../shared/controls.tsx";
import { ago, measure } from "../shared/format.ts";
import { actions, ListTable, mostAtOnce } from "../shared/list.tsx";
import { plain } from "../shared/plain.ts";

interface Alert {
  alert_id: string;
  rule_id: string;
  triggered_at: string;
  value: number;
  threshold: number;
  acknowledged: boolean;
  acknowledged_at: string | null;
  acknowledged_by: string | null;
  notification_sent: boolean;
  notification_channels: string[];
  notification_error: string | null;
  window_start: string | null;
  window_end: string | null;
  group?: Record<string, string | null> | null;
}

export default function HistoryScreen() {
  const [isOpenOnly, setOpenOnly] = useState(false);
  const [limit, setLimit] = useState(100);
  const alerts = useOperation<Alert[]>("list_alert_history", {
    ...(isOpenOnly ? { p_acknowledged: false } : {}),
    p_limit: limit,
  }, { keep: true, every: 30_000 });
  const rules = useOperation<AlertRule[]>("list_alert_rules", { p_limit: mostAtOnce });
  const names = useMemo(
    () => new Map(rules.data?.map((rule) => [rule.rule_id, rule]) ?? []),
    [rules.data],
  );
  return (
    <div className="page">
      <ScreenHead title="Alert history" about="What rules found, the newest first.">
        <label className="check">
          <input
            type="checkbox"
            checked={isOpenOnly}
            onChange={(event) => setOpenOnly(event.target.checked)}
          />
          Not acknowledged only
        </label>
      </ScreenHead>
      <ListTable
        answer={alerts}
        empty={{
          title: isOpenOnly ? "Everything is acknowledged" : "No rule has fired yet",
        }}
        more={{ limit, onMore: () => setLimit(mostAtOnce) }}
        label="Alerts"
        columns={[
          "When",
          "Rule",
          { name: "Value", is: "number" },
          { name: "Threshold", is: "number" },
          "Told",
          "Answered",
          actions,
        ]}
      >
        {(alert) => (
          <AlertRow
            key={alert.alert_id}
            alert={alert}
            rule={names.get(alert.rule_id)}
          />
        )}
      </ListTable>
    </div>
  );
}

function AlertRow({ alert, rule }: { alert: Alert; rule: AlertRule | undefined }) {
  const acknowledge = useChange<{ p_alert_id: string }>("acknowledge_alert", [
    "list_alert_history",
  ]);
  const look = () =>
    rule && go({
      screen: "search",
      parameters: {
        q: rule.query_dsl,
        from: alert.window_start ?? "",
        to: alert.window_end ?? "",
      },
    });
  const group = Object.entries(alert.group ?? {});
  return (
    <tr>
      <td title={alert.triggered_at}>{ago(alert.triggered_at)}</td>
      <th scope="row">
        {plain(rule?.name ?? "A deleted rule")}
        {group.map(([field, value]) => (
          <Badge key={field} tone="plain">{plain(`${field}: ${value ?? "none"}`)}</Badge>
        ))}
      </th>
      <td className="number">{measure(alert.value)}</td>
      <td className="number">{measure(alert.threshold)}</td>
      <td>
        {alert.notification_error
          ? <Badge tone="bad">{plain(alert.notification_error).slice(0, 80)}</Badge>
          : alert.notification_sent
          ? alert.notification_channels.join(", ")
          : <span className="about">nobody</span>}
      </td>
      <td>
        {alert.acknowledged
          ? (
            <span title={alert.acknowledged_by ?? undefined}>
              <Badge tone="good">acknowledged</Badge> {ago(alert.acknowledged_at)}
            </span>
          )
          : <Badge tone="warn">open</Badge>}
      </td>
      <td className="tools">
        {rule && alert.window_start && (
          <button type="button" className="button small" onClick={look}>Records</button>
        )}
        {!alert.acknowledged && (
          <button
            type="button"
            className="button small primary"
            disabled={acknowledge.isPending}
            onClick={() => acknowledge.mutate({ p_alert_id: alert.alert_id })}
          >
            Acknowledge
          </button>
        )}
        <ErrorNote error={acknowledge.error} />
      </td>
    </tr>
  );
}
