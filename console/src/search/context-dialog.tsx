import { useMemo } from "react";
import { rowTime } from "../address/range.ts";
import { clause } from "../language/edit.ts";
import { useOperation } from "../service/hooks.ts";
import type { LogRecord, Page } from "../service/records.ts";
import { Dialog, ErrorNote, Skeleton } from "../shared/controls.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { oneLine } from "../shared/plain.ts";
import { LogText } from "../shared/text.tsx";

const around = 50;
const day = 86_400_000;

/** What the same host and service said just before and after a record. */
export function ContextDialog(
  { record, onClose }: { record: LogRecord; onClose: () => void },
) {
  const { zone } = usePreferences();
  const query = useMemo(() =>
    (["host", "service"] as const).flatMap((name) => {
      const value = record[name];
      return value === null ? [] : [clause(name, value, "in")];
    }).join(" "), [record]);
  const time = Date.parse(record.ts);
  const before = useOperation<Page>("search_logs", {
    p_query_dsl: query,
    p_ts_from: new Date(time - day).toISOString(),
    p_ts_to: record.ts,
    p_limit: around,
  });
  const after = useOperation<Page>("search_logs", {
    p_query_dsl: query,
    p_ts_from: record.ts,
    p_ts_to: new Date(time + day).toISOString(),
    p_order: "asc",
    p_limit: around + 1,
  });
  const error = before.error ?? after.error;
  const rows = [
    ...(after.data?.logs ?? []).toReversed(),
    ...(before.data?.logs ?? []),
  ];
  return (
    <Dialog title="Context" onClose={onClose} wide>
      <p className="about">
        {query === "" ? "Records around this one" : <code>{query}</code>}, the newest on top.
      </p>
      {error
        ? <ErrorNote error={error} />
        : before.isPending || after.isPending
        ? <Skeleton lines={14} />
        : (
          <ol className="context-rows" tabIndex={0}>
            {rows.map((row) => (
              <li
                key={row.id}
                className={`level-${row.level ?? "none"}${row.id === record.id ? " this" : ""}`}
                aria-current={row.id === record.id ? "true" : undefined}
                ref={row.id === record.id
                  ? (element) => element?.scrollIntoView({ block: "center" })
                  : undefined}
              >
                <time dateTime={row.ts}>{rowTime(row.ts, zone)}</time>
                <span className="cell-level">{row.level ?? "–"}</span>
                <LogText text={oneLine(row.msg ?? "", 600)} />
              </li>
            ))}
          </ol>
        )}
    </Dialog>
  );
}
