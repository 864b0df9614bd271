import { type Failure, success } from "../../_shared/errors.ts";
import type { EventCollector } from "../event_collector.ts";
import { addMember, isObject, type JsonObject, setMember } from "../json_reader.ts";
import { isText } from "../../_shared/numbers.ts";
import {
  type Content,
  explained,
  type Incoming,
  json,
  missingCredentials,
  type Protocol,
  receiver,
  type Reply,
} from "../protocol.ts";
import { addJson, defaultsOf, shortParameter, takenApart } from "./ndjson_and_text.ts";

/** Datadog's log intake: https://docs.datadoghq.com/api/latest/logs/#send-logs. */
export const datadog: Protocol = {
  ...receiver,
  ownKey: ({ path }) => /^\/v1\/input\/([^/]+)$/.exec(path)?.[1],
  read(incoming, content, events) {
    const envelope = { defaults: defaultsOf(incoming.query) };
    const tags = [shortParameter(incoming.query, "ddtags") ?? ""];
    const add = (event: unknown) => addEvent(event, tags, envelope, content, events);
    const status = incoming.path.startsWith("/v1/") ? 200 : 202;
    return addJson(content, events, add, { accepted: () => json(status, {}) }, envelope);
  },
  refused,
};

/** Vector checks its key before it sends. */
export const datadogValidation: Protocol = {
  ...datadog,
  methods: "GET, OPTIONS",
  read: () => success({ accepted: () => json(200, { valid: true }) }),
};

/** Far more than Datadog accepts. Longer tags stay one text. */
const maxTagsLength = 16_384;

function addEvent(
  event: unknown,
  tags: readonly string[],
  envelope: { defaults: ReturnType<typeof defaultsOf> },
  content: Content,
  events: EventCollector,
): void {
  if (!isObject(event)) {
    events.add(event);
    return;
  }
  const { ddtags } = event;
  const areTags = isText(ddtags) && ddtags.length <= maxTagsLength;
  const texts = areTags ? [...tags, ddtags] : tags;
  const { env, version, ...rest } = tagsOf(texts);
  if (areTags || Object.keys(rest).length > 0) {
    delete event.ddtags;
    if (Object.keys(rest).length > 0) event.ddtags = rest;
  }
  if (version !== undefined) addMember(event, "version", version);
  const { message, ...beside } = event;
  const { members = event, ...said } = takenApart(message, beside, content) ?? {};
  events.add(members, {
    ...envelope,
    ...said,
    ...typeof env === "string" && { defaults: { ...envelope.defaults, env } },
  });
}

/** Splits `env:prod,version:1.2,canary`. A tag without a value becomes true; a repeated tag becomes a list. */
function tagsOf(texts: readonly string[]): JsonObject {
  const tags: JsonObject = {};
  for (const tag of texts.join(",").split(",")) {
    const text = tag.trim();
    if (text === "") continue;
    const at = text.indexOf(":");
    const key = at === -1 ? text : text.slice(0, at);
    const value = at === -1 ? true : text.slice(at + 1);
    const before = Object.hasOwn(tags, key) ? tags[key] : undefined;
    if (before === undefined) setMember(tags, key, value);
    else if (Array.isArray(before)) before.push(value);
    else setMember(tags, key, [before, value]);
  }
  return tags;
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  408: "Request Timeout",
  413: "Payload Too Large",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

function refused(_incoming: Incoming, failure: Failure): Reply {
  const isWrongKey = failure.status === 401 && failure.error !== missingCredentials;
  const status = isWrongKey ? 403 : failure.status;
  return json(status, {
    errors: [{
      status: String(status),
      title: titles[status] ?? "Error",
      detail: explained(failure),
    }],
  });
}
