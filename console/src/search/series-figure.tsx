import { useMemo, useState } from "react";
import { back } from "../address/address.ts";
import type { Instants } from "../address/range.ts";
import { groupKeys, seriesOf } from "../language/edit-query.ts";
import { marksOld, useOperation } from "../service/operation-hooks.ts";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { groupLabel, mostLines } from "../shared/group-label.ts";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { AwaitedChart, type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { say } from "../shared/translate.ts";
import { useFeatures } from "./reader-features.ts";
import { runRange } from "./search-run.ts";

/** The first aggregate over time, a line for each of the largest groups. A click on a name shows only that line. */
export function SeriesFigure({ query, instants, height = 160 }: {
  query: string;
  instants: Instants | null;
  height?: number;
}) {
  const { zone } = usePreferences();
  const isOpen = useFeatures().series;
  const series = isOpen ? seriesOf(query) : null;
  const answer = useOperation("log_series", {
    p_query_dsl: series ?? "",
    p_ts_from: instants?.from,
    p_ts_to: instants?.to,
    p_buckets: 90,
  }, { enabled: instants !== null && series !== null, keep: true });
  const lines = useMemo(() => answer.data?.series.slice(0, mostLines) ?? [], [answer.data]);
  const times = useMemo(() => lines[0]?.points.map(([ts]) => Date.parse(ts) / 1000) ?? [], [lines]);
  const all = useMemo<ChartSeries[]>(() => {
    const keys = groupKeys(series ?? "");
    return lines.map(({ group, points }, i) => ({
      label: groupLabel(group, keys),
      colour: `--series-${i + 1}`,
      values: points.map(([, value]) => value),
    }));
  }, [lines, series]);
  const [alone, setAlone] = useState<string | null>(null);
  const isAlone = alone !== null && all.some(({ label }) => label === alone);
  const shown = useMemo(
    () => isAlone ? all.filter(({ label }) => label === alone) : all,
    [all, alone, isAlone],
  );
  const from = instants?.from ?? "";
  const to = instants?.to ?? "";
  const range = useMemo<[number, number]>(
    () => [Date.parse(from) / 1000, Date.parse(to) / 1000],
    [from, to],
  );
  if (series === null) return null;
  if (answer.error) {
    // A wrong query stays wrong, so no retry.
    const retry = answer.error.status === 400 ? undefined : () => void answer.refetch();
    return <ErrorNote error={answer.error} retry={retry} />;
  }
  if (!answer.isPending && times.length < 2) return null;
  const end = (times.at(-1) ?? 0) + (answer.data?.interval_seconds ?? 0);
  return (
    <figure className="series" {...marksOld(answer.isPlaceholderData)}>
      {answer.isPending ? <AwaitedChart height={height} /> : (
        <TimeChart
          times={times}
          series={shown}
          kind="lines"
          zone={zone}
          height={height}
          range={range}
          isUnfinished={end > range[1]}
          onBrush={(start, end) =>
            runRange({
              from: new Date(Math.floor(start) * 1000).toISOString(),
              to: new Date(Math.ceil(end) * 1000).toISOString(),
            })}
          onReset={() => back()}
          label={say("The first aggregate over time")}
        />
      )}
      <figcaption className="series-legend">
        <code>{nameOf(series)}</code>
        {all.length > 1 && all.map(({ label }, i) => (
          <button
            key={label}
            type="button"
            className="legend-item"
            aria-pressed={isAlone && alone === label}
            title={say("Only this line")}
            onClick={() => setAlone(isAlone && alone === label ? null : label)}
          >
            <i className={`swatch series-${i + 1}`} />
            <bdi>{label}</bdi>
          </button>
        ))}
      </figcaption>
    </figure>
  );
}

/** The aggregate that the lines show: the first of the last stage. */
function nameOf(query: string): string {
  const stage = query.slice(query.lastIndexOf("|") + 1).trim();
  return plain(/^[^)]*\)/.exec(stage)?.[0] ?? stage);
}
