import { useMemo } from "react";
import { back } from "../address/address.ts";
import { groupKeys, seriesOf } from "../language/edit.ts";
import { marksOld, useOperation } from "../service/hooks.ts";
import { usePreferences } from "../shared/preferences.ts";
import { type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { groupLabel, mostLines } from "../shared/groups.ts";
import { plain } from "../shared/plain.ts";
import { type Run, runRange } from "./use-search.ts";

/** The first aggregate over time, one line for each of the largest groups. */
export function AggregateChart({ run }: { run: Run }) {
  const { zone } = usePreferences();
  const query = seriesOf(run.query);
  const answer = useOperation("log_series", {
    p_query_dsl: query ?? "",
    p_ts_from: run.instants?.from,
    p_ts_to: run.instants?.to,
    p_buckets: 90,
  }, { enabled: run.instants !== null && query !== null, keep: true });
  const lines = useMemo(() => answer.data?.series.slice(0, mostLines) ?? [], [answer.data]);
  const times = useMemo(
    () => lines[0]?.points.map(([ts]) => Date.parse(ts) / 1000) ?? [],
    [lines],
  );
  const series = useMemo<ChartSeries[]>(() => {
    const keys = groupKeys(query ?? "");
    return lines.map(({ group, points }, i) => ({
      label: groupLabel(group, keys),
      colour: `--series-${i + 1}`,
      values: points.map(([, value]) => value),
    }));
  }, [lines, query]);
  const from = run.instants?.from ?? "";
  const to = run.instants?.to ?? "";
  const range = useMemo<[number, number]>(
    () => [Date.parse(from) / 1000, Date.parse(to) / 1000],
    [from, to],
  );
  if (query === null || answer.error || times.length < 2) return null;
  return (
    <figure className="series" {...marksOld(answer.isPlaceholderData)}>
      <TimeChart
        times={times}
        series={series}
        kind="lines"
        zone={zone}
        height={160}
        range={range}
        onBrush={(start, end) =>
          runRange({
            from: new Date(Math.floor(start) * 1000).toISOString(),
            to: new Date(Math.ceil(end) * 1000).toISOString(),
          })}
        onReset={() => back()}
        label="The first aggregate over time"
      />
      <figcaption className="series-legend">
        <code>{nameOf(query)}</code>
        {series.length > 1 && series.map(({ label }, i) => (
          <span key={label}>
            <i className={`swatch series-${i + 1}`} />
            <bdi>{label}</bdi>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** The aggregate of the lines: the first of the last stage. */
function nameOf(query: string): string {
  const stage = query.slice(query.lastIndexOf("|") + 1).trim();
  return plain(/^[^)]*\)/.exec(stage)?.[0] ?? stage);
}
