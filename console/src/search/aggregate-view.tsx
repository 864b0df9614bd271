import { labels } from "../../../supabase/functions/_shared/record_fields.ts";
import type { Mode } from "../language/edit.ts";
import { groupKeys, splitQuery } from "../language/edit.ts";
import { marksOld, useOperation } from "../service/hooks.ts";
import type { StatRow } from "../service/logloom.ts";
import { Empty, Skeleton } from "../shared/controls.tsx";
import { count, measure } from "../shared/format.ts";
import { oneLine } from "../shared/plain.ts";
import { fieldsOf } from "../shared/groups.ts";
import { LogText } from "../shared/text.tsx";
import { AggregateChart } from "./aggregate-chart.tsx";
import { SearchError } from "./search-error.tsx";
import { useEditQuery } from "./query-text.ts";
import type { Run } from "./use-search.ts";

const most = 200;

/** The values of an aggregate: over time as lines, by group as bars. */
export function AggregateView({ run, onFilter }: {
  run: Run;
  onFilter: (field: string, value: string, mode: Mode) => void;
}) {
  const stats = useOperation("log_stats", {
    p_query_dsl: run.query,
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
    p_limit: most,
  }, { enabled: run.instants !== null, keep: true });
  const edit = useEditQuery();
  const rows = stats.data ?? [];
  return (
    <section className="results" aria-label="Numbers">
      <div className="rows-bar">
        <p className="rows-count">
          {stats.data &&
            `${count(rows.length)}${rows.length === most ? "+" : ""} group${
              rows.length === 1 ? "" : "s"
            }`}
        </p>
        <button
          type="button"
          className="button small quiet"
          onClick={() => edit((query) => splitQuery(query).filter)}
        >
          Show the records
        </button>
      </div>
      {stats.error && !(stats.error.isAway && stats.data)
        ? <SearchError error={stats.error} run={run} retry={() => void stats.refetch()} />
        : stats.isPending
        ? <Skeleton lines={10} />
        : (
          <div
            className="aggregate"
            tabIndex={0}
            role="region"
            aria-label="Groups"
            {...marksOld(stats.isPlaceholderData)}
          >
            <AggregateChart run={run} />
            {rows.length === 0
              ? <Empty title="Nothing to count in this range" />
              : isSingle(rows)
              ? <Single row={rows[0] as StatRow} />
              : (
                <Bars
                  rows={rows}
                  keys={groupKeys(run.query)}
                  onFilter={onFilter}
                />
              )}
          </div>
        )}
    </section>
  );
}

function isSingle(rows: StatRow[]): boolean {
  return rows.length === 1 && Object.keys(rows[0]?.group ?? {}).length === 0;
}

/** The values of a row by name; a single value needs no name. */
export function valuesOf(row: StatRow): [string, number | string | null][] {
  const values = Object.entries(row.values);
  return values.length > 1 ? values : [["value", row.value]];
}

function Single({ row }: { row: StatRow }) {
  return (
    <dl className="single">
      {valuesOf(row).map(([name, value]) => (
        <div key={name}>
          <dt>{name === "value" ? "Value" : name}</dt>
          <dd>{measure(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function Bars({ rows, keys, onFilter }: {
  rows: StatRow[];
  keys: string[];
  onFilter: (field: string, value: string, mode: Mode) => void;
}) {
  const fields = fieldsOf(rows[0]?.group ?? {}, keys);
  const names = valuesOf(rows[0] as StatRow).map(([name]) => name);
  const largest = Math.max(
    ...rows.map(({ value }) => Math.abs(Number(value ?? 0))),
    Number.MIN_VALUE,
  );
  return (
    <table className="table bars">
      <thead>
        <tr>
          {fields.map((field) => <th key={field} scope="col">{field}</th>)}
          {names.map((name) => <th key={name} scope="col" className="number">{name}</th>)}
          <th scope="col">
            <span className="hidden">Share of the largest</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={JSON.stringify(row.group)}>
            {fields.map((field) => (
              <td key={field}>
                <GroupValue field={field} value={row.group[field] ?? null} onFilter={onFilter} />
              </td>
            ))}
            {valuesOf(row).map(([name, value]) => (
              <td key={name} className="number">{measure(value)}</td>
            ))}
            <td className="bar-cell">
              <svg
                className="bar"
                aria-hidden="true"
                preserveAspectRatio="none"
                viewBox="0 0 100 1"
              >
                <rect width={(100 * Math.abs(Number(row.value ?? 0))) / largest} height="1" />
              </svg>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function GroupValue({ field, value, onFilter }: {
  field: string;
  value: string | null;
  onFilter: (field: string, value: string, mode: Mode) => void;
}) {
  // A group without a value and a time bucket cannot become a filter with one click.
  if (value === null) return <span className="about">none</span>;
  if (!labels.some((label) => label === field) && !/^attrs\../.test(field)) {
    return <LogText text={oneLine(value, 200)} />;
  }
  return (
    <button
      type="button"
      className="group-value"
      title={`Only ${field} = this`}
      onClick={() => onFilter(field, value, "in")}
    >
      <LogText text={value === "" ? "(empty)" : oneLine(value, 200)} />
    </button>
  );
}
