import type { Diagnostic } from "@codemirror/lint";
import type { QueryValidity } from "../service/logloom.ts";

/** The query before an error and from it on, with an ellipsis where it is cut. */
export function excerptOf(query: string, position: number): [before: string, from: string] {
  const characters = [...query];
  const before = characters.slice(0, position - 1).join("");
  const from = characters.slice(position - 1).join("");
  return [before.replace(/^.{2,}(?=.{12}$)/su, "…"), from.replace(/(?<=^.{12}).{2,}$/su, "…")];
}

/** The service counts characters, the editor code units. */
export function marksOf(query: string, verdict: QueryValidity | null): Diagnostic[] {
  const place = (position: number | null) => {
    const before = [...query].slice(0, Math.max(0, (position ?? 1) - 1)).join("").length;
    const from = Math.min(before, Math.max(0, query.length - 1));
    const word = /^[^\s]+/.exec(query.slice(from))?.[0].length ?? 1;
    return { from, to: Math.min(query.length, from + word) };
  };
  if (verdict && !verdict.valid) {
    return [{
      ...place(verdict.position),
      severity: "error",
      message: [verdict.error, verdict.hint].filter(Boolean).join(" — "),
    }];
  }
  return (verdict?.warnings ?? []).map((warning) => ({
    ...place(warning.position),
    severity: "warning",
    message: `${warning.message} — ${warning.suggestion}`,
  }));
}
