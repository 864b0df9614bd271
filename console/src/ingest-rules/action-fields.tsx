import {
  detectorNames,
  listOf,
  type WrittenAction,
} from "../../../supabase/functions/_shared/ingest_rules/written_action.ts";
import { CheckField, SelectField, TextField } from "../shared/form-fields.tsx";
import { say, type Words } from "../shared/translate.ts";

export const actionNames = {
  mask: "Mask",
  drop: "Drop",
  sample: "Sample",
  parse: "Parse",
  set: "Set",
  remove: "Remove",
  level: "Level",
} as const satisfies Record<WrittenAction["type"], Words>;

type Name = "pattern" | "label" | "in" | "rate" | "place" | "value";
/** A member of the action, its label, and an example. */
type Field = [name: Name, label: Words, example: string, isNeeded?: true];

const place: Field = ["place", "Field or @attribute", "@plan", true];
const fields: Record<WrittenAction["type"], Field[]> = {
  mask: [
    ["pattern", "Pattern, optional", "order-[0-9]+"],
    ["label", "Its name, optional", "custom"],
    ["in", "Where (empty: everywhere)", "msg, @token"],
  ],
  drop: [],
  sample: [["rate", "Share to keep", "0.1", true]],
  parse: [["pattern", "Pattern", "<method> <path> took <ms>ms", true]],
  set: [place, ["value", "Value", "free"]],
  remove: [place],
  level: [["value", "Level, or the field or @attribute that has it", "@severity", true]],
};

/** What a rule does, and what that needs. */
export function ActionFields({ action, onChange }: {
  action: WrittenAction;
  onChange: (part: Partial<WrittenAction>) => void;
}) {
  const { type, hash = false } = action;
  const what = listOf(action.what);
  return (
    <>
      <SelectField
        label={say("Action")}
        value={type}
        onChange={(name) => onChange({ type: name as WrittenAction["type"] })}
      >
        {Object.entries(actionNames).map(([name, words]) => (
          <option key={name} value={name}>{say(words)}</option>
        ))}
      </SelectField>
      {type === "mask" && (
        <fieldset className="check-grid">
          <legend>{say("Find")}</legend>
          {detectorNames.map((name) => (
            <CheckField
              key={name}
              label={name}
              checked={what.includes(name)}
              onChange={(isOn) =>
                onChange({
                  what: (isOn ? [...what, name] : what.filter((one) => one !== name)).join(),
                })}
            />
          ))}
        </fieldset>
      )}
      <div className="form-pair">
        {fields[type].map(([name, label, example, isNeeded]) => (
          <TextField
            key={name}
            label={say(label)}
            className="mono"
            spellCheck={false}
            required={isNeeded}
            placeholder={example}
            value={action[name] ?? ""}
            onChange={(text) => onChange({ [name]: text })}
          />
        ))}
        {type === "sample" && (
          <SelectField
            label={say("Keep")}
            value={action.by}
            onChange={(by) => onChange({ by })}
          >
            <option value="req_id">{say("Whole requests")}</option>
            <option value="record">{say("Single events")}</option>
          </SelectField>
        )}
      </div>
      {type === "mask" && (
        <CheckField
          label={say("With a hash, so that equal values can be grouped: [email:9f2c41d7]")}
          checked={hash}
          onChange={(isOn) => onChange({ hash: isOn })}
        />
      )}
    </>
  );
}
