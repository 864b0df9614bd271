import type { Diagnostic } from "@codemirror/lint";
import type { QueryValidity } from "../service/logloom.ts";

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
