import { zoneName } from "../address/range.ts";
import { answerTime } from "../service/answer-times.ts";
import { took } from "./format-number.ts";
import { usePreferences } from "./preferences.ts";
import { say } from "./translate.ts";

/** A note beside a panel's title: whether it loads, how long the answer took, the time zone, how much it covers. */
export function PanelNote({ answer, isBusy, hasTimes = false, of }: {
  answer: unknown;
  isBusy: boolean;
  /** The panel shows times, so the note names the zone. */
  hasTimes?: boolean;
  /** How much of the data the panel covers. */
  of?: string | null;
}) {
  const { zone } = usePreferences();
  const ms = answerTime(answer);
  const parts = [of, ms !== undefined && took(ms), hasTimes && zoneName(zone)].filter(Boolean);
  return (
    <span className="panel-note" aria-busy={isBusy || undefined}>
      {isBusy && <span className="busy" role="img" aria-label={say("Busy")} />}
      {parts.join(" · ")}
    </span>
  );
}
