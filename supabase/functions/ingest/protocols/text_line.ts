import { printedTimeAt } from "../printed_times.ts";
import { type Level, levelOf, levelOfLetter, syslogLevelOf } from "../levels.ts";

/** Time and level at the beginning of a line of text. */
export interface TextHead {
  /** The text as written, readable or not. */
  readonly ts?: string;
  readonly level?: Level;
  /** The word in the line, if it differs from the level. */
  readonly originalLevel?: string;
}

// deno-lint-ignore no-control-regex
const colours = /\x1b\[[\d;]*m/g;

/** Syslog's priority, and the version of RFC 5424. */
const priority = /^<(\d{1,3})>(?:1 )?/;
/** Text that may precede a time: Ruby's and Redis' letters, glog's level, a framework's name, brackets. */
const beforeTime =
  /(?:\[(?:GIN|Nest)\] +(?:\d{1,9} +- +)?|[A-Z], ?|\d{1,9}:[A-Z] |#{2,4}|[*.%])?[\s[(<{"]{0,3}/y;
const glogLevel = /[DIWEF](?=(?:\d{4}|\d{8}) \d\d:\d\d:\d\d\.)/y;
const unixTime = /\d{10}\.\d{3,9}(?=[\s\]])/y;

/** The words that name a level in a line. The other words of `levels.ts` are too common in text. */
const words: ReadonlySet<string> = new Set(
  ("trace trc trce verbose vrb finest finer fine debug debug1 debug2 debug3 debug4 debug5 dbg dbug debg config " +
    "information info inf notice success warning warn wrn error erro eror err severe fail critical crit dpanic fatal " +
    "ftl panic alert emergency emerg").split(" "),
);
/** A level at the beginning of a line or right after its time. */
const levelFirst =
  /[[(<|\s\u2100-\u27bf\ufe0f]{0,8}([A-Za-z]{3,11}[1-5]?)(?=[\])>:|,\s]|\[\d|\/[A-Z]|$)(?: *\[[^\]]{0,60}\])?[\])>:|\s]*/y;
/** A letter after a time: `[E]`, `W [main]`, `I NETWORK`. */
const levelLetter = /^[\s\])>}|-]{0,8}\[?([DIWEF])(?:\]| +(?:\[|[A-Z]{2}))/;
const anyWord = /[A-Za-z]{3,11}[1-5]?/g;
/** A level further on: in brackets, between dashes, bars or tabs, or in capitals before a colon or after brackets. */
const places: readonly (readonly [before: RegExp, after: RegExp])[] = [
  [/[[<](?:[\w.]{1,40}:)?$/, /^\s*[\]>]/],
  [/(?: - | ?\| *|\t)$/, /^ *(?: - |\||\t|:\s)/],
  [/PHP (?:Fatal |Parse )?$/, /^: /],
];
const placesOfCapitals: typeof places = [
  [/(?:^|[\s.])$/, /^(?::\s| --|:$)/],
  [/^[\])>}]?(?:\s*(?:[([{][^\])}]{0,80}[)\]}]|-)){1,30}\s*$/, /^\s/],
  [/(?:^|[\s\]-])$/, /^ {2,}\S/],
];
/** A word beyond this length belongs to the message and is not the level. */
const headLength = 100;

/** The time and the level at the beginning of a line. */
export function headOf(line: string): TextHead {
  const cut = line.slice(0, 600);
  const plain = cut.includes("\x1b") ? cut.replace(colours, "") : cut;
  const [sent, number] = priority.exec(plain) ?? [""];
  const level = Number(number) < 192 ? syslogLevelOf(String(Number(number) % 8)) : null;
  return { ...level !== null && { level }, ...headBehind(plain.slice(sent.length)) };
}

function headBehind(near: string): TextHead {
  const start = lengthAt(beforeTime, near, 0);
  const letter = near.slice(start, start + lengthAt(glogLevel, near, start));
  const time = timeAt(near, start + letter.length);
  if (time !== undefined) {
    if (letter === "") return { ts: time.text, ...levelBehind(near.slice(time.end)) };
    const level = levelOfLetter(letter);
    return { ts: time.text, ...level !== null && { level } };
  }
  const first = levelAtStart(near);
  if (first === undefined) return {};
  const ts = timeAt(near, first.end)?.text;
  return { ...levelNamed(first.level), ...ts !== undefined && { ts } };
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

/** Most times: ISO 8601, followed by a zone or by something that is no zone. A match saves trying all other forms. */
const plainTime =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:(?:Z|[+-]\d\d:?\d\d)(?=[\s\])|])|(?=[\])|]| +\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|CRITICAL|FATAL)\b| (?!\[?[A-Z(]| ?[+−-]\d)))/y;

function timeAt(text: string, at: number): { text: string; end: number } | undefined {
  const plain = lengthAt(plainTime, text, at);
  if (plain > 0) return { text: text.slice(at, at + plain), end: at + plain };
  const end = printedTimeAt(text, at)?.end ?? at + lengthAt(unixTime, text, at);
  return end > at ? { text: text.slice(at, end), end } : undefined;
}

function levelAtStart(text: string): { level: string; end: number } | undefined {
  levelFirst.lastIndex = 0;
  const [, level] = levelFirst.exec(text) ?? [];
  if (level === undefined || !words.has(level.toLowerCase())) return undefined;
  return { level, end: levelFirst.lastIndex };
}

function levelBehind(text: string): Omit<TextHead, "ts"> {
  const head = text.slice(0, headLength);
  const first = levelAtStart(head.replace(/^[\])>}"\s\-:|,]+/, ""));
  if (first !== undefined) return levelNamed(first.level);
  const letter = levelLetter.exec(head)?.[1];
  const level = letter === undefined ? null : levelOfLetter(letter);
  if (level !== null) return { level };
  for (const { 0: found, index } of head.matchAll(anyWord)) {
    // LOG in capitals is a level of PostgreSQL; in lower case it is an ordinary word.
    if (!words.has(found.toLowerCase()) && found !== "LOG") continue;
    const before = head.slice(0, index);
    const after = head.slice(index + found.length);
    const fits = ([left, right]: typeof places[number]) => left.test(before) && right.test(after);
    const isCapital = found === found.toUpperCase();
    if ((found !== "LOG" && places.some(fits)) || (isCapital && placesOfCapitals.some(fits))) {
      return levelNamed(found);
    }
  }
  return {};
}

function levelNamed(said: string): Omit<TextHead, "ts"> {
  const lower = said.toLowerCase();
  const level = levelOf(lower);
  if (level === null) return {};
  return { level, ...level !== lower && { originalLevel: said } };
}
