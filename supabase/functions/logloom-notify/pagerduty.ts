import type { OutgoingOptions } from "../_shared/outgoing_request.ts";
import { postJson } from "./http_channel.ts";
import { cut, type Message, type Payload } from "./message.ts";
import type { Outcome } from "./delivery_outcome.ts";

export const pagerdutyUrl = "https://events.pagerduty.com/v2/enqueue";

/** Sends an event. A test is resolved at once, so that it leaves no open incident. */
export async function deliverPagerduty(
  routingKey: string,
  message: Message,
  payload: Payload,
  url: string,
  options: OutgoingOptions,
): Promise<Outcome> {
  const outcome = await postJson(url, pagerdutyEvent(routingKey, message, payload), options);
  if (message.state !== "test" || outcome.outcome !== "delivered") return outcome;
  return await postJson(
    url,
    pagerdutyEvent(routingKey, { ...message, state: "resolved" }, payload),
    options,
  );
}

/** An event of version 2: https://developer.pagerduty.com/docs/send-alert-event (summary 1024, dedup_key 255). */
export function pagerdutyEvent(routingKey: string, message: Message, { type, data }: Payload) {
  const { state, title, summary, facts, logs, url, key, at } = message;
  const common = {
    routing_key: routingKey,
    dedup_key: type === "alert.test" ? `${key}-test` : key,
  };
  const source = cut(data.tenant_id, 255);
  if (state === "resolved") return { ...common, event_action: "resolve" };
  // Resolves PagerDuty's incident, too: if it stayed open, the group's next alert would page nobody.
  if (state === "unwatched") {
    const whole = cut(`${title}. ${summary}`, 1024);
    return {
      ...common,
      event_action: "resolve",
      payload: { summary: whole, source, severity: "warning", timestamp: at },
    };
  }
  return {
    ...common,
    event_action: "trigger",
    client: "Logloom",
    ...url === undefined ? {} : { client_url: url, links: [{ href: url, text: "The records" }] },
    payload: {
      summary: cut(title, 1024),
      source,
      severity: state === "test" ? "info" : "error",
      timestamp: at,
      class: "alert rule",
      custom_details: {
        summary,
        ...Object.fromEntries(facts.map(([name, value]) => [name, cut(value, 2000)])),
        ...logs.length === 0 ? {} : { records: logs },
      },
    },
  };
}
