import { type Words } from "../shared/translate.ts";
import { filterOf, seriesOf, withClause } from "../language/edit-query.ts";
import { errorOf } from "../shared/group-label.ts";
import type { AlertIncident } from "../service/logloom.ts";

export const resolutions: Record<NonNullable<AlertIncident["resolution"]>, Words> = {
  recovered: "the condition no longer holds",
  still_absent: "the group is still silent and no longer watched",
  rule_changed: "the rule was changed",
  rule_disabled: "the rule was switched off",
  rule_deleted: "the rule was deleted",
};

const minute = 60_000;

/** The range to show: from some time before the incident opened until it ended, or until now. */
export function rangeOf(incident: AlertIncident, now: number): { from: string; to: string } {
  const before = Math.max(3 * incident.window_minutes, 30) * minute;
  const end = incident.resolved_at === null ? now : Date.parse(incident.resolved_at);
  return {
    from: new Date(Date.parse(incident.opened_at) - before).toISOString(),
    to: new Date(Math.max(end, Date.parse(incident.last_fired_at)) + minute).toISOString(),
  };
}

/** The query that finds an incident's records: its rule's filter, limited to its group. */
export function recordsOf({ query_dsl, group }: AlertIncident): string | null {
  // The error's own page shows its records.
  if (query_dsl === null || errorOf(group)) return null;
  return Object.entries(group ?? {}).reduce(
    (query, [field, value]) =>
      withClause(query, field, value ?? "", value === null ? "lacks" : "in"),
    filterOf(query_dsl),
  );
}

/** The query for the rule's value over time, limited to the incident's group. */
export function seriesOfIncident(incident: AlertIncident): string | null {
  const records = recordsOf(incident);
  if (records === null || incident.query_dsl === null) return null;
  const series = seriesOf(incident.query_dsl);
  const stage = series?.slice(series.lastIndexOf("|") + 1).replace(/\sby\s.*$/s, "").trim();
  return `${records} | ${stage || "count()"}`;
}
