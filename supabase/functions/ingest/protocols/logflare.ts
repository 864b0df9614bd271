import type { EventCollector } from "../event_collector.ts";
import { addMember, isObject } from "../json_reader.ts";
import { explained, json, type Protocol, receiver } from "../protocol.ts";
import { addJson } from "./ndjson_and_text.ts";

/** Logflare's ingest for pino-logflare and its SDKs: a batch, or one event. */
export const logflare: Protocol = {
  ...receiver,
  read(_incoming, content, events) {
    const add = (sent: unknown) => {
      const batch = isObject(sent) && Array.isArray(sent.batch) ? sent.batch : [sent];
      for (const event of batch) addEvent(event, events);
    };
    return addJson(content, events, add, { accepted: () => json(200, { message: "Logged!" }) });
  },
  refused(_incoming, failure) {
    const error = explained(failure);
    return json(failure.status, { error, message: error });
  },
};

/** Adds an event. `metadata` has the values that were logged with the message, including the level. */
function addEvent(event: unknown, events: EventCollector): void {
  if (isObject(event) && isObject(event.metadata)) {
    const { metadata } = event;
    delete event.metadata;
    for (const key in metadata) addMember(event, key, metadata[key]);
  }
  events.add(event);
}
