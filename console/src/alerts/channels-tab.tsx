import { Sentence } from "../shared/sentence.tsx";
import { useState } from "react";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { AlertRule, Channel } from "../service/logloom.ts";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { Badge, Button, Empty, ErrorNote } from "../shared/basic-controls.tsx";
import { actions, Loaded, mostAtOnce, Table } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { addressOf, labelOf } from "./notification-channels.ts";
import { DeliveriesDialog } from "./deliveries-dialog.tsx";

interface RuleChannel {
  rule: AlertRule;
  channel: Channel;
}

/** A row for each channel of each rule. */
export function ChannelsTab({ onEdit }: { onEdit: (rule: AlertRule) => void }) {
  const [toDelete, setToDelete] = useState<RuleChannel | null>(null);
  const [delivered, setDelivered] = useState<AlertRule | null>(null);
  const rules = useOperation("list_alert_rules", { p_limit: mostAtOnce }, { every: 30_000 });
  const test = useChange("test_alert_rule", ["list_alert_deliveries"]);
  const change = useChange("update_alert_rule", ["list_alert_rules"]);
  return (
    <>
      <p className="about">
        {say("Each rule has its own channels. A test goes to all channels of its rule.")}
      </p>
      <ErrorNote error={test.error} />
      <Loaded answer={rules}>
        {(data) => {
          const places = data.flatMap((rule) =>
            rule.notification_destinations.map((channel) => ({ rule, channel }))
          );
          if (places.length === 0) {
            return (
              <Empty title={say("No channels yet")}>
                <p>{say("Choose channels in a rule, under Notify.")}</p>
              </Empty>
            );
          }
          return (
            <Table
              label={say("Channels")}
              columns={[say("Channel"), say("To"), say("Rule"), actions]}
            >
              {places.map(({ rule, channel }) => (
                <tr key={`${rule.rule_id} ${channel}`}>
                  <th scope="row">{labelOf(channel)}</th>
                  <td>
                    <Address rule={rule} channel={channel} />
                  </td>
                  <td>
                    <button type="button" className="card-title" onClick={() => onEdit(rule)}>
                      {plain(rule.name)}
                    </button>{" "}
                    {!rule.enabled && <Badge tone="plain">{say("off")}</Badge>}
                  </td>
                  <td className="tools">
                    <Button
                      look="small"
                      disabled={test.isPending}
                      onClick={() =>
                        test.mutate({ p_rule_id: rule.rule_id }, {
                          onSuccess: () => setDelivered(rule),
                        })}
                    >
                      {say("Test")}
                    </Button>
                    <Button look="small danger" onClick={() => setToDelete({ rule, channel })}>
                      {say("Remove")}
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          );
        }}
      </Loaded>
      {delivered && <DeliveriesDialog rule={delivered} onClose={() => setDelivered(null)} />}
      {toDelete && (
        <Confirm
          title={say("Remove the channel?")}
          action={say("Remove")}
          change={change}
          parameters={{
            p_rule_id: toDelete.rule.rule_id,
            p_notification_destinations: toDelete.rule.notification_destinations
              .filter((one) => one !== toDelete.channel),
          }}
          onClose={() => setToDelete(null)}
        >
          <Sentence
            text="{rule} no longer notifies {channel}. The rule keeps the address."
            values={{
              rule: <strong>{plain(toDelete.rule.name)}</strong>,
              channel: labelOf(toDelete.channel),
            }}
          />
        </Confirm>
      )}
    </>
  );
}

function Address({ rule, channel }: RuleChannel) {
  const address = addressOf(rule, channel);
  if (address === true) return <Badge tone="good">{say("set")}</Badge>;
  if (address === null) return <Badge tone="warn">{say("not set")}</Badge>;
  return (
    <>
      <code>{plain(address)}</code>
      {channel === "webhook" && rule.notification_config.webhook_template && (
        <span className="about">, {say("with a template")}</span>
      )}
    </>
  );
}
