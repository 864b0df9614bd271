import { wholeTime, type Zone } from "../address/range.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { LogStream, LogStreamFailure } from "../service/logloom.ts";
import { Dialog } from "../shared/dialog.tsx";
import { ago } from "../shared/format-time.ts";
import { ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { say } from "../shared/translate.ts";
import { failureWords } from "./stream-state.ts";

/** The records that a stream did not send in the last 30 days, and why. */
export function FailuresDialog({ stream, onClose }: { stream: LogStream; onClose: () => void }) {
  const { zone } = usePreferences();
  const failures = useOperation("list_log_stream_failures", {
    p_stream_id: stream.stream_id,
    p_limit: mostAtOnce,
  });
  return (
    <Dialog
      title={say("Not sent: {stream}", { stream: plain(stream.name) })}
      onClose={onClose}
      size="wide"
    >
      <ListTable
        answer={failures}
        empty={{ title: say("Everything was sent") }}
        label={say("Not sent")}
        columns={[say("What"), say("Why"), say("When")]}
      >
        {(failure) => (
          <tr key={failure.failure_id}>
            <th scope="row">{whatOf(failure, zone)}</th>
            <td>{plain(failureWords(failure.status, failure.error) ?? "")}</td>
            <td>{ago(failure.occurred_at)}</td>
          </tr>
        )}
      </ListTable>
    </Dialog>
  );
}

function whatOf(failure: LogStreamFailure, zone: Zone) {
  const time = (ts: string | null) => ts === null ? "–" : wholeTime(ts, zone);
  if (failure.kind === "gap") {
    return say("{from} to {to}", { from: time(failure.ts_from), to: time(failure.ts_to) });
  }
  if (failure.kind === "rejected") {
    return say("{count} records of a batch", { count: failure.records ?? 0 });
  }
  return (
    <>
      {say("the record of {time}", { time: time(failure.record_ts) })}
      <code className="cell-code">{failure.record_id}</code>
    </>
  );
}
