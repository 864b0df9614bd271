import { refuse } from "./loki_error.ts";
import { LokiRegex } from "./loki_regex.ts";
import { textTest } from "./line_parsers.ts";
import { alternatives, literalRegex, quoted, quotedRegex, regexOf } from "./string_literals.ts";

/** Filters of our query language. */
export const everything = "*";
/** Every record has a ts. */
export const nothing = "-ts:*";

export function all(filters: readonly string[]): string {
  const told = filters.filter((filter) => filter !== everything);
  if (told.includes(nothing)) return nothing;
  return told.length === 0 ? everything : told.join(" ");
}

export function any(filters: readonly string[]): string {
  const told = filters.filter((filter) => filter !== nothing);
  if (told.includes(everything)) return everything;
  if (told.length < 2) return told[0] ?? nothing;
  return `(${told.map((filter) => filter.includes(" ") ? `(${filter})` : filter).join(" OR ")})`;
}

export function not(filter: string): string {
  if (filter === everything) return nothing;
  if (filter === nothing) return everything;
  return /^-|\s/.test(filter) ? `-(${filter})` : `-${filter}`;
}

/**
 * The filter of a label matcher such as `field="value"`. Loki compares the whole value, and treats an absent label as an
 * empty text. `withoutLevel` is the value that a record without a level counts as.
 */
export function ofLabel(field: string, operator: string, value: string, withoutLevel = ""): string {
  const isNegative = operator.startsWith("!");
  const isRegex = operator.endsWith("~");
  if (
    field !== "level" && (operator === "!=" ? value === "" : operator === "=~" && value === ".+")
  ) {
    return `${field}:* -${field}:""`;
  }
  const positive = field === "level"
    ? ofLevel(isRegex, value, withoutLevel)
    : isRegex
    ? ofRegex(field, value)
    : ofValue(field, value);
  return isNegative ? not(positive) : positive;
}

function ofValue(field: string, value: string): string {
  return value === "" ? any([`-${field}:*`, `${field}:""`]) : `${field}:${quoted(value)}`;
}

function ofRegex(field: string, pattern: string): string {
  const regex = regexOf(pattern);
  if (regex.body === ".*") return everything;
  if (regex.body === ".+") return `(${field}:* -${field}:"")`;
  const values = alternatives(regex);
  if (values !== undefined) {
    const full = values.filter((value) => value !== "").map(quoted);
    const found = full.length > 1 ? `${field}:(${full.join(" OR ")})` : `${field}:${full[0]}`;
    return any([
      ...full.length === 0 ? [] : [found],
      ...values.includes("") ? [ofValue(field, "")] : [],
    ]);
  }
  const anchored = `${regex.isFolded ? "(?i)" : ""}^(?:${regex.body})$`;
  const found = `${field}:~${quotedRegex(anchored)}`;
  return new LokiRegex(pattern, { isWhole: true }).test("") ? any([found, `-${field}:*`]) : found;
}

const levels = ["debug", "info", "warn", "error"];

function ofLevel(isRegex: boolean, value: string, withoutLevel: string): string {
  const matches = textTest(isRegex ? "=~" : "=", value);
  const found = levels.filter(matches);
  const isNone = matches(withoutLevel);
  if (found.length === levels.length) return isNone ? everything : "level:*";
  const some = found.length > 1 ? `level:(${found.join(" OR ")})` : `level:${found[0]}`;
  return any([...found.length === 0 ? [] : [some], ...isNone ? ["-level:*"] : []]);
}

const lineFilters: Record<string, (value: string) => string> = {
  "=": containing,
  "~": ofLineRegex,
  ">": ofPattern,
};

/** A line filter: finds a part of the text, in the same letter case. */
export function ofLine(operator: string, value: string): string {
  const made = lineFilters[operator.slice(1)] ??
    refuse(`line filter ${operator} is not supported`);
  return operator.startsWith("!") ? not(made(value)) : made(value);
}

function containing(value: string): string {
  if (value === "") return everything;
  // A text without letters has no letter case.
  if (value.toLowerCase() === value.toUpperCase()) return `msg:${quoted(value)}`;
  return `msg:~${quotedRegex(literalRegex(value))}`;
}

