import { exactly } from "../language/edit-query.ts";
import { TextField } from "../shared/form-fields.tsx";
import { ServiceField } from "../shared/service-field.tsx";
import { say } from "../shared/translate.ts";
import type { Draft } from "./rule-draft.ts";

/** The service in a filter that has nothing else, empty for all; null if the filter says something else. */
function serviceOf(query: string): string | null {
  if (query.trim() === "*") return "";
  const written = /^service:="((?:[^"\\]|\\.)+)"$/.exec(query.trim())?.[1];
  return written?.replace(/\\(.)/g, "$1") ?? null;
}

/** Which errors a rule tells about. */
export function ErrorFields({ draft, onChange }: {
  draft: Draft;
  onChange: (part: Partial<Draft>) => void;
}) {
  const service = serviceOf(draft.query_dsl);
  return (
    <div>
      {service === null
        ? (
          <TextField
            label={say("Only errors with a record that this filter finds")}
            className="mono"
            required
            spellCheck={false}
            value={draft.query_dsl}
            onChange={(query_dsl) => onChange({ query_dsl })}
          />
        )
        : (
          <ServiceField
            value={service}
            onChange={(name) =>
              onChange({ query_dsl: name === "" ? "*" : exactly("service", name) })}
          />
        )}
      <p className="about">
        {say(
          "Notifies once for each error that is new, or that came back after it was resolved or ignored.",
        )}
      </p>
    </div>
  );
}
