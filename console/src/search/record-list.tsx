import { go } from "../address/address.ts";
import { rowTime } from "../address/range.ts";
import type { LogRecord } from "../service/logloom.ts";
import { LogText } from "../shared/log-text.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { oneLine } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { TraceButton } from "./trace-button.tsx";

/** The newest records of something. A click opens a record in the search of `place`. */
export function RecordList({ records, place }: {
  records: LogRecord[];
  place: { q: string; from: string; to: string };
}) {
  const { zone } = usePreferences();
  return (
    <ol className="context-rows" tabIndex={0} aria-label={say("Newest records")}>
      {records.map(({ id, ts, level, service, msg }, i) => (
        <li key={id} className={`level-${level ?? "none"}`}>
          <button
            type="button"
            className="group-value"
            onClick={() =>
              go({ screen: "search", parameters: { ...place, id, at: ts } })}
          >
            <time dateTime={ts}>{rowTime(ts, zone)}</time>
          </button>
          <span className="cell-level">{level ?? "–"}</span>
          <LogText text={oneLine(service ?? "", 40)} />
          <LogText text={oneLine(msg ?? "", 300)} />
          <TraceButton record={records[i]} />
        </li>
      ))}
    </ol>
  );
}
