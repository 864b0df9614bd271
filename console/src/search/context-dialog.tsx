import { Sentence } from "../shared/sentence.tsx";
import { rowTime } from "../address/range.ts";
import { clause } from "../language/edit-query.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { LogRecord } from "../service/logloom.ts";
import { Dialog } from "../shared/dialog.tsx";
import { Loaded } from "../shared/list-table.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { oneLine } from "../shared/safe-text.ts";
import { LogText } from "../shared/log-text.tsx";
import { say } from "../shared/translate.ts";

const around = 50;

/** The records of the same host and service just before and after this one. */
export function ContextDialog({ record, onClose }: { record: LogRecord; onClose: () => void }) {
  const { zone } = usePreferences();
  const shared = (["host", "service"] as const).flatMap((name) => {
    const value = record[name];
    return value === null ? [] : [clause(name, value, "in")];
  }).join(" ");
  const context = useOperation("get_log_context", {
    p_id: record.id,
    p_ts: record.ts,
    p_before: around,
    p_after: around,
  });
  return (
    <Dialog title={say("Context")} onClose={onClose} size="wide">
      <p className="about">
        {shared === "" ? say("Records around this one, the newest on top.") : (
          <Sentence
            text="{query}, the newest on top."
            values={{ query: <code>{shared}</code> }}
          />
        )}
      </p>
      <Loaded answer={context} lines={14}>
        {(rows) => (
          <ol className="context-rows" tabIndex={0}>
            {rows.toReversed().map((row) => (
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
      </Loaded>
    </Dialog>
  );
}
