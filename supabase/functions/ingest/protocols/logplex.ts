import type { EventCollector } from "../event_collector.ts";
import type { Envelope } from "../event_draft.ts";
import { syslogLevelOf } from "../levels.ts";
import type { Content } from "../protocol.ts";
import { addLine, linesOf, takenApart } from "./ndjson_and_text.ts";

/**
 * Adds the frames of Heroku's logplex: RFC 5424 with octet counting (RFC 6587), without structured data. Other framing
 * is read line by line.
 */
export function addLogplex(content: Content, envelope: Envelope, events: EventCollector): void {
  const frames = framesOf(content.bytes);
  if (frames === undefined) {
    for (const line of linesOf(content.text)) addFrame(line, content, envelope, events);
    return;
  }
  for (const frame of frames) addFrame(frame, content, envelope, events);
}

/** Undefined if the bytes are not frames throughout. */
function framesOf(bytes: Uint8Array): string[] | undefined {
  const decoder = new TextDecoder();
  const frames: string[] = [];
  for (let at = 0; at < bytes.length;) {
    let length = 0;
    let digits = 0;
    while (at < bytes.length && bytes[at] >= 0x30 && bytes[at] <= 0x39 && digits < 8) {
      length = 10 * length + bytes[at++] - 0x30;
      digits++;
    }
    if (digits === 0 || bytes[at] !== 0x20 || length > bytes.length - at - 1) return undefined;
    frames.push(decoder.decode(bytes.subarray(at + 1, at + 1 + length)));
    at += 1 + length;
  }
  return frames;
}

const syslog = /^<(\d{1,3})>\d{1,2} (\S+) (\S+) (\S+) (\S+) (\S+)(?: ([\s\S]*))?$/;

function addFrame(
  frame: string,
  content: Content,
  envelope: Envelope,
  events: EventCollector,
): void {
  const match = syslog.exec(frame.replace(/\n$/, ""));
  if (match === null) {
    addLine(frame, content, envelope, events);
    return;
  }
  const [, priority, ts, host, app, process, , msg = ""] = match;
  const severity = String(Number(priority) % 8);
  const beside = {
    ...present(process) !== undefined && { process },
    facility: Math.floor(Number(priority) / 8),
  };
  const apart = takenApart(msg, beside, content);
  events.add(apart?.members ?? beside, {
    ...present(ts) !== undefined && { ts },
    // A program's output has one severity, whatever its content.
    ...apart === undefined
      ? { level: syslogLevelOf(severity), originalLevel: severity, msg }
      : { fallbackLevel: syslogLevelOf(severity) },
    defaults: {
      ...present(host) !== undefined && { host },
      ...present(app) !== undefined && { service: app },
      ...envelope.defaults,
    },
  });
}

/** RFC 5424 writes a missing value as a dash. */
function present(text: string): string | undefined {
  return text === "-" ? undefined : text;
}
