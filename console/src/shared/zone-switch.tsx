import { zoneName } from "../address/range.ts";
import { prefer, usePreferences } from "./preferences.ts";
import { say } from "./translate.ts";

/** Shows the zone of all times, and switches between local time and UTC. */
export function ZoneSwitch() {
  const { zone } = usePreferences();
  const isUtc = zone === "utc";
  return (
    <button
      type="button"
      className="button small quiet"
      title={isUtc ? say("Show local times") : say("Show times in UTC")}
      onClick={() => prefer({ zone: isUtc ? "local" : "utc" })}
    >
      <span className="hidden">{say("Times in")}</span> {zoneName(zone)}
    </button>
  );
}
