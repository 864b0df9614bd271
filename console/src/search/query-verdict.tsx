import { useEffect, useState } from "react";
import { useOperation } from "../service/hooks.ts";
import type { QueryValidity } from "../service/logloom.ts";
import { otherLanguage } from "../language/warnings.ts";

/** The service's verdict while you type: the error in place, with a suggestion. */
export function useVerdict(
  text: string,
): { verdict: QueryValidity | null; of: string } {
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const answer = useOperation(
    "validate_query",
    { p_query_dsl: asked },
    {
      enabled: asked.trim() !== "",
    },
  );
  return {
    verdict: asked.trim() === "" ? null : answer.data ?? null,
    of: asked,
  };
}

export function QueryVerdict({ text }: { text: string }) {
  const { verdict, of } = useVerdict(text);
  if (of !== text) return <p className="verdict" aria-live="polite" />;
  if (verdict && !verdict.valid) {
    const at = verdict.position ?? 1;
    return (
      <p className="verdict bad" role="status" data-testid="query-error">
        <code className="verdict-place" aria-hidden="true">
          {[...text].slice(Math.max(0, at - 13), at - 1).join("")}
          <mark>{[...text].slice(at - 1, at + 11).join("") || "\u2423"}</mark>
        </code>
        <span>
          <strong>{verdict.error}</strong>
          {verdict.position !== null && <>{" "}at position {verdict.position}</>}
          {verdict.hint && <>{" "}— {verdict.hint}</>}
        </span>
      </p>
    );
  }
  const told = verdict?.warnings?.map(({ message, suggestion }) => `${message} — ${suggestion}`);
  const warnings = told?.length ? told : otherLanguage(text);
  return (
    <p className={warnings.length ? "verdict warn" : "verdict"} role="status">
      {warnings[0] && <span>{warnings[0]}</span>}
    </p>
  );
}
