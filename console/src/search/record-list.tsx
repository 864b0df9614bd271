import { go } from "../address/address.ts";
import { rowTime } from "../address/range.ts";
import type { LogRecord } from "../service/logloom.ts";
import { LogText } from "../shared/log-text.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { oneLine } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { TraceButton } from "./trace-button.tsx";

/** The newest records of something. A click opens a record in the search of `place`, if there is one. */
export function RecordList({ records, place }: {
  records: LogRecord[];
  place: { q: string; from: string; to: string } | null;
}) {
  const { zone } = usePreferences();
  return (
    <ol className="context-rows" tabIndex={0} aria-label={say("Newest records")}>
      {records.map(({ id, ts, level, service, msg }, i) => (
        <li key={id} className={`level-${level ?? "none"}`}>
          {place
            ? (
              <button
                type="button"
                className="group-value"
                onClick={() => go({ screen: "search", parameters: { ...place, id, at: ts } })}
              >
                <time dateTime={ts}>{rowTime(ts, zone)}</time>
              </button>
            )
            : <time dateTime={ts}>{rowTime(ts, zone)}</time>}
          <span className="cell-level">{level ?? "–"}</span>
          <LogText text={oneLine(service ?? "", 40)} />
          <LogText text={oneLine(msg ?? "", 300)} />
          {place && <TraceButton record={records[i]} />}
        </li>
      ))}
    </ol>
  );
}
