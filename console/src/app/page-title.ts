import type { Address, Screen } from "../address/address.ts";
import { rangeLabel, standardRange } from "../address/range.ts";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say, type Words } from "../shared/translate.ts";

export const labels: Record<Screen, Words> = {
  overview: "Overview",
  search: "Search",
  dashboards: "Dashboards",
  errors: "Errors",
  alerts: "Alerts",
  saved: "Saved",
  keys: "Keys",
  usage: "Usage",
  health: "Health",
  settings: "Settings",
  members: "Members",
  unknown: "Not found",
};

/** The title of the browser's tab: the content first, then Logloom. */
export function titleOf({ screen, parameters }: Address): string {
  if (screen !== "search") return `${say(labels[screen])} · Logloom`;
  const query = (parameters.q ?? "").trim();
  const range = {
    from: parameters.from || standardRange.from,
    to: parameters.to || standardRange.to,
  };
  const when = parameters.live === "1" ? say("Live") : rangeLabel(range, "utc");
  const what = query === "" ? say("All records") : plain(oneLine(query, 60));
  return `${what} · ${when} · Logloom`;
}
