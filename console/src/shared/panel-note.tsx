import { zoneName } from "../address/range.ts";
import { tookOf } from "../service/took.ts";
import { took } from "./numbers.ts";
import { usePreferences } from "./preferences.ts";
import { say } from "./words.ts";

/** What a panel shows, after its number: busy, how long it took, in which time zone, partial or whole. */
export function PanelNote({ answer, isBusy, hasTimes = false, of }: {
  answer: unknown;
  isBusy: boolean;
  /** It shows times. */
  hasTimes?: boolean;
  /** How much of everything it is. */
  of?: string | null;
}) {
  const { zone } = usePreferences();
  const ms = tookOf(answer);
  const parts = [of, ms !== undefined && took(ms), hasTimes && zoneName(zone)].filter(Boolean);
  return (
    <span className="panel-note" aria-busy={isBusy || undefined}>
      {isBusy && <span className="busy" role="img" aria-label={say("Busy")} />}
      {parts.join(" · ")}
    </span>
  );
}
