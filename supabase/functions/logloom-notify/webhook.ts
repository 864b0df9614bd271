import { Webhook } from "standardwebhooks";
import {
  type OutgoingAnswer,
  type OutgoingOptions,
  retryAfterOf,
  sendOutgoing,
} from "../_shared/outgoing_request.ts";
import { readPayload } from "./message.ts";
import { failed, type Outcome, retry } from "./delivery_outcome.ts";
import { renderTemplate, type Template, TemplateError } from "./template.ts";

export interface WebhookMessage {
  /** The same in every attempt, so that a receiver recognises a repeat. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  readonly secrets: readonly string[];
  readonly template?: Template | null;
}

export interface WebhookOptions extends OutgoingOptions {
  readonly now: () => Date;
}

/** Makes one attempt. */
export async function deliverWebhook(
  { id, url, body: usual, secrets, template }: WebhookMessage,
  options: WebhookOptions,
): Promise<Outcome> {
  if (secrets.length === 0) return failed("The alert rule was deleted");
  const rendered = render(usual, template);
  if (typeof rendered !== "string") return rendered;
  const body = rendered;
  const now = options.now();
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, now, body));
  const answer = await sendOutgoing({
    method: "POST",
    url,
    headers: {
      "User-Agent": "Logloom",
      "Content-Type": isText(template) ? "text/plain; charset=utf-8" : "application/json",
      "webhook-id": id,
      "webhook-timestamp": `${Math.floor(now.getTime() / 1000)}`,
      "webhook-signature": signatures.join(" "),
    },
    body: new TextEncoder().encode(body),
  }, options);
  if ("status" in answer) return judge(answer);
  return answer.isFinal ? failed(answer.error) : retry(answer.error);
}

function isText(template: Template | null | undefined): boolean {
  return template?.text != null && template.type === "text";
}

/** The usual payload, or the rendered template. */
function render(body: string, template: Template | null | undefined): string | Outcome {
  if (template?.text == null) return body;
  try {
    return renderTemplate(template, readPayload(body));
  } catch (error) {
    if (error instanceof TemplateError) return failed(error.message);
    throw error;
  }
}

function judge(answer: OutgoingAnswer): Outcome {
  const { status } = answer;
  if (status < 300) return { outcome: "delivered", status };
  if (status < 400) {
    return retry(`HTTP ${status}: redirects are not followed`, status);
  }
  if (status === 410) return failed("HTTP 410: the receiver is gone", status);
  return retry(`HTTP ${status}`, status, retryAfterOf(answer, new Date()));
}
