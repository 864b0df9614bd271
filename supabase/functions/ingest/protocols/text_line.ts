import { printedTimeAt } from "../printed_times.ts";
import { type Level, levelOf } from "../levels.ts";

/** What a line of text says before its message. */
export interface TextHead {
  /** As it stands there, readable or not. */
  readonly ts?: string;
  readonly level?: Level;
  /** The word for the level, where it is another. */
  readonly originalLevel?: string;
}

// deno-lint-ignore no-control-regex
const colours = /\x1b\[[\d;]*m/g;

/** What may stand before a time: syslog's priority, Ruby's and Redis' letters, glog's level, brackets. */
const beforeTime = /(?:<\d{1,3}>(?:1 )?|[A-Z], ?|\d{1,9}:[A-Z] |#{2,4}|[*.%])?[\s[(<{"]{0,3}/y;
const glogLevel = /[DIWEF](?=(?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.)/y;
const unixTime = /\d{10}\.\d{3,9}(?=[\s\]])/y;

const word =
  "TRACE|TRC|TRCE|VERBOSE|VRB|FINEST|FINER|FINE|DEBUG[1-5]?|DBG|DBUG|DEBG|CONFIG|INFORMATION|INFO|INF|NOTICE|SUCCESS|WARNING|WARN|WRN|ERROR|ERRO|EROR|ERR|SEVERE|FAIL|CRITICAL|CRIT|DPANIC|FATAL|FTL|PANIC|ALERT|EMERGENCY|EMERG";
/** The level at the beginning, of a line or behind its time. */
const levelFirst = new RegExp(
  `[[(<|\\s]{0,8}(${word})(?=[\\])>:|,\\s]|\\[\\d|$)(?: *\\[[^\\]]{0,60}\\])?[\\])>:|\\s]*`,
  "yi",
);
/** Further on: in brackets, between dashes, bars or tabs, or in capitals before a colon or behind brackets. */
const levelsLater = [
  `[[<](?:[\\w.]{1,40}:)?(${word})\\s*[\\]>]`,
  "PHP (?:Fatal |Parse )?(error|Warning|Notice): ",
  `(?: - | ?\\| *|\\t)(${word}) *(?= - |\\||\\t|:\\s)`,
].map((form) => new RegExp(form, "i"));
const capitalsLater = [
  `(?:^|[\\s.])(${word}|LOG)(?=:\\s| --|:$)`,
  `^(?:\\s*(?:[(\\[][^\\])]{0,80}[)\\]]|-))+\\s*(${word})(?=\\s)`,
  `(?:^|[\\s\\]-])(${word})(?= {2,}\\S)`,
].map((form) => new RegExp(form));
/** A level stands near the time; further on it belongs to the message. */
const headLength = 100;

/** The time and the level at the beginning of a line. */
export function headOf(line: string): TextHead {
  const near = line.slice(0, 600).replace(colours, "");
  const start = lengthAt(beforeTime, near, 0);
  const letter = near.slice(start, start + lengthAt(glogLevel, near, start));
  const time = timeAt(near, start + letter.length);
  if (time !== undefined) {
    const level = letter === "" ? levelBehind(near.slice(time.end)) : letters[letter];
    return { ts: time.text, ...levelNamed(level) };
  }
  levelFirst.lastIndex = 0;
  const first = levelFirst.exec(near);
  if (first === null) return {};
  const at = levelFirst.lastIndex;
  return { ...levelNamed(first[1]), ...at > 0 && { ts: timeAt(near, at)?.text } };
}

const letters: Readonly<Record<string, string>> = {
  D: "debug",
  I: "info",
  W: "warn",
  E: "error",
  F: "fatal",
};

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

function timeAt(text: string, at: number): { text: string; end: number } | undefined {
  const end = printedTimeAt(text, at)?.end ?? at + lengthAt(unixTime, text, at);
  return end > at ? { text: text.slice(at, end), end } : undefined;
}

function levelBehind(text: string): string | undefined {
  const rest = text.slice(0, headLength).replace(/^[\])>}"\s\-:|,]+/, "");
  levelFirst.lastIndex = 0;
  const first = levelFirst.exec(rest);
  if (first !== null) return first[1];
  const head = text.slice(0, headLength);
  const found = [
    ...levelsLater.map((form) => form.exec(head)),
    ...capitalsLater.map((form) => form.exec(head)),
  ].filter((one) => one !== null);
  found.sort((one, other) => one.index - other.index);
  return found[0]?.[1];
}

function levelNamed(said: string | undefined): Omit<TextHead, "ts"> {
  const lower = said?.toLowerCase() ?? "";
  const level = levelOf(lower);
  if (level === null) return {};
  return { level, ...level !== lower && { originalLevel: said } };
}
