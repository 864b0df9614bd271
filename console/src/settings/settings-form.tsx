import { useState } from "react";
import { useChange } from "../service/hooks.ts";
import type { TenantSettings } from "../service/logloom.ts";
import { ErrorNote } from "../shared/controls.tsx";
import { bytes } from "../shared/numbers.ts";
import { say } from "../shared/words.ts";

export function SettingsForm({ settings, mayChange }: {
  settings: TenantSettings;
  mayChange: boolean;
}) {
  const [days, setDays] = useState(
    String(settings.pipeline_config.retention_days),
  );
  const [isCompressed, setCompressed] = useState(
    settings.pipeline_config.compression,
  );
  const [preferences, setPreferences] = useState(
    settings.notification_preferences,
  );
  const save = useChange("update_tenant_settings", [
    "get_tenant_settings",
    "list_tenant_audit_events",
  ]);
  const check = (
    label: string,
    isOn: boolean,
    onChange: (isOn: boolean) => void,
  ) => (
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
        save.mutate({
          pipeline_config: { retention_days: Number(days), compression: isCompressed },
          notification_preferences: preferences,
        });
      }}
    >
      <h2>{say("Pipeline")}</h2>
      <label className="field">
        <span>{say("Keep records for (days)")}</span>
        <input
          type="number"
          min={1}
          required
          disabled={!mayChange}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
      </label>
      {check(say("Compress days that are over"), isCompressed, setCompressed)}
      <p className="about">
        {say("Now {compressed} are compressed, {rows} are not.", {
          compressed: bytes(settings.stored.sealed_bytes),
          rows: bytes(settings.stored.hot_bytes),
        })}
      </p>
      <h2>{say("Notifications")}</h2>
      {check(say("Alerts may send email"), preferences.email_enabled, (email_enabled) =>
        setPreferences({ ...preferences, email_enabled }))}
      {check(say("Alerts may call webhooks"), preferences.webhook_enabled, (webhook_enabled) =>
        setPreferences({ ...preferences, webhook_enabled }))}
      <ErrorNote error={save.error} />
      <div className="row">
        {mayChange && (
          <button
            type="submit"
            className="button primary"
            disabled={save.isPending}
          >
            {say("Save")}
          </button>
        )}
        {save.isSuccess && <span role="status" className="about">{say("Saved.")}</span>}
      </div>
    </form>
  );
}
