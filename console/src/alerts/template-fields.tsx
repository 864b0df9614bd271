import { say } from "../shared/translate.ts";
import type { Draft } from "./rule-draft.ts";
import { CheckField } from "../shared/form-fields.tsx";

const example = '{"text": "{{rule.name}} {{state}}: {{value}} {{group_text}}"}';

/** The template of a webhook's body. */
export function TemplateFields({ draft, onChange }: {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}) {
  return (
    <details className="template" open={draft.webhook_template !== ""}>
      <summary>{say("A template for the webhook")}</summary>
      <label className="field">
        <span>
          {say("Mustache. If empty, the webhook gets the standard JSON. Send a test to try it.")}
        </span>
        <textarea
          className="mono"
          rows={4}
          maxLength={4000}
          spellCheck={false}
          placeholder={example}
          value={draft.webhook_template}
          onChange={(event) => onChange({ webhook_template: event.target.value })}
        />
      </label>
      <CheckField
        label={say("The template makes plain text, not JSON")}
        checked={draft.isTextTemplate}
        onChange={(isOn) => onChange({ isTextTemplate: isOn })}
      />
    </details>
  );
}
