import { useState } from "react";
import { change, go, useAddress } from "../address/address.ts";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { AlertIncident } from "../service/logloom.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { count } from "../shared/format-number.ts";
import { ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say, type Words } from "../shared/translate.ts";
import { GroupBadges, IncidentState, IncidentValue } from "../shared/incident-parts.tsx";
import { CheckField, Segments } from "../shared/form-fields.tsx";

const filters = ["unresolved", "open", "acknowledged", "resolved", "all"] as const;
type Filter = (typeof filters)[number];

const noSuch: Record<Filter, Words> = {
  unresolved: "No unresolved incidents",
  open: "No open incidents",
  acknowledged: "No acknowledged incidents",
  resolved: "No resolved incidents",
  all: "No incidents yet",
};

/** The incidents in one state. Several can be acknowledged at once. */
export function IncidentsTab() {
  const { parameters } = useAddress();
  const filter: Filter = filters.find((one) => one === parameters.state) ?? "unresolved";
  const [limit, setLimit] = useState(100);
  const list = useOperation("list_alert_incidents", {
    p_state: filter === "all" ? undefined : filter,
    p_limit: limit,
  }, { keep: true, every: 15_000 });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const acknowledge = useChange("update_alert_incident", [
    "list_alert_incidents",
    "list_alert_history",
  ]);
  const answerable = (list.data ?? []).filter(({ state }) => state === "open");
  const wanted = answerable.filter(({ incident_id }) => chosen.has(incident_id));
  const choose = (ids: string[], isOn: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) isOn ? next.add(id) : next.delete(id);
    setChosen(next);
  };
  const allIds = answerable.map(({ incident_id }) => incident_id);
  return (
    <>
      <div className="filters">
        <Segments
          label={say("Show")}
          choices={filters.map((one) => [one, say(one)])}
          chosen={filter}
          onChoose={(one) => change({ state: one === "unresolved" ? "" : one })}
        />
        {allIds.length > 1 && (
          <CheckField
            label={say("Choose all")}
            checked={wanted.length === allIds.length}
            onChange={(isOn) => choose(allIds, isOn)}
          />
        )}
        {wanted.length > 0 && (
          <Button
            look="primary"
            disabled={acknowledge.isPending}
            onClick={() =>
              acknowledge.mutate({
                p_incident_ids: wanted.map(({ incident_id }) => incident_id),
                p_acknowledged: true,
              }, { onSuccess: () => setChosen(new Set()) })}
          >
            {say("Acknowledge {count}", { count: wanted.length })}
          </Button>
        )}
      </div>
      <ErrorNote error={acknowledge.error} />
      <ListTable
        answer={list}
        empty={useEmptyWords(filter, list.data?.length === 0)}
        more={{ limit, onMore: () => setLimit(mostAtOnce) }}
        label={say("Incidents")}
        columns={[
          { name: say("Choose"), is: "actions" },
          say("Incident"),
          say("State"),
          say("Since"),
          say("Last fired"),
          { name: say("Times"), is: "number" },
          { name: say("Value"), is: "number" },
          say("Acknowledged"),
        ]}
      >
        {(incident) => (
          <IncidentRow
            key={incident.incident_id}
            incident={incident}
            isChosen={chosen.has(incident.incident_id)}
            onChoose={(isOn) => choose([incident.incident_id], isOn)}
          />
        )}
      </ListTable>
    </>
  );
}

/** Says whether rules are watching, because an empty list means nothing without them. */
function useEmptyWords(filter: Filter, isEmpty: boolean): { title: string; about?: string } {
  const rules = useOperation("list_alert_rules", { p_limit: mostAtOnce }, { enabled: isEmpty });
  const watching = rules.data?.filter(({ enabled }) => enabled).length;
  const title = say(noSuch[filter]);
  if (watching === undefined) return { title };
  return watching === 0
    ? { title: say("Nothing is watched"), about: say("No alert rule is enabled. See Rules.") }
    : { title, about: say("{count} rules are watching.", { count: watching }) };
}

function IncidentRow({ incident, isChosen, onChoose }: {
  incident: AlertIncident;
  isChosen: boolean;
  onChoose: (isOn: boolean) => void;
}) {
  return (
    <tr>
      <td>
        {incident.state === "open" && (
          <input
            type="checkbox"
            aria-label={say("Choose {name}", { name: incident.rule_name })}
            checked={isChosen}
            onChange={(event) => onChoose(event.target.checked)}
          />
        )}
      </td>
      <th scope="row">
        <button
          type="button"
          className="card-title"
          onClick={() => go({ screen: "alerts", parameters: { incident: incident.incident_id } })}
        >
          {plain(incident.rule_name)}
        </button>{" "}
        <GroupBadges group={incident.group} />
      </th>
      <td>
        <IncidentState incident={incident} />
      </td>
      <td title={incident.opened_at}>{ago(incident.opened_at)}</td>
      <td title={incident.last_fired_at}>{ago(incident.last_fired_at)}</td>
      <td className="number">{count(incident.fired_count)}</td>
      <td className="number">
        <IncidentValue incident={incident} />
      </td>
      <td title={incident.acknowledged_by ?? undefined}>
        {incident.acknowledged_at === null ? "–" : ago(incident.acknowledged_at)}
      </td>
    </tr>
  );
}
