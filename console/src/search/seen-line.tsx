import { go } from "../address/address.ts";
import { dayOf } from "../address/range.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { LogRecord } from "../service/logloom.ts";
import { shortTime, tickTime } from "../shared/format-time.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";
import { placeOf } from "./open-record.ts";
import { useFeatures } from "./reader-features.ts";

/** How often the error of a record was seen. Nothing for readers who may not know. */
export function SeenLine({ record }: { record: LogRecord }) {
  const { zone } = usePreferences();
  const { errors, links } = useFeatures();
  const isError = record.level === "error" && record.attrs?.kind !== "span";
  const answer = useOperation("get_error_group", placeOf(record.id, record.ts), {
    enabled: errors && isError,
  });
  if (!answer.data) return null;
  const { records, first_seen, fingerprint } = answer.data.group;
  const first = Date.parse(first_seen);
  const isToday = dayOf(first, zone) === dayOf(Date.now(), zone);
  const words = say("Seen {count} times since {time}", {
    count: records,
    time: isToday
      ? tickTime(Math.floor(first / 60_000) * 60_000, zone, false)
      : shortTime(Math.floor(first / 60_000) * 60_000, zone),
  });
  return (
    <p className="seen">
      {links
        ? (
          <button
            type="button"
            className="group-value"
            onClick={() => go({ screen: "errors", parameters: { group: fingerprint } })}
          >
            {words}
          </button>
        )
        : words}
    </p>
  );
}
