import type { Channel } from "../service/logloom.ts";
import { useIsCustomer, useMay } from "../service/roles.ts";
import { SecretField } from "../shared/secret-field.tsx";
import { say } from "../shared/translate.ts";
import {
  type SecretChannel,
  secretPlaces,
  type ShownChannel,
  shownPlaces,
} from "./notification-channels.ts";
import type { Draft } from "./rule-draft.ts";
import { TemplateFields } from "./template-fields.tsx";

/** The channels that a rule notifies, with their addresses. */
export function NotificationFields({ draft, isSet, onChange }: {
  draft: Draft;
  /** Whether the secret of this name is set. */
  isSet: (name: string) => boolean;
  onChange: (part: Partial<Draft>) => void;
}) {
  // Members may not seal secrets.
  const maySeal = [useMay("admin") !== false, useIsCustomer()].includes(true);
  const isOn = (name: Channel) => draft.destinations.includes(name);
  const check = (name: Channel, label: string) => (
    <label className="check">
      <input
        type="checkbox"
        checked={isOn(name)}
        onChange={(event) =>
          onChange({
            destinations: event.target.checked
              ? [...draft.destinations.filter((one) => one !== name), name]
              : draft.destinations.filter((one) => one !== name),
          })}
      />
      {label}
    </label>
  );
  return (
    <fieldset className="destinations">
      <legend>{say("Notify")}</legend>
      {(Object.keys(shownPlaces) as ShownChannel[]).map((name) => {
        const { label, key, type, sample } = shownPlaces[name];
        return (
          <div key={name} className="destination">
            {check(name, label)}
            <input
              type={type}
              aria-label={say("Address for {channel}", { channel: name })}
              placeholder={sample}
              required={isOn(name) && draft.enabled}
              value={draft[key]}
              onChange={(event) => onChange({ [key]: event.target.value })}
            />
          </div>
        );
      })}
      {isOn("webhook") && <TemplateFields draft={draft} onChange={onChange} />}
      {(Object.keys(secretPlaces) as SecretChannel[]).map((name) => {
        const { label, key, sample } = secretPlaces[name];
        return (
          <div key={name} className="destination">
            {check(name, label)}
            {!isOn(name) ? null : maySeal
              ? (
                <SecretField
                  name={key}
                  label={say("Address for {channel}", { channel: name })}
                  isSet={isSet(key)}
                  isNeeded={draft.enabled}
                  sample={sample}
                  secrets={draft.secrets}
                  onChange={(secrets) => onChange({ secrets })}
                />
              )
              : <span className="about">{isSet(key) ? say("Set") : say("An admin sets it.")}</span>}
          </div>
        );
      })}
    </fieldset>
  );
}
