import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { rowTime } from "../address/range.ts";
import { filterOf, withClause } from "../language/edit-query.ts";
import { useService } from "../service/operation-hooks.ts";
import { Badge, IconButton } from "../shared/basic-controls.tsx";
import { count } from "../shared/format-number.ts";
import { oneLine } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { Sparkline } from "../shared/sparkline.tsx";
import { LogText } from "../shared/log-text.tsx";
import { say } from "../shared/translate.ts";
import { gap, literalOf, type Pattern, withPattern } from "./patterns.ts";
import { useEditQuery } from "./edit-query-context.ts";
import type { Run } from "./search-run.ts";

const buckets = 24;

/** A pattern with its trend. A click filters the query by it. */
export function PatternRow({ pattern, run, isNew }: {
  pattern: Pattern;
  run: Run;
  isNew: boolean;
}) {
  const { zone } = usePreferences();
  const edit = useEditQuery();
  const literal = literalOf(pattern.text);
  const row = useRef<HTMLTableRowElement>(null);
  const trend = useTrend(row, run, literal);
  return (
    <tr ref={row}>
      <td className="trend">{trend && <Sparkline values={trend} />}</td>
      <td className="number">{count(pattern.count)}</td>
      <td className="pattern" title={oneLine(pattern.example, 500)}>
        <button
          type="button"
          className="group-value"
          disabled={literal === ""}
          onClick={() => edit((query) => withPattern(query, pattern.text, "in"))}
        >
          <PatternText text={oneLine(pattern.text, 400)} />
        </button>{" "}
        {isNew && <Badge tone="warn">{say("new since yesterday")}</Badge>}
      </td>
      <td className="first-seen">
        <time dateTime={pattern.first}>{rowTime(pattern.first, zone)}</time>
      </td>
      <td>
        <IconButton
          icon="minus"
          label={say("Without {text}", { text: oneLine(pattern.text, 60) })}
          disabled={literal === ""}
          onClick={() => edit((query) => withPattern(query, pattern.text, "out"))}
        />
      </td>
    </tr>
  );
}

function PatternText({ text }: { text: string }) {
  return text.split(gap).map((part, i) => (
    <span key={i}>
      {i > 0 && <span className="gap">{gap}</span>}
      <LogText text={part} />
    </span>
  ));
}

let queue: Promise<unknown> = Promise.resolve();

/** Runs requests one after another: a tenant may run few searches at once, and trends are the least urgent. */
function inTurn<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const next = queue.then(ask, ask);
  queue = next.catch(() => {});
  return next;
}

/** The number of records with the pattern's longest text over time, loaded when the row is visible. */
function useTrend(
  row: { current: Element | null },
  run: Run,
  literal: string,
): number[] | undefined {
  const service = useService();
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (!row.current || isSeen) return;
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) setSeen(true);
    });
    observer.observe(row.current);
    return () => observer.disconnect();
  }, [row, isSeen]);
  const filter = literal === "" ? "" : withClause(filterOf(run.query), "msg", literal, "in");
  const trend = useQuery({
    queryKey: ["trend", filter, run.instants],
    enabled: isSeen && literal !== "" && run.instants !== null,
    queryFn: ({ signal }) =>
      inTurn(() =>
        signal.aborted ? Promise.reject(signal.reason) : service.histogram(filter, {
          since: run.instants?.from,
          until: run.instants?.to,
          buckets,
          signal,
        })
      ),
  });
  return trend.data?.buckets.map((bucket) => bucket.count);
}
