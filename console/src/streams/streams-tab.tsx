import { Sentence } from "../shared/sentence.tsx";
import { useState } from "react";
import { useChange, useOperation } from "../service/operation-hooks.ts";
import type { LogStream } from "../service/logloom.ts";
import { useIsCustomer } from "../service/roles.ts";
import { Confirm } from "../shared/confirm-dialog.tsx";
import { actions, ListTable, mostAtOnce } from "../shared/list-table.tsx";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { FailuresDialog } from "./failures-dialog.tsx";
import { StreamDialog } from "./stream-dialog.tsx";
import { StreamRow } from "./stream-row.tsx";
import { Button } from "../shared/basic-controls.tsx";

/** The log streams, and how far behind each is. */
export function StreamsTab() {
  const [edited, setEdited] = useState<Partial<LogStream> | null>(null);
  const [missed, setMissed] = useState<LogStream | null>(null);
  const [toDelete, setToDelete] = useState<LogStream | null>(null);
  // The customers of a tenant share its requests.
  const every = useIsCustomer() ? 15_000 : 3000;
  const streams = useOperation("list_log_streams", { p_limit: mostAtOnce }, { every });
  const remove = useChange("delete_log_stream", ["list_log_streams", "list_audit_events"]);
  return (
    <>
      <div className="tab-head">
        <p className="about">
          {say("A stream forwards new records to another system, each at least once.")}
        </p>
        <Button look="primary" onClick={() => setEdited({})}>{say("New stream")}</Button>
      </div>
      <ListTable
        answer={streams}
        empty={{
          title: say("No streams yet"),
          about: say(
            "Forward records to a webhook, OpenTelemetry, Loki, Elasticsearch, Splunk, Datadog or a bucket.",
          ),
        }}
        label={say("Log streams")}
        columns={[
          say("Stream"),
          say("State"),
          say("Behind"),
          { name: say("Sent"), is: "number" },
          say("Not sent"),
          actions,
        ]}
      >
        {(stream) => (
          <StreamRow
            key={stream.stream_id}
            stream={stream}
            onEdit={() => setEdited(stream)}
            onMissed={() => setMissed(stream)}
            onDelete={() => setToDelete(stream)}
          />
        )}
      </ListTable>
      {edited && <StreamDialog initial={edited} onClose={() => setEdited(null)} />}
      {missed && <FailuresDialog stream={missed} onClose={() => setMissed(null)} />}
      {toDelete && (
        <Confirm
          title={say("Delete the stream?")}
          action={say("Delete")}
          change={remove}
          parameters={{ p_stream_id: toDelete.stream_id }}
          onClose={() => setToDelete(null)}
        >
          <Sentence
            text="{stream} stops sending. Its secrets and its list of unsent records are deleted. This cannot be undone."
            values={{ stream: plain(toDelete.name) }}
            strong
          />
        </Confirm>
      )}
    </>
  );
}
