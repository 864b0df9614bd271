import { Said } from "../shared/said.tsx";
import { useState } from "react";
import { useChange, useOperation } from "../service/hooks.ts";
import type { AlertRule, Channel } from "../service/logloom.ts";
import { Confirm } from "../shared/confirm.tsx";
import { Badge, Empty, ErrorNote } from "../shared/controls.tsx";
import { actions, Loaded, mostAtOnce, Table } from "../shared/list.tsx";
import { plain } from "../shared/plain.ts";
import { say } from "../shared/words.ts";
import { addressOf, labelOf } from "./channels.ts";
import { DeliveriesDialog } from "./deliveries-dialog.tsx";

interface Place {
  rule: AlertRule;
  channel: Channel;
}

/** Where alerts go: each channel of each rule. */
export function ChannelsTab({ onEdit }: { onEdit: (rule: AlertRule) => void }) {
  const [doomed, setDoomed] = useState<Place | null>(null);
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
              <Empty title={say("Alerts go nowhere yet")}>
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
                    <button
                      type="button"
                      className="button small"
                      disabled={test.isPending}
                      onClick={() =>
                        test.mutate({ p_rule_id: rule.rule_id }, {
                          onSuccess: () => setDelivered(rule),
                        })}
                    >
                      {say("Test")}
                    </button>
                    <button
                      type="button"
                      className="button small danger"
                      onClick={() => setDoomed({ rule, channel })}
                    >
                      {say("Remove")}
                    </button>
                  </td>
                </tr>
              ))}
            </Table>
          );
        }}
      </Loaded>
      {delivered && <DeliveriesDialog rule={delivered} onClose={() => setDelivered(null)} />}
      {doomed && (
        <Confirm
          title={say("Remove the channel?")}
          action={say("Remove")}
          change={change}
          parameters={{
            p_rule_id: doomed.rule.rule_id,
            p_notification_destinations: doomed.rule.notification_destinations
              .filter((one) => one !== doomed.channel),
          }}
          onClose={() => setDoomed(null)}
        >
          <Said
            words="{rule} tells {channel} nothing any more. Its address stays in the rule."
            of={{
              rule: <strong>{plain(doomed.rule.name)}</strong>,
              channel: labelOf(doomed.channel),
            }}
          />
        </Confirm>
      )}
    </>
  );
}

function Address({ rule, channel }: Place) {
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
