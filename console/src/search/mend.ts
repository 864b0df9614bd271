import type { QueryValidity } from "../service/logloom.ts";

export interface Suggestion {
  text: string;
  /** The character where it is to be written, from 1. */
  at: number;
}

/** What the service suggests to write, and where. */
export function suggestionOf(verdict: QueryValidity): Suggestion | null {
  if (!verdict.valid) {
    // A hint is for people: only one that is nothing but a query can be written.
    const text = /^Write (\S*[:|"@(]\S*|\S*\([^()]*\))\.?$/.exec(verdict.hint ?? "")?.[1]
      ?.replace(/\.$/, "");
    return text && verdict.position !== null ? { text, at: verdict.position } : null;
  }
  const warning = verdict.warnings[0];
  return warning ? { text: warning.suggestion, at: warning.position } : null;
}

/** The most words that a suggestion stands for. */
const mostWords = 7;
const bare = (word: string) => word.replace(/[^\p{L}\p{N}]+/gu, " ").trim().toLowerCase();

/**
 * The query with the suggestion in the place of the words that it stands for: up to the one that it ends with, since a
 * suggestion says the same in another form. `service = shop` ends as `service:shop` does.
 */
export function mended(query: string, { text, at }: Suggestion): string {
  // The service counts characters, the editor code units.
  const before = [...query].slice(0, at - 1).join("");
  const words = query.slice(before.length).trim().split(/\s+/);
  const last = bare(text).split(" ").at(-1) ?? "";
  const end = words.slice(0, mostWords).findIndex((word) => bare(word).split(" ").at(-1) === last);
  return `${before}${[text, ...words.slice(end < 0 ? 1 : end + 1)].join(" ")}`;
}
