import { refuse } from "./loki_error.ts";

const escapes: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** The text of a LogQL string. As in Go: raw between backticks, with escapes between quotes. */
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

/** Refuses NUL and half a surrogate pair, which PostgreSQL cannot store. */
function storable(text: string): string {
  return text.includes("\0") || !text.isWellFormed()
    ? refuse("parse error: a string has a NUL or half a surrogate pair")
    : text;
}

/** A value in quotes, which our query language takes literally. */
export function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

/** A regular expression in quotes. Our query language unescapes only \" in it. */
export function quotedRegex(pattern: string): string {
  const inner = pattern.replace(/\\([\s\S]?)|"/g, (found, escaped: string | undefined) => {
    if (escaped === "") return refuse("error parsing regexp: trailing backslash");
    return escaped === undefined || escaped === '"' ? '\\"' : found;
  });
  return `"${inner}"`;
}

export interface Regex {
  /** Whether the expression begins with (?i). */
  readonly isFolded: boolean;
  readonly body: string;
}

export function regexOf(pattern: string): Regex {
  const isFolded = pattern.startsWith("(?i)");
  return { isFolded, body: isFolded ? pattern.slice(4) : pattern };
}

/** The texts that an expression such as `api|web\.1` lists; undefined for any other expression. */
export function alternatives({ isFolded, body }: Regex): string[] | undefined {
  if (isFolded || !/^(?:[^\\^$.*+?()[\]{}]|\\[^0-9A-Za-z])*$/.test(body)) return undefined;
  return (body.match(/(?:[^\\|]|\\[\s\S])+|(?<=^|\|)(?=\||$)/g) ?? [""])
    .map((text) => text.replace(/\\([\s\S])/g, "$1"));
}

/** The expression that finds exactly this text. */
export function literalRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
