import type { Channel } from "../service/logloom.ts";
import type { Draft } from "./rules.ts";
import { say } from "../shared/words.ts";

/** The destinations of a firing rule. */
export function NotificationFields({ draft, onChange }: {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}) {
  const toggle = (name: Channel, isOn: boolean) =>
    onChange({
      destinations: isOn
        ? [...draft.destinations.filter((one) => one !== name), name]
        : draft.destinations.filter((one) => one !== name),
    });
  const rows = [
    { name: "email", label: "Email", key: "email", type: "email", sample: "ops@example.com" },
    {
      name: "webhook",
      label: "Webhook",
      key: "webhook_url",
      type: "url",
      sample: "https://example.com/hook",
    },
  ] as const;
  return (
    <fieldset className="destinations">
      <legend>{say("Notify")}</legend>
      {rows.map((row) => {
        const isOn = draft.destinations.includes(row.name);
        return (
          <div key={row.name} className="destination">
            <label className="check">
              <input
                type="checkbox"
                checked={isOn}
                onChange={(event) => toggle(row.name, event.target.checked)}
              />
              {row.label}
            </label>
            <input
              type={row.type}
              aria-label={`Address for ${row.name}`}
              placeholder={row.sample}
              required={isOn && draft.enabled}
              value={draft[row.key]}
              onChange={(event) => onChange({ [row.key]: event.target.value })}
            />
          </div>
        );
      })}
    </fieldset>
  );
}
