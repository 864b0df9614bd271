import { say } from "../shared/words.ts";
import type { Draft } from "./rules.ts";

const example = '{"text": "{{rule.name}} {{state}}: {{value}} {{group_text}}"}';

/** What a webhook sends instead of the usual JSON. */
export function TemplateFields({ draft, onChange }: {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}) {
  return (
    <details className="template" open={draft.webhook_template !== ""}>
      <summary>{say("A template for the webhook")}</summary>
      <label className="field">
        <span>{say("Mustache; the usual JSON if empty. A test tries it.")}</span>
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
      <label className="check">
        <input
          type="checkbox"
          checked={draft.isTextTemplate}
          onChange={(event) => onChange({ isTextTemplate: event.target.checked })}
        />
        {say("It makes plain text, not JSON")}
      </label>
    </details>
  );
}
