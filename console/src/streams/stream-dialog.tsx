import { useState } from "react";
import { useHas, useOperation, useSealedChange } from "../service/operation-hooks.ts";
import type { LogStream } from "../service/logloom.ts";
import { FormDialog } from "../shared/dialog.tsx";
import { plain } from "../shared/safe-text.ts";
import { CheckField, SelectField, TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";
import { changedBy, createdBy, type Draft, draftOf, inWords } from "./stream-draft.ts";
import { HeaderFields } from "./header-fields.tsx";
import { KindFields } from "./kind-fields.tsx";
import { kindNames, kinds, type StreamKind } from "./stream-kinds.ts";

const touched = ["list_log_streams", "list_audit_events"] as const;

/** Creates or changes a stream. The kind of an existing stream is fixed. */
export function StreamDialog({ initial, onClose }: {
  initial: Partial<LogStream>;
  onClose: () => void;
}) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(initial));
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  // Without views it is a customer's stream, whose session says which records it sends.
  const hasViews = useHas("list_log_views");
  const views = useOperation("list_log_views", {}, { enabled: hasViews });
  const create = useSealedChange("create_log_stream", "logloom-stream", touched);
  const update = useSealedChange("update_log_stream", "logloom-stream", touched);
  const { stream_id } = draft;
  const isSet = (name: string) => Object.hasOwn(initial.secrets ?? {}, name);
  const submit = () => {
    if (stream_id) update.mutate(changedBy(draft, stream_id), { onSuccess: onClose });
    else create.mutate(createdBy(draft), { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={stream_id ? say("Log stream") : say("New log stream")}
      action={stream_id ? say("Save") : say("Create the stream")}
      error={inWords(create.error ?? update.error, draft.kind)}
      isPending={create.isPending || update.isPending}
      onSubmit={submit}
      onClose={onClose}
      tools={!stream_id && (
        <>
          <CheckField
            label={say("Start immediately")}
            checked={draft.enabled}
            onChange={(isOn) => change({ enabled: isOn })}
          />
          <span className="spring" />
        </>
      )}
    >
      <div className="form-pair">
        <TextField
          label={say("Name")}
          required
          maxLength={100}
          value={draft.name}
          onChange={(name) => change({ name })}
        />
        <SelectField
          label={say("Kind")}
          value={draft.kind}
          disabled={stream_id !== undefined}
          onChange={(text) => change({ kind: text as StreamKind })}
        >
          {kindNames.map((one) => <option key={one} value={one}>{say(kinds[one].label)}</option>)}
        </SelectField>
        {hasViews && (
          <SelectField
            label={say("Sends")}
            value={draft.source}
            disabled={stream_id !== undefined}
            onChange={(text) => change({ source: text === "audit" ? "audit" : "logs" })}
          >
            <option value="logs">{say("Logs")}</option>
            <option value="audit">{say("Audit trail")}</option>
          </SelectField>
        )}
      </div>
      <TextField
        label={say("Query (empty: all records)")}
        className="mono"
        spellCheck={false}
        placeholder={draft.source === "audit" ? "msg:invoices.*" : "level:>=warn"}
        value={draft.query_dsl}
        onChange={(query_dsl) => change({ query_dsl })}
      />
      {draft.source === "logs" && (views.data?.length ?? 0) > 0 && (
        <SelectField
          label={say("View")}
          value={draft.view_id}
          onChange={(text) => change({ view_id: text })}
        >
          {/* A view cannot be removed: the receiver would suddenly get more records. */}
          {!initial.view_id && <option value="">{say("All records of the tenant")}</option>}
          {views.data?.map(({ view_id, name }) => (
            <option key={view_id} value={view_id}>{plain(name)}</option>
          ))}
        </SelectField>
      )}
      <KindFields draft={draft} isSet={isSet} onChange={change} />
      {kinds[draft.kind].takesHeaders && (
        <HeaderFields
          known={Object.keys(initial.secrets ?? {}).filter((name) => name.startsWith("header."))}
          secrets={draft.secrets}
          onChange={(secrets) => change({ secrets })}
        />
      )}
      <p className="about">
        {say("Secrets are encrypted before they are stored, and are never shown again.")}
      </p>
    </FormDialog>
  );
}
