import { useState } from "react";
import { useService } from "../service/hooks.ts";
import type { QueryValidity } from "../service/logloom.ts";

/** What the service suggests to write, and where. */
export function suggestionOf(verdict: QueryValidity): { text: string; at: number } | null {
  if (!verdict.valid) {
    const text = /^Write ([^\s,]+:\S*?|\S*[:|"@]\S*?)(?:[.,] .*|[.,])?$/.exec(verdict.hint ?? "")
      ?.[1];
    return text && verdict.position !== null ? { text, at: verdict.position } : null;
  }
  const warning = verdict.warnings[0];
  return warning ? { text: warning.suggestion, at: warning.position } : null;
}

/** The most words that a suggestion stands for. */
const mostWords = 7;

/** The query with the suggestion in the place of so many words. */
export function mended(query: string, at: number, suggestion: string, words: number): string {
  // The service counts characters, the editor code units.
  const before = [...query].slice(0, at - 1).join("");
  const rest = query.slice(before.length);
  const taken = new RegExp(`^(?:\\S+\\s*){${words}}`).exec(rest)?.[0] ?? rest;
  const after = rest.slice(taken.length);
  return `${before}${suggestion}${after === "" ? "" : ` ${after}`}`;
}

/** Asks the service which of the words the suggestion stands for: the first query with fewer mistakes is it. */
export function useMend(
  query: string,
  verdict: QueryValidity,
  onMend: (query: string) => void,
) {
  const service = useService();
  const [isBusy, setBusy] = useState(false);
  const mend = async () => {
    const suggestion = suggestionOf(verdict);
    if (!suggestion) return;
    setBusy(true);
    const { at, text } = suggestion;
    const words = [...query].slice(at - 1).join("").trim().split(/\s+/).length;
    for (let n = 1; n <= Math.min(words, mostWords); n++) {
      const wanted = mended(query, at, text, n);
      const next = await service.validate(wanted).catch(() => null);
      const isBetter = next?.valid &&
        (!verdict.valid || next.warnings.length < verdict.warnings.length);
      if (isBetter || n === Math.min(words, mostWords)) {
        setBusy(false);
        return onMend(isBetter ? wanted : mended(query, at, text, 1));
      }
    }
  };
  return { mend: () => void mend(), isBusy };
}
