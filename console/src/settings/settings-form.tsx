import { useState } from "react";
import { useChange } from "../service/operation-hooks.ts";
import type { TenantSettings } from "../service/logloom.ts";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { bytes } from "../shared/format-number.ts";
import { TextField } from "../shared/form-fields.tsx";
import { say } from "../shared/translate.ts";

/** The unsaved changes. */
interface Edits {
  days?: string;
  compression?: boolean;
  email_enabled?: boolean;
  webhook_enabled?: boolean;
}

/** The edits that differ from `there`. */
function without(edits: Edits, there: Edits): Edits {
  return Object.fromEntries(
    Object.entries(edits).filter(([name, value]) => there[name as keyof Edits] !== value),
  );
}

/** The settings with the user's edits. Only the edits are saved. */
export function SettingsForm({ settings, mayChange }: {
  settings: TenantSettings;
  mayChange: boolean;
}) {
  const [edits, setEdits] = useState<Edits>({});
  const { retention_days, ...config } = settings.pipeline_config;
  const given = { ...config, ...settings.notification_preferences, days: String(retention_days) };
  const edit = (part: Edits) => setEdits((now) => ({ ...now, ...part }));
  const shown = { ...given, ...edits };
  const save = useChange("update_tenant_settings", ["get_tenant_settings", "list_audit_events"]);
  const submit = () => {
    const { days, compression, ...preferences } = without(edits, given);
    save.mutate({
      pipeline_config: {
        ...days !== undefined && { retention_days: Number(days) },
        ...compression !== undefined && { compression },
      },
      notification_preferences: { ...preferences },
    }, {
      // Edits made since the save are kept.
      onSuccess: () => setEdits((now) => without(now, edits)),
    });
  };
  const check = (label: string, isOn: boolean, onChange: (isOn: boolean) => void) => (
    <label className="check">
      <input
        type="checkbox"
        checked={isOn}
        disabled={!mayChange}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
  return (
    <form
      className="block form narrow"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <h2>{say("Pipeline")}</h2>
      <TextField
        label={say("Keep records for (days)")}
        type="number"
        min={1}
        required
        disabled={!mayChange}
        value={shown.days}
        onChange={(days) => edit({ days })}
      />
      {check(say("Compress days that are over"), shown.compression, (compression) =>
        edit({ compression }))}
      <p className="about">
        {say("Now: {compressed} compressed, {rows} not.", {
          compressed: bytes(settings.stored.sealed_bytes),
          rows: bytes(settings.stored.hot_bytes),
        })}
      </p>
      <h2>{say("Notifications")}</h2>
      {check(say("Alerts may send email"), shown.email_enabled, (email_enabled) =>
        edit({ email_enabled }))}
      {check(say("Alerts may call webhooks"), shown.webhook_enabled, (webhook_enabled) =>
        edit({ webhook_enabled }))}
      <ErrorNote error={save.error} />
      <div className="row">
        {mayChange && (
          <button type="submit" className="button primary" disabled={save.isPending}>
            {say("Save")}
          </button>
        )}
        {save.isSuccess && Object.keys(edits).length === 0 && (
          <span role="status" className="about">{say("Saved.")}</span>
        )}
      </div>
    </form>
  );
}
