import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { LogStream } from "../service/logloom.ts";
import { useIsCustomer } from "../service/roles.ts";
import { Badge, Button, ErrorNote } from "../shared/basic-controls.tsx";
import { ago } from "../shared/format-time.ts";
import { count, seconds } from "../shared/format-number.ts";
import { plain } from "../shared/safe-text.ts";
import { OfCustomer } from "../shared/of-customer.tsx";
import { say } from "../shared/translate.ts";
import { kinds } from "./stream-kinds.ts";
import { failureWords, isHeld, isTesting, missedWords, streamState } from "./stream-state.ts";

const touched = ["list_log_streams", "list_audit_events"] as const;

/** A stream with its state and actions. */
export function StreamRow({ stream, onEdit, onMissed, onDelete }: {
  stream: LogStream;
  onEdit: () => void;
  onMissed: () => void;
  onDelete: () => void;
}) {
  const { stream_id: p_stream_id, status } = stream;
  const test = useChange("test_log_stream", touched);
  const change = useChange("update_log_stream", touched);
  const failures = useOperation("list_log_stream_failures", { p_stream_id }, { every: 30_000 });
  const missed = missedWords(failures.data ?? []);
  const isOn = status === "sending" || status === "failing";
  const isCustomer = useIsCustomer();
  const isOfOther = !isCustomer && stream.customer !== null;
  return (
    <tr>
      <th scope="row">
        {isOfOther
          ? plain(stream.name)
          : (
            <button type="button" className="card-title" onClick={onEdit}>
              {plain(stream.name)}
            </button>
          )} {isOfOther && <OfCustomer customer={stream.customer} />}{" "}
        <span className="about">{say(kinds[stream.kind]?.label ?? stream.kind)}</span>{" "}
        {stream.source === "audit" && <Badge tone="info">{say("Audit trail")}</Badge>}
        <code className="cell-code">
          {stream.query_dsl ? plain(stream.query_dsl) : say("All records")}
        </code>
      </th>
      <td>
        <State stream={stream} isCustomer={isCustomer} />
        <ErrorNote error={test.error ?? change.error} />
      </td>
      <td>{stream.lag_seconds < 1 ? say("up to date") : seconds(stream.lag_seconds)}</td>
      <td className="number">{count(stream.sent_records)}</td>
      <td>
        {missed === null ? "–" : <Button look="small" onClick={onMissed}>{missed}</Button>}
      </td>
      <td className="tools">
        <Button
          look="small"
          // A disabled button would lose the focus.
          aria-disabled={test.isPending || isTesting(stream)}
          onClick={() => {
            if (test.isPending || isTesting(stream)) return;
            change.reset();
            test.mutate({ p_stream_id });
          }}
        >
          {say("Test")}
        </Button>
        {!(isCustomer && isHeld(stream)) && (
          <Button
            look="small"
            aria-disabled={change.isPending}
            onClick={() => {
              if (change.isPending) return;
              test.reset();
              change.mutate({ p_stream_id, p_enabled: !isOn });
            }}
          >
            {isOn ? say("Pause") : say("Resume")}
          </Button>
        )}
        {!(isCustomer && stream.held_at !== null) && (
          <Button look="small danger" onClick={onDelete}>{say("Delete")}</Button>
        )}
      </td>
    </tr>
  );
}

/** The state, the last error and the last test. */
function State({ stream, isCustomer }: { stream: LogStream; isCustomer: boolean }) {
  const { word, tone, about } = streamState(stream, isCustomer);
  const failed = failureWords(stream.last_status, stream.last_error);
  const hasFailed = stream.last_error !== null || stream.failing_since !== null;
  return (
    <div className="told">
      <Badge tone={tone}>{say(word)}</Badge>
      {about && <span className="field-error">{about}</span>}
      {hasFailed && failed && <span className="field-error">{plain(failed)}</span>}
      {stream.last_answer && (
        <span className="field-error">
          {say("Answer: {answer}", { answer: plain(stream.last_answer) })}
        </span>
      )}
      {stream.status === "failing" && stream.next_attempt_at && (
        <span className="about">
          {say("next attempt {when}", { when: ago(stream.next_attempt_at) })}
        </span>
      )}
      <TestWords stream={stream} />
    </div>
  );
}

function TestWords({ stream }: { stream: LogStream }) {
  if (isTesting(stream)) return <span role="status">{say("The test is on its way.")}</span>;
  if (stream.test_finished_at === null) return null;
  const failed = failureWords(stream.test_status, stream.test_error);
  return (
    <span className={stream.test_error === null ? "about" : "field-error"}>
      <span role="status">
        {stream.test_error === null
          ? say("The test arrived")
          : say("The test failed. {error}", { error: plain(failed ?? "") })}
      </span>
      {stream.test_error === null ? ", " : " "}
      {ago(stream.test_finished_at)}
      {stream.test_answer && (
        <>{" "}{say("Answer: {answer}", { answer: plain(stream.test_answer) })}</>
      )}
    </span>
  );
}
