import { lazy, Suspense, useState } from "react";
import {
  actionOf,
  writtenOf,
} from "../../../supabase/functions/_shared/ingest_rules/written_action.ts";
import { useChange, useSealedChange } from "../service/operation-hooks.ts";
import type { IngestRule } from "../service/logloom.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { FormDialog } from "../shared/dialog.tsx";
import { TextField } from "../shared/form-fields.tsx";
import { loadPart } from "../shared/load-part.ts";
import { say } from "../shared/translate.ts";
import { ActionFields } from "./action-fields.tsx";

const DryRun = lazy(() => loadPart(() => import("./dry-run.tsx")));

export const touched = ["list_ingest_rules", "list_audit_events"] as const;

/** Creates or changes a rule. A dry run shows what it would do. */
export function IngestRuleDialog({ initial, hasKey, onClose }: {
  initial: Partial<IngestRule>;
  /** Whether there is a key of hashes, because a mask has hashes. */
  hasKey: boolean;
  onClose: () => void;
}) {
  const { rule_id: p_rule_id, action: saved = { type: "mask", what: [], in: "everywhere" } } =
    initial;
  const [p_name, setName] = useState(initial.name ?? "");
  const [p_condition, setCondition] = useState(initial.condition ?? "");
  const [action, setAction] = useState(() => writtenOf(saved));
  const preview = useChange("preview_ingest_rule", []);
  const create = useSealedChange("create_ingest_rule", "ingest", touched);
  const update = useSealedChange("update_ingest_rule", "ingest", touched);
  const p_action = actionOf(action);
  const submit = () => {
    const p_secrets = p_action.hash === true && !hasKey ? { hash_key: newKey() } : undefined;
    const given = { p_name, p_condition, p_action, p_secrets };
    if (p_rule_id) update.mutate({ p_rule_id, ...given }, { onSuccess: onClose });
    else create.mutate(given, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={p_rule_id ? say("Ingest rule") : say("New ingest rule")}
      size="wide"
      action={p_rule_id ? say("Save") : say("Create the rule")}
      error={create.error ?? update.error}
      isPending={create.isPending || update.isPending}
      onSubmit={submit}
      onClose={onClose}
      tools={
        <>
          <Button
            disabled={preview.isPending}
            onClick={() => preview.mutate({ p_condition, p_action })}
          >
            {say("Dry run")}
          </Button>
          <span className="spring" />
        </>
      }
    >
      <TextField label={say("Name")} required maxLength={100} value={p_name} onChange={setName} />
      <TextField
        label={say("Condition (empty: all events)")}
        className="mono"
        spellCheck={false}
        placeholder="service:api level:debug"
        value={p_condition}
        onChange={(text) => {
          setCondition(text);
          preview.reset();
        }}
      />
      <ActionFields
        action={action}
        onChange={(part) => {
          setAction((now) => ({ ...now, ...part }));
          preview.reset();
        }}
      />
      <ErrorNote error={preview.error} />
      <Suspense>{preview.data && <DryRun preview={preview.data} />}</Suspense>
    </FormDialog>
  );
}

/** 32 random bytes. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
