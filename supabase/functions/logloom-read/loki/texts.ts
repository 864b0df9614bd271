import { refuse } from "./refusal.ts";

const escapes: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** What a string of LogQL holds: as in Go, raw between backticks, else with escapes. */
export function stringOf(literal: string): string {
  const inner = literal.slice(1, -1);
  if (literal.startsWith("`")) return storable(inner);
  return storable(inner.replace(
    /\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|[\s\S]?)/g,
    (escape, rest: string) => {
      if (/^[xuU]./.test(rest)) return ofCode(parseInt(rest.slice(1), 16), escape);
      if (/^[0-7]{3}$/.test(rest)) return ofCode(parseInt(rest, 8), escape);
      if (/^["'\\]$/.test(rest)) return rest;
      return escapes[rest] ?? refuse(`parse error: invalid escape ${escape} in a string`);
    },
  ));
}

function ofCode(code: number, escape: string): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : refuse(`parse error: invalid ${escape}`);
}

/** PostgreSQL holds neither NUL nor half a surrogate pair. */
function storable(text: string): string {
  return text.includes("\0") || !text.isWellFormed()
    ? refuse("parse error: a string contains a character that no record can have")
    : text;
}

/** A value for our query language, where a quoted text means itself. */
export function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** A regular expression for our query language, which undoes \" and leaves all else to the expression. */
export function quotedRegex(pattern: string): string {
  const inner = pattern.replace(/\\([\s\S]?)|"/g, (found, escaped: string | undefined) => {
    if (escaped === "") return refuse("error parsing regexp: trailing backslash");
    return escaped === undefined || escaped === '"' ? '\\"' : found;
  });
  return `"${inner}"`;
}

export interface Regex {
  /** What (?i) asked for. */
  readonly isFolded: boolean;
  readonly body: string;
}

export function regexOf(pattern: string): Regex {
  const isFolded = pattern.startsWith("(?i)");
  return { isFolded, body: isFolded ? pattern.slice(4) : pattern };
}

/** The texts that an expression such as `api|web\.1` names; undefined where it is more than that. */
export function alternatives({ isFolded, body }: Regex): string[] | undefined {
  if (isFolded || !/^(?:[^\\^$.*+?()[\]{}]|\\[^0-9A-Za-z])*$/.test(body)) return undefined;
  return (body.match(/(?:[^\\|]|\\[\s\S])+|(?<=^|\|)(?=\||$)/g) ?? [""])
    .map((text) => text.replace(/\\([\s\S])/g, "$1"));
}

/** Whether the whole of a short text matches, as Loki anchors the expressions of labels. */
export function matchesWhole({ isFolded, body }: Regex, text: string): boolean {
  try {
    return new RegExp(`^(?:${body})$`, isFolded ? "isu" : "su").test(text);
  } catch {
    return refuse(`error parsing regexp: ${body} is not understood here`);
  }
}

/** The expression that finds exactly this text. */
export function literalRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
