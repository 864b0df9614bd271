import Mustache from "mustache";
import { cut, groupText, type Payload } from "./message.ts";

/** The text that a webhook sends in place of the usual payload. */
export interface Template {
  readonly text: string | null;
  readonly type: "json" | "text";
}

/** Limits of the rendered text and of the work for it. */
const maxLength = 65_536;
const maxSteps = 2_000;
const maxLookups = 400_000;

/** Stands for null while JSON is rendered. No inserted text has it, since JSON escapes it. */
const nullMark = "\0";

/** The fault of a template. */
export class TemplateError extends Error {}

function tooLong(): TemplateError {
  return new TemplateError("The template's text is too long");
}

function tooMuch(): TemplateError {
  return new TemplateError("The template repeats too much");
}

/** Mustache 4.2.0 has no types. */
interface Context {
  lookup(name: string): unknown;
}

interface Writer {
  render(template: string, view: Context, partials: Record<string, never>): string;
  renderTokens(...given: unknown[]): string;
  escapedValue(token: [string, string], context: Context): string;
  unescapedValue(token: [string, string], context: Context): string;
}

const { Writer: PlainWriter, Context: PlainContext } = Mustache as unknown as {
  Writer: new () => Writer;
  Context: new (view: unknown, parent?: Context) => Context;
};

/**
 * Looks names up in data only. Mustache's own look-up follows prototypes and calls functions: from a list it reaches
 * Object.prototype, which all tenants share.
 */
class DataContext extends PlainContext {
  readonly #view: unknown;
  readonly #parent: DataContext | undefined;
  /** Steps of look-ups in the whole template. A name is looked up in each enclosing section. */
  readonly #lookups: { count: number };

  constructor(view: unknown, parent?: DataContext) {
    super(view, parent);
    this.#view = view;
    this.#parent = parent;
    this.#lookups = parent === undefined ? { count: 0 } : parent.#lookups;
  }

  push(view: unknown): DataContext {
    return new DataContext(view, this);
  }

  override lookup(name: string): unknown {
    if (name === ".") return this.#view;
    const path = name.split(".");
    this.#lookups.count += path.length;
    if (this.#lookups.count > maxLookups) throw tooMuch();
    const last = path.pop() ?? name;
    let holder = this.#view;
    for (const step of path) holder = ownMember(holder, step);
    // The innermost section that has the name decides, even if the value is null. Texts have members only in a path.
    return hasOwn(holder, last) && (path.length > 0 || typeof holder === "object")
      ? ownMember(holder, last)
      : this.#parent?.lookup(name);
  }
}

function hasOwn(value: unknown, name: string): boolean {
  return value !== null && value !== undefined && Object.hasOwn(Object(value), name);
}

function ownMember(value: unknown, name: string): unknown {
  return hasOwn(value, name) ? Object(value)[name] : undefined;
}

/** Escapes all inserted texts, even if the template wants them unescaped. Stops if the result grows too large. */
class BoundedWriter extends PlainWriter {
  #steps = 0;
  #inserted = 0;
  readonly #escape: (text: string) => string;
  readonly #null: string;

  constructor(escape: (text: string) => string, ofNull: string) {
    super();
    this.#escape = escape;
    this.#null = ofNull;
  }

  override renderTokens(...given: unknown[]): string {
    if (++this.#steps > maxSteps) throw tooMuch();
    const text = super.renderTokens(...given);
    if (text.length > maxLength) throw tooLong();
    return text;
  }

  override escapedValue([, name]: [string, string], context: Context): string {
    const value = context.lookup(name);
    if (value === null) return this.#null;
    if (value === undefined) return "";
    const text = this.#escape(typeof value === "object" ? JSON.stringify(value) : `${value}`);
    // Counts each inserted text at once: a long list that is named many times would fill the memory otherwise.
    this.#inserted += text.length;
    if (this.#inserted > maxLength) throw tooLong();
    return text;
  }

  override unescapedValue(token: [string, string], context: Context): string {
    return this.escapedValue(token, context);
  }
}

/** Renders a template. JSON is validated, and inserted texts are escaped. */
export function renderTemplate({ text, type }: Template, payload: Payload): string {
  const isJson = type === "json";
  let rendered: string;
  try {
    rendered = new BoundedWriter(isJson ? escapeJson : (value) => value, isJson ? nullMark : "")
      .render(text ?? "", new DataContext(viewOf(payload)), {});
    if (isJson) rendered = withNulls(rendered);
    if (rendered.length > maxLength) throw tooLong();
  } catch (error) {
    if (error instanceof TemplateError) throw error;
    // The error's message quotes only the template.
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

/** Writes each mark as null. Within a string it becomes nothing. */
function withNulls(json: string): string {
  return json.replaceAll(
    /"(?:[^"\\]|\\.)*"?|\0/gs,
    (found) => found === nullMark ? "null" : found.replaceAll(nullMark, ""),
  );
}

/** The names that a template can use. */
function viewOf({ type, data }: Payload): unknown {
  const withText = <T extends { group?: Payload["data"]["group"] }>(one: T) => ({
    ...one,
    group_text: groupText(one.group) ?? "",
  });
  const view = {
    state: type.replace("alert.", ""),
    is_resolved: type === "alert.resolved",
    is_test: type === "alert.test",
    resolution: data.resolution,
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
  // Through JSON, so that only data remains, and no undefined members.
  return JSON.parse(JSON.stringify(view));
}
