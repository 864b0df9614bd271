import type { QueryValidity, QueryWarning } from "../service/logloom.ts";

export interface Suggestion {
  text: string;
  /** The position to write it at; the first character is 1. null: instead of the whole query. */
  at: number | null;
}

/** The suggestion of a warning. A warning may only say what there is. */
export function suggestionIn({ message, position, suggestion }: QueryWarning): Suggestion | null {
  if (suggestion === "") return null;
  return { text: suggestion, at: /Replace the whole query/.test(message) ? null : position };
}

/** The service's suggestion for a wrong or doubtful query. */
export function suggestionOf(verdict: QueryValidity): Suggestion | null {
  if (!verdict.valid) {
    const hint = verdict.hint ?? "";
    const whole = /^Write the whole query as (.*?)(?: \(without .*\))?$/s.exec(hint)?.[1];
    if (whole) return { text: whole, at: null };
    // Most hints are sentences. Only one that is a piece of a query can be inserted.
    const text = /^Write (\S*[:|"@(]\S*|\S*\([^()]*\))\.?$/.exec(hint)?.[1]?.replace(/\.$/, "");
    return text && verdict.position !== null ? { text, at: verdict.position } : null;
  }
  return verdict.warnings[0] ? suggestionIn(verdict.warnings[0]) : null;
}

/** The most words that a suggestion replaces. */
const mostWords = 7;
const bare = (word: string) => word.replace(/[^\p{L}\p{N}]+/gu, " ").trim().toLowerCase();

/**
 * The query with the suggestion applied. It replaces the words up to the one it ends with: `service:shop` replaces
 * `service = shop`, because both end with `shop`.
 */
export function withSuggestion(query: string, { text, at }: Suggestion): string {
  if (at === null) return text;
  // The service counts characters, JavaScript counts code units.
  const before = [...query].slice(0, at - 1).join("");
  const words = query.slice(before.length).trim().split(/\s+/);
  const last = bare(text).split(" ").at(-1) ?? "";
  const end = words.slice(0, mostWords).findIndex((word) => bare(word).split(" ").at(-1) === last);
  return `${before}${[text, ...words.slice(end < 0 ? 1 : end + 1)].join(" ")}`;
}
