import { useState } from "react";
import { useChange } from "../service/operation-hooks.ts";
import type { AlertRule } from "../service/logloom.ts";
import { FormDialog } from "../shared/dialog.tsx";
import { plain } from "../shared/safe-text.ts";
import { SelectField, TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";
import { everyNight, RecurrenceFields } from "./recurrence-fields.tsx";

const lengths = [
  [1, "An hour"],
  [4, "Four hours"],
  [12, "Twelve hours"],
  [24, "A day"],
  [168, "A week"],
] as const;

/** Creates a silence that starts now, or one that recurs. */
export function SilenceDialog({ rules, onClose }: { rules: AlertRule[]; onClose: () => void }) {
  const [ruleId, setRuleId] = useState("");
  const [field, setField] = useState("");
  const [value, setValue] = useState("");
  const [hours, setHours] = useState(1);
  const [recurrence, setRecurrence] = useState(everyNight);
  const [comment, setComment] = useState("");
  const create = useChange("create_alert_silence", [
    "list_alert_silences",
    "list_audit_events",
  ]);
  const submit = () => {
    create.mutate({
      p_matcher: {
        ...ruleId !== "" && { rule_id: ruleId },
        ...field.trim() !== "" && { group: { [field.trim()]: value } },
      },
      ...hours === 0
        ? { p_recurrence: recurrence }
        : { p_to: new Date(Date.now() + hours * 3_600_000).toISOString() },
      p_comment: comment,
    }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={say("New silence")}
      action={say("Silence")}
      error={create.error}
      isPending={create.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <SelectField label={say("Rule")} value={ruleId} onChange={setRuleId}>
        <option value="">{say("All rules")}</option>
        {rules.map(({ rule_id, name }) => (
          <option key={rule_id} value={rule_id}>{plain(name)}</option>
        ))}
      </SelectField>
      <div className="form-pair">
        <TextField
          label={say("Only groups whose")}
          className="mono"
          placeholder="service"
          spellCheck={false}
          value={field}
          onChange={setField}
        />
        <TextField
          label={say("is")}
          className="mono"
          placeholder="shop"
          spellCheck={false}
          required={field.trim() !== ""}
          value={value}
          onChange={setValue}
        />
      </div>
      <SelectField
        label={say("How long")}
        value={hours}
        onChange={(text) => setHours(Number(text))}
      >
        {lengths.map(([number, label]) => <option key={number} value={number}>{say(label)}
        </option>)}
        <option value={0}>{say("Every week, until it is ended")}</option>
      </SelectField>
      {hours === 0 && <RecurrenceFields value={recurrence} onChange={setRecurrence} />}
      <TextField label={say("Comment")} maxLength={2000} value={comment} onChange={setComment} />
    </FormDialog>
  );
}
