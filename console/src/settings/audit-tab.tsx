import { useState } from "react";
import type { AuditEvent } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { useNameOf } from "../service/roles.ts";
import { ago } from "../shared/format-time.ts";
import { ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { detailsOf, peopleOf, subjectOf } from "./audit-words.ts";

/** The audit events of the tenant: who changed what, from which value to which. */
export function AuditTab() {
  const [limit, setLimit] = useState(50);
  const events = useOperation("list_tenant_audit_events", { p_limit: limit }, { keep: true });
  const nameOf = useNameOf((events.data ?? []).flatMap((event) => [
    event.actor,
    event.subject,
    ...peopleOf(event),
  ]));
  const names = useNamesOfSubjects(events.data ?? []);
  return (
    <ListTable
      answer={events}
      empty={{
        title: say("No changes yet"),
        about: say("Changes of keys, settings, streams and dashboards appear here."),
      }}
      more={{ limit, onMore: () => setLimit(mostAtOnce) }}
      label={say("Audit")}
      columns={[say("When"), say("Who"), say("What"), say("Change")]}
    >
      {(event) => (
        <tr key={event.event_id}>
          <td title={event.occurred_at}>{ago(event.occurred_at)}</td>
          <td title={event.actor}>{nameOf(event.actor)}</td>
          <th scope="row">
            {event.action.replace(/[._]/g, " ")}{" "}
            <bdi className="about" title={event.subject}>
              {subjectOf(event, names) ??
                (event.action.startsWith("member.") && nameOf(event.subject))}
            </bdi>
          </th>
          <td className="details-cell">
            {detailsOf(event, nameOf).map((words) => (
              <div key={words}>{plain(oneLine(words, 200))}</div>
            ))}
          </td>
        </tr>
      )}
    </ListTable>
  );
}

/** The names of rules and incidents, which their events have only as ids. */
function useNamesOfSubjects(events: AuditEvent[]): Map<string, string> {
  const isAbout = (what: string) => events.some(({ action }) => action.startsWith(what));
  const rules = useOperation("list_alert_rules", { p_limit: mostAtOnce }, {
    enabled: isAbout("alert_rule") || isAbout("alert_silence"),
  });
  const incidents = useOperation("list_alert_incidents", { p_limit: mostAtOnce }, {
    enabled: isAbout("alert_incident"),
  });
  return new Map([
    ...(rules.data ?? []).map(({ rule_id, name }) => [rule_id, name] as const),
    ...(incidents.data ?? []).map((one) => [one.incident_id, one.rule_name] as const),
  ]);
}
