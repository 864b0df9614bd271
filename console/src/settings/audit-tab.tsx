import { useState } from "react";
import { change, useAddress } from "../address/address.ts";
import type { AuditTrailEvent, ParametersOf } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { useIsCustomer, useMay, useNameOf } from "../service/roles.ts";
import { TextField } from "../shared/form-fields.tsx";
import { ago } from "../shared/format-time.ts";
import { ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say, type Words } from "../shared/translate.ts";
import { useLater } from "../shared/use-debounced.ts";
import { AuditTools } from "./audit-tools.tsx";
import { detailsOf, nameKeys, peopleOf, subjectOf, wordedEvent } from "./audit-words.ts";

const filters = {
  actor: "Who (an id)",
  action: "Action, such as invoices.*",
  target: "Target (an id)",
  from: "From, such as now-7d",
  to: "To",
} as const satisfies Record<string, Words>;

/** Who changed what, from which value to which: in Logloom, and for admins also in the product. */
export function AuditTab() {
  const { parameters } = useAddress();
  const isAdmin = useMay("admin") === true;
  const { actor, action, target, from, to } = useLater(parameters);
  const asked = isAdmin
    ? { p_actor: actor, p_action: action, p_target: target, p_ts_from: from, p_ts_to: to }
    : { p_source: "logloom" };
  const isFiltered = isAdmin && Object.keys(filters).some((name) => parameters[name]);
  return (
    <>
      {isAdmin && (
        <>
          <div className="form-pair">
            {Object.entries(filters).map(([name, label]) => (
              <TextField
                key={name}
                label={say(label)}
                spellCheck={false}
                value={parameters[name] ?? ""}
                onChange={(text) => change({ [name]: text }, { replace: true })}
              />
            ))}
          </div>
          <AuditTools asked={asked} />
        </>
      )}
      <AuditEvents asked={asked} isFiltered={isFiltered} />
    </>
  );
}

/** The events that match, newest first. */
export function AuditEvents({ asked, isFiltered }: {
  asked: ParametersOf<"list_audit_events">;
  isFiltered: boolean;
}) {
  const isCustomer = useIsCustomer();
  const [limit, setLimit] = useState(50);
  const events = useOperation("list_audit_events", { ...asked, p_limit: limit }, { keep: true });
  const worded = (events.data ?? []).map(wordedEvent);
  const nameOf = useNameOf(
    (events.data ?? []).map(({ actor }) => actor).concat(
      worded.flatMap((event) => [event.subject, ...peopleOf(event)]),
    ),
  );
  const names = useNamesOfSubjects(events.data ?? []);
  return (
    <ListTable
      answer={events}
      empty={{
        title: isFiltered ? say("Nothing matches the filters") : say("No changes yet"),
        about: isCustomer
          ? say("What you did, and what was done to you, appears here.")
          : say("Changes of keys, settings, streams and dashboards appear here."),
      }}
      more={{ limit, onMore: () => setLimit(mostAtOnce) }}
      label={say("Audit")}
      columns={[say("When"), say("Who"), say("What"), say("Change")]}
    >
      {(event) => {
        const words = wordedEvent(event);
        const isOwn = event.source === "app";
        return (
          <tr key={event.event_id}>
            <td title={event.occurred_at}>{ago(event.occurred_at)}</td>
            <td title={event.actor}>{nameOf(event.actor)}</td>
            <th scope="row">
              {isOwn ? plain(event.action) : event.action.replace(/[._]/g, " ")}{" "}
              <bdi className="about" title={words.subject}>
                {isOwn ? plain(oneLine(words.subject, 200)) : subjectOf(words, names) ??
                  (event.action.startsWith("member.") && nameOf(words.subject))}
              </bdi>
            </th>
            <td className="details-cell">
              {detailsOf(words, isOwn ? String : nameOf, isOwn ? [] : nameKeys).map((line) => (
                <div key={line}>{plain(oneLine(line, 200))}</div>
              ))}
            </td>
          </tr>
        );
      }}
    </ListTable>
  );
}

/** The names of rules and incidents, which their events have only as ids. */
function useNamesOfSubjects(events: AuditTrailEvent[]): Map<string, string> {
  const isAbout = (what: string) =>
    events.some(({ source, action }) => source === "logloom" && action.startsWith(what));
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
