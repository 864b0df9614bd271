import { go } from "../address/address.ts";
import type { AlertIncident } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { useMay } from "../service/roles.ts";
import { Badge } from "./basic-controls.tsx";
import { signs } from "./comparison-signs.ts";
import { errorOf } from "./group-label.ts";
import { measure } from "./format-number.ts";
import { oneLine, plain } from "./safe-text.ts";
import { say, type Words } from "./translate.ts";

const states: Record<AlertIncident["state"], { word: Words; tone: "bad" | "warn" | "good" }> = {
  open: { word: "open", tone: "bad" },
  acknowledged: { word: "acknowledged", tone: "warn" },
  resolved: { word: "resolved", tone: "good" },
};

/** The incidents that are not over. The top bar and the overview share the answer. */
export function useUnresolvedIncidents() {
  const isMember = useMay("member") === true;
  return useOperation("list_alert_incidents", { p_state: "unresolved", p_limit: 100 }, {
    enabled: isMember,
    every: 30_000,
    keep: true,
  });
}

export function IncidentState({ incident }: { incident: Pick<AlertIncident, "state"> }) {
  const { word, tone } = states[incident.state];
  return <Badge tone={tone}>{say(word)}</Badge>;
}

export const goToError = (group: string) => go({ screen: "errors", parameters: { group } });

/** The group, if the rule's query has `by`, or the error. */
export function GroupBadges({ group }: { group: AlertIncident["group"] }) {
  const shown = Object.entries(group ?? {}).filter(([field]) => field !== "fingerprint");
  return shown.map(([field, value]) => (
    <Badge key={field} tone="plain">
      {oneLine(plain(`${field}: ${value ?? say("none")}`), 80)}
    </Badge>
  ));
}

/** The last value and the condition, or how many records an error had. */
export function IncidentValue({ incident }: { incident: AlertIncident }) {
  if (errorOf(incident.group)) return say("{count} records", { count: incident.value });
  return (
    <>
      {measure(incident.value)}{" "}
      <span className="about">
        {incident.comparison && signs[incident.comparison]} {measure(incident.threshold)}
      </span>
    </>
  );
}
