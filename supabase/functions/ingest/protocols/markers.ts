import { failure, success } from "../../_shared/errors.ts";
import type { EventCollector } from "../event_collector.ts";
import type { Envelope } from "../event_draft.ts";
import { isObject, type JsonObject, scalarText } from "../json_reader.ts";
import { counts, errorReply, json, type Protocol, receiver } from "../protocol.ts";
import { isoOf } from "../timestamps.ts";
import { gitHubSignature, isAddress, jsonOfGitHub, markerOfGitHub } from "./github_deployments.ts";
import { defaultsOf, invalidJson } from "./ndjson_and_text.ts";

/** Markers of deployments. A marker is an ordinary record: `@kind:marker` finds it. */
export const marker: Protocol = {
  ...receiver,
  limits: { sentBytes: 512_000, bytes: 512_000 },
  maxEvents: 1,
  signatureOf: gitHubSignature,
  read(incoming, content, events) {
    const text = jsonOfGitHub(incoming, content);
    const body = content.parse(text);
    if (!isObject(body)) {
      return failure(400, body === undefined ? invalidJson(text) : "A marker is a JSON object");
    }
    const event = incoming.headers.get("X-GitHub-Event");
    const sent = event === null ? success(body) : markerOfGitHub(event, body);
    if (!sent.ok) return sent;
    const defaults = defaultsOf(incoming.query);
    const fault = sent.value && addMarker(sent.value, { defaults }, events);
    if (fault !== undefined) return failure(400, fault);
    return success({ accepted: (outcome) => json(200, counts(outcome)) });
  },
  refused: errorReply,
};

const names = ["release", "service", "env", "url", "ts"];

/** Adds the record of a marker, or returns its fault: nobody sends a release again to have a misspelt member read. */
function addMarker(
  body: JsonObject,
  envelope: Envelope,
  events: EventCollector,
): string | undefined {
  const unknown = Object.keys(body).find((name) => !names.includes(name));
  if (unknown !== undefined) return `A marker has ${names.join(", ")}, but not ${unknown}`;
  const [release, service, env, url, ts] = names.map((name) => body[name] ?? undefined);
  const named = typeof release === "boolean" ? undefined : scalarText(release);
  if (!isText(named, 200)) return "release must be a text of 1 to 200 characters on one line";
  for (const [name, value] of Object.entries({ service, env })) {
    if (value !== undefined && !isText(value, 255)) {
      return `${name} must be a text of 1 to 255 characters on one line`;
    }
  }
  if (url !== undefined && !isAddress(url)) {
    return "url must be an http or https address of at most 2048 characters";
  }
  if (ts !== undefined && isoOf(ts) === undefined) {
    return "ts must be a time, such as 2026-11-21T12:34:56Z";
  }
  const attrs = { kind: "marker", release: named, ...url !== undefined && { url } };
  events.add({ ts, level: "info", msg: `Release ${named}`, service, env, attrs }, envelope);
}

/** Whether a value is a text of at most `most` characters that is not blank and can be shown on one line. */
function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value.trim() !== "" && [...value].length <= most &&
    !/[\p{Cc}\p{Cs}]/u.test(value);
}
