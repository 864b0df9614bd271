import { seconds } from "../shared/format-number.ts";
import { useEffect, useState } from "react";
import { presets } from "../address/range.ts";
import type { LogloomError } from "../service/logloom.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { Button, ErrorNote } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";
import { type Run, runRange } from "./search-run.ts";

/** A search's error with the next step: a shorter range after a 408, a countdown after a 429. */
export function SearchError({ error, run, retry }: {
  error: LogloomError;
  run: Run;
  retry: () => void;
}) {
  const wait = error.status === 429 ? Math.ceil(error.retryAfterMs / 1000) || 5 : 0;
  const [left, setLeft] = useState(wait);
  // Each error has its own waiting time.
  useEffect(() => setLeft(wait), [error, wait]);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => {
      setLeft(left - 1);
      if (left === 1) retry();
    }, 1000);
    return () => clearTimeout(timer);
  }, [left, retry]);
  // An error in the query is already shown below the box.
  const verdict = useOperation("validate_query", { p_query_dsl: run.query }, {
    enabled: error.status === 400,
  });
  if (error.status === 400 && (verdict.isPending || verdict.data?.valid === false)) {
    return <p className="results-none about">{say("Correct the query to see results.")}</p>;
  }
  if (error.status === 429) {
    return (
      <div className="note warn" role="alert">
        <p>
          <strong>{error.message}</strong> {error.hint}{" "}
          {left > 0
            ? say("Trying again in {span}.", { span: seconds(left) })
            : say("Trying again…")}
        </p>
      </div>
    );
  }
  const narrower = error.status === 408 && run.instants
    ? narrow((Date.parse(run.instants.to) - Date.parse(run.instants.from)) / 60_000)
    : undefined;
  return (
    <div className="results-error">
      <ErrorNote error={error} retry={error.status === 400 ? undefined : retry} />
      {narrower && (
        <Button onClick={() => runRange({ from: narrower.from, to: "now" })}>
          {say("Show only: {range}", { range: say(narrower.label) })}
        </Button>
      )}
    </div>
  );
}

function narrow(minutes: number): (typeof presets)[number] | undefined {
  return presets.findLast((preset) => preset.minutes < minutes - 0.5);
}
