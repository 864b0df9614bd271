import {
  type FieldKind,
  fieldKinds,
  levelWords,
} from "../../../supabase/functions/_shared/record_fields.ts";

// Reads words of the query language by the rules of the service's compiler.

const blanks = new Set([" ", "\t", "\r", "\n", "\u00a0"]);
const brackets = new Set(["(", ")", "[", "]", "{", "}", "|"]);

export const isBlank = (character: string): boolean => character === "" || blanks.has(character);
export const isBracket = (character: string): boolean => brackets.has(character);
/** Characters that may precede a word. */
export const isBoundary = (character: string): boolean =>
  isBlank(character) || isBracket(character);
const endsWord = (character: string): boolean => isBoundary(character) || character === '"';

/** The character at an offset, or "" beyond the text. */
export type Look = (offset: number) => string;

/** The name and length of a token. */
export interface Found {
  name: string;
  length: number;
}

/** Whether a token of this name is possible at a position. */
export type Can = (name: string) => boolean;

/** The word that starts here, or null if it ends with a lone backslash. */
export function runAt(look: Look, from: number): string | null {
  let text = "";
  for (let at = from; !endsWord(look(at)); at++) {
    text += look(at);
    if (look(at) !== "\\") continue;
    at += 1;
    if (look(at) === "") return null;
    text += look(at);
  }
  return text;
}

/** The quoted text that starts here, with its quotes, or null if it is not closed. */
export function quotedAt(look: Look, from: number): string | null {
  let text = '"';
  for (let at = from + 1;; at++) {
    const character = look(at);
    if (character === "") return null;
    text += character;
    if (character === '"') return text;
    if (character !== "\\") continue;
    at += 1;
    if (look(at) === "") return null;
    text += look(at);
  }
}

/** The position of the first unescaped colon, or -1. */
export function colonIn(text: string): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === ":") return at;
    if (text[at] === "\\") at += 1;
  }
  return -1;
}

/** A condition's field name with its colon, or null if there is no condition here. */
export function conditionAt(look: Look, from: number): string | null {
  let name = "";
  let run = runAt(look, from);
  if (run === null) return null;
  if (colonIn(run) < 0 && !/^(@|(@.*|attrs(\..*)?)\.)$/s.test(run)) return null;
  for (;;) {
    const colon = colonIn(run);
    if (colon >= 0) return name + run.slice(0, colon + 1);
    name += run;
    let at = from + name.length;
    if (look(at) === '"') {
      const quoted = quotedAt(look, at);
      if (quoted === null) return null;
      name += quoted;
      at += quoted.length;
    }
    run = runAt(look, at);
    if (run === null || (run === "" && look(at) !== '"')) return null;
  }
}

const segment = String.raw`(?:[\p{L}\p{Nd}_-]+|"(?:[^"\\]|\\[\s\S])*")`;
const attributePath = new RegExp(`^(?:attrs\\.|@)${segment}(?:\\.${segment})*$`, "u");

export function fieldKind(name: string): FieldKind | "any" | null {
  if (name === "any") return name;
  if (name !== "attrs" && Object.hasOwn(fieldKinds, name)) return fieldKinds[name] ?? null;
  return attributePath.test(name) && name !== "@timestamp" ? "attrs" : null;
}

/** The text without quotes and escapes. Wildcards stay. */
export function textOf(token: string): string {
  const inner = token.startsWith('"') ? token.slice(1, -1) : token;
  return inner.replace(/\\([\s\S])/g, "$1");
}

export function hasWildcard(token: string): boolean {
  return !token.startsWith('"') && /[*?]/.test(token.replace(/\\[\s\S]/g, ""));
}

const levels: ReadonlySet<string> = new Set(Object.values(levelWords).flat());

export function isLevel(token: string): boolean {
  const word = textOf(token).toLowerCase();
  return !hasWildcard(token) && (levels.has(word) || /^[1-9]\d(\.\d+)?$/.test(word));
}

export function isUuid(token: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(textOf(token));
}

const duration = String.raw`\d{1,15}(?:\.\d{1,9})? ?(?:ns|us|µs|μs|ms|s|m|h|d|w)`;
const time = new RegExp(`^-?${duration}(?: ?${duration})*$`);
const size = /^\d{1,15}(?:\.\d{1,9})? ?(?:[kmgtp]i?)?b$/i;

export type Measure = "number" | "time" | "size";

/** What a number in a comparison measures, or null if it is not a number. */
export function measureOf(token: string): Measure | null {
  if (token.startsWith('"')) return null;
  const text = textOf(token);
  if (new TextEncoder().encode(text).length <= 64) {
    if (time.test(text)) return "time";
    if (size.test(text) && !/[\u0080-\uffff]/.test(text)) return "size";
  }
  if (!/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return null;
  return Number(/[eE][+-]?(\d+)$/.exec(text)?.[1] ?? 0) > 400 ? null : "number";
}

/** Four numbers without leading zeros. */
function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 &&
    parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

/** Eight groups, `::` for one or more of them, an IPv4 address for the last two: RFC 4291, 2.2. */
function isIpv6(text: string): boolean {
  const tail = /[^:]*$/.exec(text)?.[0] ?? "";
  const isMixed = tail.includes(".");
  if (isMixed && !isIpv4(tail)) return false;
  const halves = (isMixed ? `${text.slice(0, -tail.length)}0:0` : text).split("::");
  const groups = halves.flatMap((half) => half === "" ? [] : half.split(":"));
  return groups.every((group) => /^[\da-f]{1,4}$/i.test(group)) &&
    (halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8);
}

/** Whether a text looks like a network but is not a valid one. */
export function isNoNetwork(token: string): boolean {
  const [address = "", prefix = ""] = token.split("/");
  if (/^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/.test(token)) {
    return !isIpv4(address) || Number(prefix) > 32;
  }
  if (!/^[\da-f]*:[\da-f:.]*:[\da-f:.]*\/\d{1,3}$/i.test(token)) return false;
  // 12:30:45/2 is a text.
  const isMeant = address.includes("::") || /^([\da-f]{1,4}:){7}[\da-f]{1,4}$/i.test(address);
  return isMeant && !(isIpv6(address) && /^(0|[1-9]\d*)$/.test(prefix) && Number(prefix) <= 128);
}

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };
const century = 3155760000;
const isoTime =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:[Zz]|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)?)?$/;

export function isTime(token: string): boolean {
  const text = textOf(token);
  const shift = /^(?:now|(?:now)?([+-]\d{1,10})([smhdw]))$/.exec(text);
  if (shift) {
    const seconds = Number(shift[1] ?? 0) * (unitSeconds[shift[2] ?? ""] ?? 0);
    return Math.abs(seconds) <= century;
  }
  const match = isoTime.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return year > 0 && date.getUTCFullYear() === year && date.getUTCMonth() === month - 1;
}
