import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { AlertDelivery, AlertRule } from "../service/logloom.ts";
import { Badge, Button, ErrorNote } from "../shared/basic-controls.tsx";
import { Dialog } from "../shared/dialog.tsx";
import { ago } from "../shared/format-time.ts";
import { actions, ListTable } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { deliveryState } from "./delivery-state.ts";
import { say, type Words } from "../shared/translate.ts";

const purposes: Record<AlertDelivery["purpose"], Words> = {
  alert: "an alert",
  recovery: "a recovery",
  test: "a test",
  confirmation: "a code",
};

/** The deliveries of a rule, including tests. */
export function DeliveriesDialog({ rule, onClose }: { rule: AlertRule; onClose: () => void }) {
  const list = useOperation("list_alert_deliveries", {
    p_rule_id: rule.rule_id,
    p_limit: 200,
  }, { every: 3000 });
  const retry = useChange("retry_alert_delivery", ["list_alert_deliveries"]);
  return (
    <Dialog
      title={say("Deliveries: {rule}", { rule: plain(rule.name) })}
      onClose={onClose}
      size="wide"
    >
      <ErrorNote error={retry.error} />
      <ListTable
        answer={list}
        empty={{ title: say("No deliveries yet") }}
        label={say("Deliveries")}
        columns={[
          say("To"),
          say("For"),
          say("Status"),
          { name: say("Attempts"), is: "number" },
          say("Last answer"),
          say("When"),
          actions,
        ]}
      >
        {(delivery) => (
          <tr key={delivery.delivery_id}>
            <th scope="row">{delivery.channel}</th>
            <td>{purposes[delivery.purpose]}</td>
            <td>
              <Status delivery={delivery} />
            </td>
            <td className="number">{delivery.attempts}</td>
            <td>
              {delivery.last_status ?? ""} {plain(delivery.last_error ?? "")}
              {delivery.last_status === null && delivery.last_error === null &&
                "–"}
            </td>
            <td>
              {ago(
                delivery.delivered_at ?? delivery.last_attempt_at ??
                  delivery.created_at,
              )}
            </td>
            <td className="tools">
              {delivery.status !== "delivered" && delivery.purpose !== "confirmation" && (
                <Button
                  look="small"
                  disabled={retry.isPending}
                  onClick={() => retry.mutate({ p_delivery_id: delivery.delivery_id })}
                >
                  {say("Try again")}
                </Button>
              )}
            </td>
          </tr>
        )}
      </ListTable>
    </Dialog>
  );
}

function Status({ delivery }: { delivery: AlertDelivery }) {
  const { zone } = usePreferences();
  const { word, tone, about } = deliveryState(delivery, zone);
  return (
    <>
      <Badge tone={tone}>{say(word)}</Badge>
      {about !== null && <span className="about">{about}</span>}
    </>
  );
}
