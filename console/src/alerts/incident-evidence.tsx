import { useMemo } from "react";
import { go } from "../address/address.ts";
import { ChangesView } from "../search/changes-view.tsx";
import { type EditQuery, EditQueryContext } from "../search/edit-query-context.ts";
import { PatternsView } from "../search/patterns-view.tsx";
import type { Run } from "../search/search-run.ts";
import { useOperation } from "../service/operation-hooks.ts";
import { Loaded } from "../shared/list-table.tsx";
import { RecordList } from "../search/record-list.tsx";
import { say } from "../shared/translate.ts";

const mostRecords = 10;

/** What the records of an incident say: their patterns, what changed, the newest ones. A click leads to the search. */
export function IncidentEvidence({ query, range }: {
  query: string;
  range: { from: string; to: string };
}) {
  const { from, to } = range;
  const run = useMemo<Run>(() => {
    const instants = { from, to };
    return { query, range: instants, instants, isAggregate: false, isLive: false, order: "desc" };
  }, [query, from, to]);
  const search: EditQuery = (edit) =>
    go({ screen: "search", parameters: { q: edit(query), from, to } });
  return (
    <EditQueryContext value={search}>
      <section className="block evidence">
        <h2>{say("Patterns")}</h2>
        <PatternsView run={run} label={say("Patterns of the incident")} />
      </section>
      <section className="block evidence">
        <h2>{say("What changed?")}</h2>
        <ChangesView run={run} label={say("Changes in the incident")} />
      </section>
      <NewestRecords query={query} range={range} />
    </EditQueryContext>
  );
}

function NewestRecords({ query, range: { from, to } }: {
  query: string;
  range: { from: string; to: string };
}) {
  const answer = useOperation("search_logs", {
    p_query_dsl: query,
    p_ts_from: from,
    p_ts_to: to,
    p_limit: mostRecords,
  });
  return (
    <section className="block">
      <h2>{say("Newest records")}</h2>
      <Loaded answer={answer}>
        {({ logs }) => <RecordList records={logs} place={{ q: query, from, to }} />}
      </Loaded>
    </section>
  );
}
