import type { ErrorGroup, ParametersOf } from "../service/logloom.ts";
import { useChange } from "../service/operation-hooks.ts";
import { Badge } from "../shared/basic-controls.tsx";
import { count } from "../shared/format-number.ts";
import { shortTime } from "../shared/format-time.ts";
import { usePreferences } from "../shared/preferences.ts";
import { oneLine, plain } from "../shared/safe-text.ts";
import { say, type Words } from "../shared/translate.ts";

const states = {
  new: { word: "new", tone: "bad" },
  regressed: { word: "came back", tone: "bad" },
  open: { word: "open", tone: "warn" },
  resolved: { word: "resolved", tone: "good" },
  ignored: { word: "ignored", tone: "plain" },
} as const satisfies Record<ErrorGroup["state"], { word: Words; tone: string }>;

export const allStates = Object.keys(states) as ErrorGroup["state"][];

/** The state, and until when or after which release it holds. */
export function GroupState({ group }: { group: ErrorGroup }) {
  const { zone } = usePreferences();
  const { word, tone } = states[group.state];
  return (
    <>
      <Badge tone={tone}>{say(word)}</Badge>{" "}
      <span className="about">
        {group.state === "ignored" && group.ignored_until !== null &&
          say("until {time}", { time: shortTime(Date.parse(group.ignored_until), zone) })}
        {group.state === "resolved" && group.resolved_release !== null &&
          say("after {release}", { release: plain(group.resolved_release) })}
      </span>
    </>
  );
}

export const titleOf = ({ title }: ErrorGroup): string =>
  title === null ? say("Its records are gone") : plain(oneLine(title, 200));

export const serviceOf = ({ service }: ErrorGroup): string =>
  service === null ? say("without a service") : plain(oneLine(service, 80));

/** Whether people may change it. The group of all errors beyond the plan's limit has no state of its own. */
export const isChangeable = ({ fingerprint }: ErrorGroup): boolean => fingerprint !== "others";

/** From this many users on, the service estimates. */
const mostCounted = 256;

export const usersOf = ({ users }: ErrorGroup): string =>
  users === 0 ? "–" : `${users >= mostCounted ? "≈\u00a0" : ""}${count(users)}`;

/** "1.0 → 1.2", or the only release. */
export function releasesOf({ first_release: first, last_release: last }: ErrorGroup): string {
  const both = [...new Set([first, last])].filter((one) => one !== null);
  return both.length === 0 ? "–" : both.map((one) => plain(oneLine(one, 40))).join(" → ");
}

export type GroupChange = Omit<ParametersOf<"update_error_group">, "p_fingerprints">;

export function useGroupChange() {
  return useChange("update_error_group", [
    "list_error_groups",
    "get_error_group",
    "list_alert_incidents",
    "list_audit_events",
  ]);
}
