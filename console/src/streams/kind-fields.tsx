import { SecretField } from "../shared/secret-field.tsx";
import { say } from "../shared/translate.ts";
import type { Draft } from "./stream-draft.ts";
import { kinds } from "./stream-kinds.ts";

/** The settings and secrets of the stream's kind. */
export function KindFields({ draft, isSet, onChange }: {
  draft: Draft;
  isSet: (name: string) => boolean;
  onChange: (part: Partial<Draft>) => void;
}) {
  const { settings, secrets } = kinds[draft.kind];
  return (
    <>
      {settings.map(({ name, label, sample, isNeeded }) => (
        <label key={name} className="field">
          <span>{isNeeded ? say(label) : say("{label}, optional", { label: say(label) })}</span>
          <input
            className="mono"
            spellCheck={false}
            maxLength={2000}
            required={isNeeded}
            placeholder={sample}
            value={draft.config[name] ?? ""}
            onChange={(event) =>
              onChange({ config: { ...draft.config, [name]: event.target.value } })}
          />
        </label>
      ))}
      {secrets.map(({ name, label, isNeeded }) => (
        <SecretField
          key={name}
          name={name}
          label={isNeeded ? say(label) : say("{label}, optional", { label: say(label) })}
          isSet={isSet(name)}
          isNeeded={isNeeded}
          secrets={draft.secrets}
          onChange={(changed) => onChange({ secrets: changed })}
        />
      ))}
    </>
  );
}
