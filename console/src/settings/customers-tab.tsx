import { useState } from "react";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { PortalThing } from "../service/logloom.ts";
import { Badge, Button, ErrorNote } from "../shared/basic-controls.tsx";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { ago } from "../shared/format-time.ts";
import { actions, ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { Sentence } from "../shared/sentence.tsx";
import { say, type Words } from "../shared/translate.ts";

const touched = [
  "list_portal_things",
  "list_log_streams",
  "list_alert_rules",
  "list_audit_events",
] as const;

const kinds: Record<PortalThing["kind"], Words> = { stream: "Log stream", rule: "Alert rule" };

const states: Record<PortalThing["state"], [Words, "good" | "warn" | "bad" | "plain"]> = {
  sending: ["sending", "good"],
  failing: ["failing", "warn"],
  enabled: ["enabled", "good"],
  disabled: ["paused", "plain"],
  paused: ["stopped by itself", "bad"],
  held: ["stopped by an admin", "warn"],
};

/** What customers made in the portal. */
export function CustomersTab() {
  const [revoked, setRevoked] = useState<string | null>(null);
  const things = useOperation("list_portal_things", { p_limit: mostAtOnce }, { every: 15_000 });
  const revoke = useChange("revoke_portal_customer", touched);
  return (
    <>
      <p className="about">
        {say("Log streams and alert rules that your customers made in the portal.")}
      </p>
      {revoke.data && (
        <p className="note good" role="status">
          {say("Sessions ended: {sessions}. Deleted streams: {streams}, rules: {rules}.", {
            sessions: revoke.data.sessions,
            streams: revoke.data.streams,
            rules: revoke.data.rules,
          })}
        </p>
      )}
      <ListTable
        answer={things}
        empty={{
          title: say("Your customers have made nothing yet"),
          about: say("A session with the part streams or alerts lets them."),
        }}
        label={say("Made by customers")}
        columns={[say("Customer"), say("What"), say("State"), say("Created"), actions]}
      >
        {(thing) => (
          <ThingRow
            key={thing.thing_id}
            thing={thing}
            onRevoke={() => setRevoked(thing.customer)}
          />
        )}
      </ListTable>
      {revoked !== null && (
        <Confirm
          title={say("Revoke the customer?")}
          action={say("Revoke the customer")}
          change={revoke}
          parameters={{ p_customer: revoked }}
          onClose={() => setRevoked(null)}
        >
          <Sentence
            text="All sessions of {customer} end, and all their log streams and alert rules are deleted. This cannot be undone."
            values={{ customer: plain(revoked) }}
            strong
          />
        </Confirm>
      )}
    </>
  );
}

function ThingRow({ thing, onRevoke }: { thing: PortalThing; onRevoke: () => void }) {
  const { customer, kind, thing_id, name, state } = thing;
  const [isLeaving, setLeaving] = useState(false);
  const stream = useChange("update_log_stream", touched);
  const rule = useChange("update_alert_rule", touched);
  const removeStream = useChange("delete_log_stream", touched);
  const removeRule = useChange("delete_alert_rule", touched);
  const [word, tone] = states[state];
  const isOn = state === "sending" || state === "failing" || state === "enabled";
  const enable = (p_enabled: boolean) =>
    kind === "stream"
      ? stream.mutate({ p_stream_id: thing_id, p_enabled })
      : rule.mutate({ p_rule_id: thing_id, p_enabled });
  const dialog = {
    title: say("Delete it?"),
    action: say("Delete"),
    onClose: () => setLeaving(false),
    children: say("{thing} is deleted. This cannot be undone.", { thing: plain(name) }),
  };
  return (
    <tr>
      <th scope="row">{plain(customer)}</th>
      <td>
        {plain(name)} <span className="about">{say(kinds[kind])}</span>
      </td>
      <td>
        <Badge tone={tone}>{say(word)}</Badge>
        <ErrorNote error={stream.error ?? rule.error} />
      </td>
      <td>{ago(thing.created_at)}</td>
      <td className="tools">
        <Button
          look="small"
          disabled={stream.isPending || rule.isPending}
          onClick={() => enable(!isOn)}
        >
          {isOn ? say("Pause") : say("Resume")}
        </Button>
        <Button look="small danger" onClick={() => setLeaving(true)}>{say("Delete")}</Button>
        <Button look="small danger" onClick={onRevoke}>{say("Revoke the customer")}</Button>
        {isLeaving && (kind === "stream"
          ? <Confirm {...dialog} change={removeStream} parameters={{ p_stream_id: thing_id }} />
          : <Confirm {...dialog} change={removeRule} parameters={{ p_rule_id: thing_id }} />)}
      </td>
    </tr>
  );
}
