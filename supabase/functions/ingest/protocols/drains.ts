import { success } from "../../_shared/errors.ts";
import type { EventCollector } from "../event_collector.ts";
import type { Envelope } from "../event_draft.ts";
import { isObject, type JsonObject, scalarText } from "../json_reader.ts";
import { levelOfStatus } from "../levels.ts";
import {
  type Content,
  counts,
  errorReply,
  json,
  type Protocol,
  type Reading,
  receiver,
} from "../protocol.ts";
import { supabaseEnvelope } from "../supabase_events.ts";
import { addJson, defaultsOf } from "./ndjson_and_text.ts";
import { addInvocation } from "./cloudflare_workers.ts";
import { addLogplex } from "./logplex.ts";

/** Adds an event of a drain in the form of its platform. */
type AddEvent = (event: JsonObject, envelope: Envelope, events: EventCollector) => void;

/** Log drains of platforms: an array of events, or one event a line. */
function drain(addEvent: AddEvent): Protocol {
  return {
    ...receiver,
    saysWhatIsStored: true,
    greet: verification,
    read({ query }, content, events) {
      const envelope = { defaults: defaultsOf(query) };
      const add = (event: unknown) => {
        if (isObject(event)) addEvent(event, envelope, events);
        else events.add(event);
      };
      const accepted: Reading["accepted"] = (outcome) => json(200, counts(outcome), verify(query));
      return addJson(content, events, add, { accepted }, envelope);
    },
    refused: (incoming, failure) => {
      const reply = errorReply(incoming, failure);
      return { ...reply, headers: { ...reply.headers, ...verify(incoming.query) } };
    },
  };
}

/** The header that Vercel expects, with a value that it showed during set-up. */
function verify(query: URLSearchParams): Record<string, string> {
  const value = query.get("vercel_verify") ?? "";
  return /^[\x21-\x7e]{1,200}$/.test(value) ? { "x-vercel-verify": value } : {};
}

const verification: Protocol["greet"] = ({ method, query }) => {
  const headers = verify(query);
  return (method === "GET" || method === "HEAD") && headers["x-vercel-verify"] !== undefined
    ? json(200, {}, headers)
    : undefined;
};

const plainDrain = drain((event, envelope, events) => events.add(event, envelope));

const supabaseDrain = drain((event, envelope, events) => {
  if (events.leaveOutOwn(event, event.event_message)) return;
  const { fallbackLevel, defaults } = supabaseEnvelope(event);
  events.add(event, { fallbackLevel, defaults: { ...defaults, ...envelope.defaults } });
});

/** Cloudflare's Logpush of requests, or of a Worker's invocations. */
const cloudflareDrain = drain((event, envelope, events) => {
  if (Object.hasOwn(event, "ScriptName") && Object.hasOwn(event, "Outcome")) {
    addInvocation(event, envelope, events);
  } else {
    addRequest(event, envelope, events);
  }
});

/** Adds a request of Cloudflare's Logpush. It has no message, so method, path and status become the message. */
const addRequest: AddEvent = (event, envelope, events) => {
  const { ClientRequestMethod: method, ClientRequestURI: uri, EdgeResponseStatus: status } = event;
  const path = uri ?? event.ClientRequestPath;
  const msg = [method, path, status].map(scalarText).filter((part) => part !== undefined).join(" ");
  const host = scalarText(event.ClientRequestHost);
  events.add(event, {
    ...envelope,
    fallbackLevel: levelOfStatus(scalarText(status)),
    defaults: { ...msg !== "" && { msg }, ...host !== undefined && { host }, ...envelope.defaults },
  });
};

const herokuDrain: Protocol = {
  ...receiver,
  read({ query }, content: Content, events) {
    addLogplex(content, { defaults: defaultsOf(query) }, events);
    return success({ accepted: () => ({ status: 204 }) });
  },
  refused: errorReply,
};

/** The drains by the last part of `/drain/<kind>`. */
export const drains: ReadonlyMap<string, Protocol> = new Map([
  ["supabase", supabaseDrain],
  ["vercel", plainDrain],
  ["netlify", plainDrain],
  ["cloudflare", cloudflareDrain],
  ["heroku", herokuDrain],
]);
