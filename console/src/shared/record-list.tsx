import { go } from "../address/address.ts";
import { rowTime } from "../address/range.ts";
import type { LogRecord } from "../service/logloom.ts";
import { LogText } from "./log-text.tsx";
import { usePreferences } from "./preferences.ts";
import { oneLine } from "./safe-text.ts";
import { say } from "./translate.ts";

/** The newest records of something. A click opens a record in the search of `place`. */
export function RecordList({ records, place }: {
  records: LogRecord[];
  place: { q: string; from: string; to: string };
}) {
  const { zone } = usePreferences();
  return (
    <ol className="context-rows" tabIndex={0} aria-label={say("Newest records")}>
      {records.map(({ id, ts, level, service, msg }) => (
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
        </li>
      ))}
    </ol>
  );
}
