import { useMemo, useState } from "react";
import { go } from "../address/address.ts";
import { deliveryState } from "./delivery-state.ts";
import { useChange, useHas, useOperation } from "../service/operation-hooks.ts";
import type { Alert, AlertRule } from "../service/logloom.ts";
import { Badge, Button, ErrorNote } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { measure } from "../shared/format-number.ts";
import { errorOf } from "../shared/group-label.ts";
import { goToError, GroupBadges, IncidentState } from "../shared/incident-parts.tsx";
import { actions, ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";
import { CheckField } from "../shared/form-fields.tsx";

/** Every alert, the newest first. */
export function HistoryTab() {
  const [isOpenOnly, setOpenOnly] = useState(false);
  const [limit, setLimit] = useState(100);
  const alerts = useOperation("list_alert_history", {
    ...(isOpenOnly ? { p_acknowledged: false } : {}),
    p_limit: limit,
  }, { keep: true, every: 30_000 });
  const rules = useOperation("list_alert_rules", { p_limit: mostAtOnce });
  const names = useMemo(
    () => new Map(rules.data?.map((rule) => [rule.rule_id, rule]) ?? []),
    [rules.data],
  );
  return (
    <>
      <CheckField label={say("Only unacknowledged")} checked={isOpenOnly} onChange={setOpenOnly} />
      <ListTable
        answer={alerts}
        empty={{
          title: isOpenOnly ? say("Everything is acknowledged") : say("No rule has fired yet"),
        }}
        more={{ limit, onMore: () => setLimit(mostAtOnce) }}
        label={say("Alerts")}
        columns={[
          say("When"),
          say("Rule"),
          { name: say("Value"), is: "number" },
          { name: say("Threshold"), is: "number" },
          say("Notified"),
          say("Acknowledged"),
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
    </>
  );
}

function AlertRow({ alert, rule }: { alert: Alert; rule: AlertRule | undefined }) {
  const acknowledge = useChange("acknowledge_alert", [
    "list_alert_history",
    "list_alert_incidents",
  ]);
  const hasSearch = useHas("search_logs");
  const error = errorOf(alert.group);
  const look = () =>
    error ? goToError(error) : rule && go({
      screen: "search",
      parameters: { q: rule.query_dsl, from: alert.window_start, to: alert.window_end },
    });
  return (
    <tr>
      <td title={alert.triggered_at}>{ago(alert.triggered_at)}</td>
      <th scope="row">
        {plain(rule?.name ?? say("A deleted rule"))} <GroupBadges group={alert.group} />
      </th>
      <td className="number">{measure(alert.value)}</td>
      <td className="number">{error ? "–" : measure(alert.threshold)}</td>
      <td>
        <Told alert={alert} rule={rule} />
      </td>
      <td>
        <span title={alert.acknowledged_by ?? undefined}>
          {alert.acknowledged
            ? <IncidentState incident={{ state: "acknowledged" }} />
            : <Badge tone="bad">{say("not acknowledged")}</Badge>}
          {alert.acknowledged && ` ${ago(alert.acknowledged_at)}`}
        </span>
      </td>
      <td className="tools">
        {(rule || error) && hasSearch && (
          <Button look="small" onClick={look}>{error ? say("The error") : say("Records")}</Button>
        )}
        {!alert.acknowledged && (
          <Button
            look="small primary"
            disabled={acknowledge.isPending}
            onClick={() => acknowledge.mutate({ p_alert_id: alert.alert_id })}
          >
            {say("Acknowledge")}
          </Button>
        )}
        <ErrorNote error={acknowledge.error} />
      </td>
    </tr>
  );
}

/** Which destinations got the alert, which failed, and which are being retried. */
function Told({ alert, rule }: { alert: Alert; rule: AlertRule | undefined }) {
  const { zone } = usePreferences();
  const { notification_channels: channels, notification_error: failure } = alert;
  const wanted = rule?.notification_destinations ?? (channels.length > 0 || failure ? [] : ["any"]);
  const reached = new Set<string>(channels);
  const hasDeliveries = useHas("list_alert_deliveries");
  const isOpen = hasDeliveries &&
    wanted.some((channel) => !reached.has(channel) && !failure?.startsWith(`${channel}:`));
  // All alerts of a rule share one request.
  const deliveries = useOperation("list_alert_deliveries", {
    p_rule_id: alert.rule_id,
    p_limit: mostAtOnce,
  }, { enabled: isOpen, every: 10_000 });
  const own = isOpen
    ? (deliveries.data ?? []).filter(({ alert_id }) => alert_id === alert.alert_id)
    : [];
  const failed = new Set(failure ? [failure] : []);
  for (const { channel, status, last_error } of own) {
    if (status === "delivered") reached.add(channel);
    else if (status === "failed") failed.add(`${channel}: ${last_error ?? say("not delivered")}`);
  }
  const pending = own.filter(({ status }) => status === "pending");
  const isNobody = reached.size === 0 && failed.size === 0 && pending.length === 0;
  return (
    <div className="told">
      {reached.size > 0 && <span>{[...reached].join(", ")}</span>}
      {[...failed].map((words) => <Badge key={words} tone="bad">{plain(words).slice(0, 200)}
      </Badge>)}
      {pending.map((delivery) => {
        const { word, tone, about } = deliveryState(delivery, zone);
        return (
          <span key={delivery.delivery_id}>
            {delivery.channel} <Badge tone={tone}>{say(word)}</Badge>{" "}
            {about !== null && <span className="about">{about}</span>}
          </span>
        );
      })}
      {isNobody && (
        <span className="about">
          {isOpen && deliveries.data === undefined ? "…" : say("nobody")}
        </span>
      )}
    </div>
  );
}
