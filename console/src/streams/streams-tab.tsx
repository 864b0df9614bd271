import { Said } from "../shared/said.tsx";
import { useState } from "react";
import { useChange, useOperation } from "../service/hooks.ts";
import type { LogStream } from "../service/logloom.ts";
import { Confirm } from "../shared/confirm.tsx";
import { actions, ListTable, mostAtOnce } from "../shared/list.tsx";
import { plain } from "../shared/plain.ts";
import { say } from "../shared/words.ts";
import { FailuresDialog } from "./failures-dialog.tsx";
import { StreamDialog } from "./stream-dialog.tsx";
import { StreamRow } from "./stream-row.tsx";

/** Where the tenant's records go on to, and how far behind each is. */
export function StreamsTab() {
  const [edited, setEdited] = useState<Partial<LogStream> | null>(null);
  const [missed, setMissed] = useState<LogStream | null>(null);
  const [doomed, setDoomed] = useState<LogStream | null>(null);
  const streams = useOperation("list_log_streams", { p_limit: mostAtOnce }, { every: 3000 });
  const remove = useChange("delete_log_stream", ["list_log_streams", "list_tenant_audit_events"]);
  return (
    <>
      <div className="tab-head">
        <p className="about">
          {say("A stream sends records on as they become visible, each at least once.")}
        </p>
        <button type="button" className="button primary" onClick={() => setEdited({})}>
          {say("New stream")}
        </button>
      </div>
      <ListTable
        answer={streams}
        empty={{
          title: say("No streams yet"),
          about: say(
            "Send records on to a webhook, OpenTelemetry, Loki, Elasticsearch, Splunk, Datadog or a bucket.",
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
            onDelete={() => setDoomed(stream)}
          />
        )}
      </ListTable>
      {edited && <StreamDialog initial={edited} onClose={() => setEdited(null)} />}
      {missed && <FailuresDialog stream={missed} onClose={() => setMissed(null)} />}
      {doomed && (
        <Confirm
          title={say("Delete the stream?")}
          action={say("Delete")}
          change={remove}
          parameters={{ p_stream_id: doomed.stream_id }}
          onClose={() => setDoomed(null)}
        >
          <Said
            words="{stream} sends nothing any more. Its secrets and its list of what was not sent go with it. This cannot be taken back."
            of={{ stream: plain(doomed.name) }}
            strong
          />
        </Confirm>
      )}
    </>
  );
}
