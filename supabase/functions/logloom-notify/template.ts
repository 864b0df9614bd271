import Mustache from "mustache";
import { cut, groupText, type Payload } from "./message.ts";

/** What a webhook sends instead of the usual payload. */
export interface Template {
  readonly text: string | null;
  readonly type: "json" | "text";
}

/** What a rendered template may have, and what making it may cost. */
const maxLength = 65_536;
const maxSteps = 2_000;

/** Why a template gives no body. */
export class TemplateError extends Error {}

interface Context {
  lookup(name: string): unknown;
}

/** Mustache 4.2.0 has no types. */
interface Writer {
  render(template: string, view: unknown, partials: Record<string, never>): string;
  renderTokens(...given: unknown[]): string;
  escapedValue(token: [string, string], context: Context): string;
  unescapedValue(token: [string, string], context: Context): string;
}

const PlainWriter = (Mustache as unknown as { Writer: new () => Writer }).Writer;

/** Escapes what is inserted, however the template asks for it, and stops what grows too large. */
class BoundedWriter extends PlainWriter {
  #steps = 0;
  readonly #escape: (text: string) => string;

  constructor(escape: (text: string) => string) {
    super();
    this.#escape = escape;
  }

  override renderTokens(...given: unknown[]): string {
    if (++this.#steps > maxSteps) throw new TemplateError("The template repeats too much");
    const text = super.renderTokens(...given);
    if (text.length > maxLength) throw new TemplateError("The template's text is too long");
    return text;
  }

  override escapedValue([, name]: [string, string], context: Context): string {
    const value = context.lookup(name);
    if (value === null || value === undefined) return "";
    return this.#escape(typeof value === "object" ? JSON.stringify(value) : `${value}`);
  }

  override unescapedValue(token: [string, string], context: Context): string {
    return this.escapedValue(token, context);
  }
}

/** The body that a template makes of an alert. JSON is checked, and its inserted texts are escaped. */
export function renderTemplate({ text, type }: Template, payload: Payload): string {
  const isJson = type === "json";
  let rendered: string;
  try {
    rendered = new BoundedWriter(isJson ? escapeJson : (value) => value)
      .render(text ?? "", viewOf(payload), {});
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    // Its message quotes the template alone, and says where it is wrong.
    throw new TemplateError(cut(`The template is invalid: ${(error as Error).message}`, 300));
  }
  if (isJson) {
    try {
      JSON.parse(rendered);
    } catch {
      throw new TemplateError("The template does not make JSON");
    }
  }
  return rendered;
}

function escapeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The names that a template can use. Without prototypes: a template reaches nothing else. */
function viewOf({ type, data }: Payload): unknown {
  const withText = <T extends { group?: Payload["data"]["group"] }>(one: T) => ({
    ...one,
    group_text: groupText(one.group) ?? "",
  });
  const view = {
    state: type.replace("alert.", ""),
    is_resolved: type === "alert.resolved",
    is_test: type === "alert.test",
    rule: {
      id: data.rule_id,
      name: data.name,
      description: data.description,
      query: data.query_dsl,
      comparison: data.comparison,
      threshold: data.threshold,
      window_minutes: data.window_minutes,
    },
    tenant_id: data.tenant_id,
    incident_id: data.incident_id,
    value: data.value,
    ...withText({ group: data.group }),
    window: { start: data.window_start, end: data.window_end },
    url: data.url,
    alerts: (data.alerts ?? []).map(withText),
    logs: data.logs ?? [],
  };
  return JSON.parse(
    JSON.stringify(view),
    (_, value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.assign(Object.create(null), value)
        : value,
  );
}
