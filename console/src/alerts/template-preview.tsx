import type { Payload } from "../../../supabase/functions/logloom-notify/message.ts";
import {
  renderTemplate,
  type Template,
  TemplateError,
} from "../../../supabase/functions/logloom-notify/template.ts";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";

/** The body that the template makes of an example record, or the template's error. */
export function TemplatePreview({ template, payload }: { template: Template; payload: Payload }) {
  const [body, error] = rendered(template, withExample(payload));
  if (error) return <p className="field-error" role="status">{plain(error)}</p>;
  return (
    <>
      <h3>{say("The webhook's body")}</h3>
      <pre className="mono block" tabIndex={0}>{plain(body)}</pre>
    </>
  );
}

function rendered(template: Template, payload: Payload): [body: string, error: string] {
  try {
    return [renderTemplate(template, payload), ""];
  } catch (error) {
    if (error instanceof TemplateError) return ["", error.message];
    throw error;
  }
}

/** A preview reads no records, so it shows an example. */
function withExample(payload: Payload): Payload {
  const { group, value, window_end: ts } = payload.data;
  const logs = [{ ts, level: "error", service: "api", msg: say("An example of a record") }];
  return {
    ...payload,
    data: { ...payload.data, alerts: [{ alert_id: null, group: group ?? null, value }], logs },
  };
}
