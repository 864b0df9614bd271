import type { Secrets } from "../service/client.ts";
import { say } from "./translate.ts";
import { Button } from "./basic-controls.tsx";

/** An input for a secret. A saved secret is never shown, only that it is set. */
export function SecretField({ name, label, isSet, isNeeded = false, sample, secrets, onChange }: {
  name: string;
  label: string;
  isSet: boolean;
  isNeeded?: boolean;
  sample?: string;
  secrets: Secrets;
  onChange: (secrets: Secrets) => void;
}) {
  const typed = secrets[name];
  const isLeaving = typed === null;
  const change = (text: string | null) => {
    const { [name]: _, ...others } = secrets;
    onChange(text === "" ? others : { ...others, [name]: text });
  };
  return (
    <div className="secret-field">
      <label className="field">
        <span>{label}</span>
        <input
          type="password"
          // Keeps browsers from offering the user's own password.
          autoComplete="new-password"
          spellCheck={false}
          maxLength={4096}
          placeholder={isLeaving
            ? say("Deleted when you save")
            : isSet
            ? say("Set; type to replace it")
            : sample}
          required={isNeeded && !isSet}
          disabled={isLeaving}
          value={typed ?? ""}
          onChange={(event) => change(event.target.value)}
        />
      </label>
      {isSet && !isNeeded && (
        <Button look="small" onClick={() => change(isLeaving ? "" : null)}>
          {isLeaving ? say("Keep") : say("Remove")} <span className="hidden">{label}</span>
        </Button>
      )}
    </div>
  );
}
