import { useState } from "react";
import { useChange, useHas, useSealedChange } from "../service/operation-hooks.ts";
import type { AlertRule } from "../service/logloom.ts";
import { useIsCustomer } from "../service/roles.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { FormDialog } from "../shared/dialog.tsx";
import { ConditionFields } from "./condition-fields.tsx";
import { ErrorFields } from "./error-fields.tsx";
import { MessagePreview } from "./message-preview.tsx";
import { NotificationFields } from "./notification-fields.tsx";
import { PreviewChart } from "./preview-chart.tsx";
import { type Draft, draftOf, parametersOf } from "./rule-draft.ts";
import { CheckField, Segments, TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";

const touched = ["list_alert_rules", "check_plan_feature"] as const;

/** Creates or changes a rule, with a preview. */
export function RuleDialog({ initial, onClose, onSaved }: {
  initial: Partial<AlertRule>;
  onClose: () => void;
  onSaved?: (rule: AlertRule) => void;
}) {
  const [draft, setDraft] = useState<Draft>(() => draftOf(initial));
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }));
  const save = useSealedChange(
    draft.rule_id ? "update_alert_rule" : "create_alert_rule",
    "logloom-notify",
    touched,
  );
  const rotate = useChange("rotate_alert_webhook_secret", []);
  // A customer's rule watches a query. What its messages say is the service's business.
  const isCustomer = useIsCustomer();
  const submit = (form: HTMLFormElement) => {
    const parameters = parametersOf(draft);
    if (parameters === null) {
      form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
      return;
    }
    save.mutate(parameters, {
      onSuccess: (rule) => {
        onClose();
        onSaved?.(rule);
      },
    });
  };
  return (
    <FormDialog
      title={draft.rule_id ? say("Alert rule") : say("New alert rule")}
      action={draft.rule_id ? say("Save") : say("Create the rule")}
      size="wide"
      error={save.error}
      isPending={save.isPending || rotate.isPending}
      isBusy={rotate.isPending}
      onSubmit={submit}
      onClose={onClose}
      tools={
        <>
          {draft.rule_id && (
            <RuleTools ruleId={draft.rule_id} rotate={rotate} isSaving={save.isPending} />
          )}
          <span className="spring" />
          <CheckField
            label={say("Enabled")}
            checked={draft.enabled}
            onChange={(isOn) => change({ enabled: isOn })}
          />
        </>
      }
    >
      <div className="form-pair">
        <TextField
          label={say("Name")}
          required
          maxLength={200}
          value={draft.name}
          onChange={(name) => change({ name })}
        />
        <TextField
          label={say("Description")}
          maxLength={2000}
          value={draft.description}
          onChange={(description) => change({ description })}
        />
      </div>
      {!draft.rule_id && !isCustomer && (
        <Segments
          label={say("Watches")}
          choices={[["query", say("a query")], ["new_error", say("new and returning errors")]]}
          chosen={draft.kind}
          onChoose={(kind) =>
            change({
              kind,
              query_dsl: kind === "query" ? initial.query_dsl ?? "level:error" : "*",
            })}
        />
      )}
      {draft.kind === "new_error" ? <ErrorFields draft={draft} onChange={change} /> : (
        <>
          <ConditionFields draft={draft} onChange={change} />
          <PreviewChart draft={draft} onThreshold={(threshold) => change({ threshold })} />
        </>
      )}
      <NotificationFields
        draft={draft}
        isSet={(name) => Object.hasOwn(initial.notification_secrets ?? {}, name)}
        onChange={change}
      />
      <CheckField
        label={draft.kind === "new_error"
          ? say("Also notify when the error is resolved")
          : say("Also notify when the incident is over")}
        checked={draft.notifyOnRecovery}
        onChange={(isOn) => change({ notifyOnRecovery: isOn })}
      />
      {!isCustomer && <MessagePreview draft={draft} />}
    </FormDialog>
  );
}

/** For an existing rule: sends a test, creates a new webhook secret. */
function RuleTools({ ruleId, rotate, isSaving }: {
  ruleId: string;
  rotate: ReturnType<typeof useChange<"rotate_alert_webhook_secret">>;
  /** Saving closes the dialog, which would hide a new secret that is shown only once. */
  isSaving: boolean;
}) {
  const test = useChange("test_alert_rule", ["list_alert_deliveries"]);
  const hasDeliveries = useHas("list_alert_deliveries");
  return (
    <div className="rule-tools">
      <Button disabled={test.isPending} onClick={() => test.mutate({ p_rule_id: ruleId })}>
        {say("Send a test")}
      </Button>
      <Button
        look="quiet"
        disabled={rotate.isPending || isSaving}
        onClick={() => rotate.mutate({ p_rule_id: ruleId })}
      >
        {say("New webhook secret")}
      </Button>
      {test.isSuccess && (
        <p role="status" className="about">
          {hasDeliveries
            ? say("On its way to {count} destinations: see its deliveries.", {
              count: test.data.length,
            })
            : say("The test is on its way.")}
        </p>
      )}
      {rotate.data && (
        <p role="status">
          {say("Shown only once:")} <code className="secret">{rotate.data.secret}</code>{" "}
          <CopyButton text={rotate.data.secret} label={say("Copy the secret")} icon />
        </p>
      )}
      <ErrorNote error={test.error ?? rotate.error} />
    </div>
  );
}
