import { change, useAddress } from "../address/address.ts";
import { earlierPeriods } from "../shared/earlier-periods.ts";
import { say } from "../shared/translate.ts";

/** Chooses the earlier period that all charts of the page show as a pale line. */
export function EarlierSelect() {
  const { parameters } = useAddress();
  return (
    <select
      className="small"
      aria-label={say("Compare the charts with")}
      value={parameters.before ?? ""}
      onChange={(event) => change({ before: event.target.value }, { replace: true })}
    >
      <option value="">{say("Compare: off")}</option>
      {earlierPeriods.map(([value, label]) => (
        <option key={value} value={value}>{say(label)}</option>
      ))}
    </select>
  );
}