function ofLineRegex(pattern: string): string {
  return pattern === "" || pattern === ".*" ? everything : `msg:~${quotedRegex(pattern)}`;
}

/** A pattern filter: `<_>` stands for any text, everything else for itself. */
function ofPattern(pattern: string): string {
  const [named] = pattern.match(/<[A-Za-z]\w*>/) ?? [];
  if (named !== undefined) refuse(`${named} in a line filter: only <_> is allowed there`);
  const parts = pattern.split("<_>").map(literalRegex);
  return `msg:~${quotedRegex(`^${parts.join(".+")}$`)}`;
}

/** A condition on the first of a label's fields that a record has; `last` is for records that have none of them. */
export function ofFirst(
  fields: readonly string[],
  made: (field: string) => string,
  last?: string,
): string {
  const [field, ...rest] = fields;
  if (field === undefined && last !== undefined) return last;
  const other = rest.length > 0 ? ofFirst(rest, made, last) : last;
  if (other === undefined) return made(field);
  return any([all([`${field}:*`, made(field)]), all([`-${field}:*`, other])]);
}

/** A condition on the member of a line with this name. A line has only one of the fields. */
export function ofAnyMember(
  fields: readonly string[],
  made: (field: string) => string,
  takesAbsent: boolean,
): string {
  return takesAbsent ? all(fields.map(made)) : any(fields.map(made));
}

/** A matcher of a label that no record has: true for all records if an empty text matches. */
export function ofAbsent(operator: string, value: string): string {
  const found = ofLabel("level", operator.replace(/^!=?/, "="), value);
  const isEmpty = found === everything || found.includes("-level:*");
  return isEmpty !== operator.startsWith("!") ? everything : nothing;
}

/** `field > 5s`: numbers compare with numbers, quantities with quantities of their unit. A size may be plain bytes. */
export function ofQuantity(field: string, operator: string, literal: string): string {
  if (!field.startsWith("attrs.")) {
    return refuse(`label filter ${field} ${operator} ${literal}: only attributes hold numbers`);
  }
  const bytes = bytesOf(literal);
  const literals = bytes === undefined ? [literal] : [literal, bytes];
  const exact = any(literals.map((bound) => `${field}:[${bound} TO ${bound}]`));
  if (operator === "=" || operator === "==") return exact;
  // In Loki a record without the label does not match.
  if (operator === "!=") return `${field}:* -${exact}`;
  return any(literals.map((bound) => `${field}:${operator}${bound}`));
}

const prefixes = ["", "k", "m", "g", "t", "p"];

/** The bytes of a size such as `1.5MB`; undefined for other texts. */
export function bytesOf(literal: string): string | undefined {
  const [, number, prefix, isBinary] =
    /^([0-9.]+)\s*([kmgtp]?)(i?)b$/i.exec(literal.replaceAll(",", "")) ?? [];
  if (number === undefined) return undefined;
  const bytes = Number(number) *
    (isBinary === "" ? 1000 : 1024) ** prefixes.indexOf(prefix.toLowerCase());
  return Number.isSafeInteger(Math.trunc(bytes)) ? String(Math.trunc(bytes)) : undefined;
}

/** `field = ip("10.0.0.0/8")`. */
export function ofAddress(field: string, operator: string, value: string): string {
  if (!/^[0-9A-Fa-f.:]+(?:\/[0-9]{1,3})?$/.test(value)) {
    return refuse(`ip(${JSON.stringify(value)}): only an address or a network is supported`);
  }
  const bits = value.includes(":") ? 128 : 32;
  const found = `${field}:${value.includes("/") ? value : `${value}/${bits}`}`;
  // A record without the label does not match here either.
  return operator === "!=" ? all([`${field}:*`, not(found)]) : found;
}

/** Whether a filter takes at most half of a query's characters and terms: selector and groups need the rest. */
export function isShort(dsl: string): boolean {
  return dsl.length <= 1024 && dsl.split(/:| OR /).length <= 32;
}
