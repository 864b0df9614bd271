import { go } from "../address/address.ts";
import { useNameOf } from "../service/roles.ts";
import { since } from "../shared/format-time.ts";
import {
  GroupBadges,
  IncidentState,
  IncidentValue,
  useUnresolvedIncidents,
} from "../shared/incident-parts.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { Button } from "../shared/basic-controls.tsx";

const most = 5;

/** The incidents that are not over, open ones first: the rule, since when, its value, and who has it. */
export function IncidentStrip() {
  const incidents = (useUnresolvedIncidents().data ?? []).toSorted((a, b) =>
    Number(b.state === "open") - Number(a.state === "open")
  );
  const shown = incidents.slice(0, most);
  const personOf = (one: typeof shown[number]) => one.assigned_to ?? one.acknowledged_by;
  const nameOf = useNameOf(shown.map(personOf));
  if (shown.length === 0) return null;
  return (
    <section className="incident-strip" aria-label={say("Incidents")}>
      <ul>
        {shown.map((incident) => (
          <li key={incident.incident_id} className={incident.state}>
            <IncidentState incident={incident} />
            <button
              type="button"
              className="card-title"
              onClick={() =>
                go({ screen: "alerts", parameters: { incident: incident.incident_id } })}
            >
              {plain(incident.rule_name)}
            </button>
            <GroupBadges group={incident.group} />
            <span title={incident.opened_at}>
              {say("for {span}", { span: since(incident.opened_at) })}
            </span>
            <span>
              <IncidentValue incident={incident} />
            </span>
            <span className="about">
              {personOf(incident) === null
                ? say("not assigned")
                : say("with {user}", { user: nameOf(personOf(incident)) })}
            </span>
          </li>
        ))}
      </ul>
      {incidents.length > most && (
        <Button
          look="small quiet"
          onClick={() => go({ screen: "alerts", parameters: {} })}
        >
          {say("{count} more", { count: incidents.length - most })}
        </Button>
      )}
    </section>
  );
}
