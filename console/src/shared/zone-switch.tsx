import { zoneName } from "../address/range.ts";
import { prefer, usePreferences } from "./preferences.ts";
import { say } from "./translate.ts";
import { Button } from "./basic-controls.tsx";

/** Shows the zone of all times, and switches between local time and UTC. */
export function ZoneSwitch() {
  const { zone } = usePreferences();
  const isUtc = zone === "utc";
  return (
    <Button
      look="small quiet"
      title={isUtc ? say("Show local times") : say("Show times in UTC")}
      onClick={() => prefer({ zone: isUtc ? "local" : "utc" })}
    >
      <span className="hidden">{say("Times in")}</span> {zoneName(zone)}
    </Button>
  );
}
