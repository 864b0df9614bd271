import { type Words } from "../shared/words.ts";
import { filterOf, seriesOf, withClause } from "../language/edit.ts";
import type { AlertIncident } from "../service/logloom.ts";

export const states: Record<
  AlertIncident["state"],
  { word: Words; tone: "bad" | "warn" | "good" }
> = {
  open: { word: "open", tone: "bad" },
  acknowledged: { word: "acknowledged", tone: "warn" },
  resolved: { word: "resolved", tone: "good" },
};

export const resolutions: Record<NonNullable<AlertIncident["resolution"]>, Words> = {
  recovered: "the condition holds no longer",
  still_absent: "watching ended, the group is still silent",
  rule_changed: "the rule was changed",
  rule_disabled: "the rule was switched off",
  rule_deleted: "the rule was deleted",
};

const minute = 60_000;

/** From before it opened until it ended, or now. */
export function rangeOf(incident: AlertIncident, now: number): { from: string; to: string } {
  const before = Math.max(3 * incident.window_minutes, 30) * minute;
  const end = incident.resolved_at === null ? now : Date.parse(incident.resolved_at);
  return {
    from: new Date(Date.parse(incident.opened_at) - before).toISOString(),
    to: new Date(Math.max(end, Date.parse(incident.last_fired_at)) + minute).toISOString(),
  };
}

/** The records of an incident: those of its rule, and of its group. */
export function recordsOf({ query_dsl, group }: AlertIncident): string | null {
  if (query_dsl === null) return null;
  return Object.entries(group ?? {}).reduce(
    (query, [field, value]) =>
      withClause(query, field, value ?? "", value === null ? "lacks" : "in"),
    filterOf(query_dsl),
  );
}

/** The value of its rule over time, of its group alone. */
export function courseOf(incident: AlertIncident): string | null {
  const records = recordsOf(incident);
  if (records === null || incident.query_dsl === null) return null;
  const series = seriesOf(incident.query_dsl);
  const stage = series?.slice(series.lastIndexOf("|") + 1).replace(/\sby\s.*$/s, "").trim();
  return `${records} | ${stage || "count()"}`;
}
