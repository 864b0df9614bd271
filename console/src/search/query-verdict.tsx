import { useEffect, useState } from "react";
import { filterOf } from "../language/edit-query.ts";
import { useOperation } from "../service/operation-hooks.ts";
import type { QueryValidity, QueryWarning } from "../service/logloom.ts";
import { plain } from "../shared/safe-text.ts";
import { say } from "../shared/translate.ts";
import { excerptOf } from "./query-diagnostics.ts";
import { type Suggestion, suggestionIn, suggestionOf, withSuggestion } from "./query-suggestion.ts";
import { Button } from "../shared/basic-controls.tsx";
import { type Run, runQuery } from "./search-run.ts";

/** Validates the query while you type. `of` is the text that the verdict is for. */
export function useVerdict(text: string): { verdict: QueryValidity | null; of: string } {
  const [asked, setAsked] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const answer = useOperation(
    "validate_query",
    { p_query_dsl: asked },
    { enabled: asked.trim() !== "" },
  );
  return { verdict: asked.trim() === "" ? null : answer.data ?? null, of: asked };
}

/** Shows the query's error and a button that corrects it. */
export function QueryVerdict({ text, onCorrect }: {
  text: string;
  onCorrect: (query: string) => void;
}) {
  const { verdict, of } = useVerdict(text);
  if (of !== text) return <p className="verdict" aria-live="polite" />;
  if (verdict && !verdict.valid) {
    const [before, from] = excerptOf(text, verdict.position ?? 1);
    return (
      <p className="verdict bad" role="status" data-testid="query-error">
        <code className="verdict-place" aria-hidden="true">
          {before}
          <mark>{from || "\u2423"}</mark>
        </code>
        <span>
          <strong>{verdict.error}</strong>
          {verdict.position !== null && (
            <>{" "}{say("at position {position}", { position: verdict.position })}</>
          )}
          {verdict.hint && <>{" "}— {verdict.hint}</>}
        </span>
        <SuggestionButton text={text} suggestion={suggestionOf(verdict)} onCorrect={onCorrect} />
      </p>
    );
  }
  const warning = verdict?.warnings[0];
  return (
    <p className={warning ? "verdict warn" : "verdict"} role="status">
      {warning && verdict && (
        <>
          <span>{warning.message}</span>
          <SuggestionButton text={text} suggestion={suggestionOf(verdict)} onCorrect={onCorrect} />
        </>
      )}
    </p>
  );
}

/** Says what the query of an empty answer probably means, unless the query box says it. */
export function AnswerHint({ text, warning, onCorrect }: {
  text: string;
  warning: QueryWarning | undefined;
  onCorrect: (query: string) => void;
}) {
  const { verdict } = useVerdict(text);
  if (!warning || verdict?.warnings[0]?.message === warning.message) return null;
  return (
    <p className="about" data-testid="answer-hint">
      {warning.message}{" "}
      <SuggestionButton text={text} suggestion={suggestionIn(warning)} onCorrect={onCorrect} />
    </p>
  );
}

/** Says what a query probably means whose numbers or patterns are empty: the hint for its filter. */
export function HintForNothing({ run }: { run: Run }) {
  const filter = filterOf(run.query);
  const records = useOperation("search_logs", {
    p_query_dsl: filter,
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
    p_limit: 1,
  }, { enabled: run.instants !== null });
  const warning = records.data?.warnings[0];
  const stages = run.query.startsWith(filter) ? run.query.slice(filter.length) : null;
  return (
    <AnswerHint
      text={run.query}
      warning={warning && {
        ...warning,
        suggestion: warning.suggestion && stages !== null ? warning.suggestion + stages : "",
      }}
      onCorrect={runQuery}
    />
  );
}

/** Applies the service's suggestion. */
function SuggestionButton({ text, suggestion, onCorrect }: {
  text: string;
  suggestion: Suggestion | null;
  onCorrect: (query: string) => void;
}) {
  if (suggestion === null) return null;
  return (
    <Button look="small" onClick={() => onCorrect(withSuggestion(text, suggestion))}>
      {say("Write")} <code>{plain(suggestion.text)}</code>
    </Button>
  );
}
