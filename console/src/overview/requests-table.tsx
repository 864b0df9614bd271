import { go } from "../address/address.ts";
import type { Range } from "../address/range.ts";
import { withClause } from "../language/edit-query.ts";
import { Groups } from "../search/groups-table.tsx";
import { useOperation } from "../service/operation-hooks.ts";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { say } from "../shared/translate.ts";

const served = "attrs.kind:span attrs.span_kind:server";
const query = `${served} | count() as requests, count() if (level:error) as errors, ` +
  "p50(attrs.duration_ms) as p50_ms, p95(attrs.duration_ms) as p95_ms by service, route " +
  "| math errors / requests * 100 as error_percent | sort by requests desc";

/** The requests that servers answered, from their spans. Nothing if there are none in the range. */
export function RequestsTable({ range, instants }: { range: Range; instants: Range }) {
  const answer = useOperation("log_stats", {
    p_query_dsl: query,
    p_ts_from: instants.from,
    p_ts_to: instants.to,
    p_limit: 100,
  }, { keep: true });
  // The reader's view may hide one of the fields.
  if (answer.error && answer.error.status !== 400) return <ErrorNote error={answer.error} />;
  if (!answer.data?.length) return null;
  return (
    <section className="block table-scroll" tabIndex={0} aria-label={say("Requests")}>
      <h2>{say("Requests")}</h2>
      <Groups
        rows={answer.data}
        keys={["service", "route"]}
        onFilter={(field, value, mode) => {
          const to = range.to === "now" ? "" : range.to;
          const q = withClause(served, field, value, mode);
          go({ screen: "search", parameters: { q, from: range.from, to } });
        }}
      />
    </section>
  );
}
