import type { JsonObject } from "../json_reader.ts";
import { type Level, levelOfStatus } from "../levels.ts";

/** The content of an access log's line. */
export interface Access {
  readonly ts: string;
  readonly level: Level | undefined;
  readonly members: JsonObject;
}

/**
 * Reads a line in Apache's and nginx's common or combined format: `192.0.2.1 - ann [21/Nov/2026:12:34:56 +0000]
 * "GET /pay?id=1 HTTP/1.1" 500 42 "-" "curl/8.5"`. The line may begin with the virtual host (Debian's Apache), or end
 * with X-Forwarded-For (nginx's default configuration).
 */
export function accessOf(line: string): Access | undefined {
  const start = beginning.exec(line);
  if (start === null) return undefined;
  const [all, vhost, client, user, day, monthName, year, time, zone] = start;
  const month = months.indexOf(monthName);
  if (month === -1) return undefined;
  const requestEnd = endOfQuoted(line, all.length);
  if (requestEnd === -1) return undefined;
  outcome.lastIndex = requestEnd + 1;
  const end = outcome.exec(line);
  if (end === null) return undefined;
  const [, status, bytes] = end;
  const [referer, agent, forwardedFor] = quotedFrom(line, outcome.lastIndex);
  const members = {
    ...requestOf(line.slice(all.length, requestEnd)),
    status: Number(status),
    ...bytes !== "-" && { bytes: Number(bytes) },
    client_ip: client,
    ...isSaid(user) && { user_id: user },
    ...isSaid(vhost) && { vhost },
    ...isSaid(referer) && { referer },
    ...isSaid(agent) && { user_agent: agent },
    ...isSaid(forwardedFor) && { forwarded_for: forwardedFor },
  };
  const date = `${year}-${String(month + 1).padStart(2, "0")}-${day}`;
  return { ts: `${date}T${time}${zone}`, level: levelOfStatus(status), members };
}

const beginning =
  /^(?:(\S{1,255}) )?(\S{1,255}) \S{1,255} (\S{1,255}) \[(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})\] "/;
const outcome = / (\d{3}) (\d{1,15}|-)(?= |$)/y;
const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** The position of the closing quote for the text at `at`, or -1. */
function endOfQuoted(line: string, at: number): number {
  for (; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === 0x22) return at;
    // Apache writes a quote inside as \".
    if (code === 0x5c) at++;
  }
  return -1;
}

/** The next quoted texts, at most three, each after a space. */
function quotedFrom(line: string, at: number): string[] {
  const texts: string[] = [];
  while (texts.length < 3 && line.startsWith(' "', at)) {
    const end = endOfQuoted(line, at + 2);
    if (end === -1) break;
    texts.push(line.slice(at + 2, end));
    at = end + 1;
  }
  return texts;
}

/** Splits `GET /pay?id=1 HTTP/1.1`. Other texts, which scanners send, stay whole. */
function requestOf(request: string): JsonObject {
  const methodEnd = request.indexOf(" ");
  const method = request.slice(0, methodEnd);
  if (methodEnd < 1 || methodEnd > 32 || !/^[A-Z][A-Z_-]*$/.test(method)) {
    return {};
  }
  const protocol = request.lastIndexOf(" HTTP/");
  const target = request.slice(methodEnd + 1, protocol > methodEnd ? protocol : undefined);
  const query = target.indexOf("?");
  const route = query === -1 ? target : target.slice(0, query);
  return { method, ...route !== "" && { route } };
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text !== "-" && text !== "";
}
