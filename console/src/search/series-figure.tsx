import { useMemo, useState } from "react";
import { back, useAddress } from "../address/address.ts";
import type { Instants } from "../address/range.ts";
import { groupKeys, seriesOf } from "../language/edit-query.ts";
import { marksOld, useOperation } from "../service/operation-hooks.ts";
import type { Group } from "../service/logloom.ts";
import { ErrorNote } from "../shared/basic-controls.tsx";
import { secondsOf, shifted, valuesAt } from "../shared/earlier-periods.ts";
import { groupLabel, mostLines } from "../shared/group-label.ts";
import { plain } from "../shared/safe-text.ts";
import { usePreferences } from "../shared/preferences.ts";
import { AwaitedChart, type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { say } from "../shared/translate.ts";
import { levelOf } from "../shared/level-colours.ts";
import { useFeatures } from "./reader-features.ts";
import { runRange } from "./search-run.ts";

/** The value over time (the last result of math, or the first aggregate), a line for each of the largest groups. A click on a name shows only that line. */
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
      colour: colourOf(group, keys, i),
      values: points.map(([, value]) => value),
    }));
  }, [lines, series]);
  const { before } = useAddress().parameters;
  const seconds = secondsOf(before);
  const past = seconds === null ? null : shifted(instants, seconds);
  const pastAnswer = useOperation("log_series", {
    p_query_dsl: series ?? "",
    p_ts_from: past?.from,
    p_ts_to: past?.to,
    p_buckets: 90,
  }, { enabled: past !== null && series !== null, keep: true });
  const [alone, setAlone] = useState<string | null>(null);
  const isAlone = alone !== null && all.some(({ label }) => label === alone);
  const shown = useMemo(
    () => isAlone ? all.filter(({ label }) => label === alone) : all,
    [all, alone, isAlone],
  );
  const earlier = useMemo<ChartSeries[] | undefined>(() => {
    if (!pastAnswer.data || seconds === null) return undefined;
    const { series: found, interval_seconds } = pastAnswer.data;
    const keys = groupKeys(series ?? "");
    return shown.flatMap(({ label, colour }) => {
      const same = found.find(({ group }) => groupLabel(group, keys) === label);
      const values = same && valuesAt(times, same.points, seconds, interval_seconds);
      return values ? [{ label: say("{name} before", { name: label }), colour, values }] : [];
    });
  }, [pastAnswer.data, seconds, series, shown, times]);
  const from = instants?.from ?? "";
  const to = instants?.to ?? "";
  const range = useMemo<[number, number]>(
    () => [Date.parse(from) / 1000, Date.parse(to) / 1000],
    [from, to],
  );
  if (series === null) return null;
  if (answer.error) {
    // A wrong query stays wrong, so it is not retried.
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
          earlier={earlier}
          onBrush={(start, end) =>
            runRange({
              from: new Date(Math.floor(start) * 1000).toISOString(),
              to: new Date(Math.ceil(end) * 1000).toISOString(),
            })}
          onReset={() => back()}
          label={say("The value over time")}
        />
      )}
      <figcaption className="series-legend">
        <code>{nameOf(series)}</code>
        {all.length > 1 && all.map(({ label, colour }) => (
          <button
            key={label}
            type="button"
            className="legend-item"
            aria-pressed={isAlone && alone === label}
            title={say("Only this line")}
            onClick={() => setAlone(isAlone && alone === label ? null : label)}
          >
            <i className="swatch" style={{ background: `var(${colour})` }} />
            <bdi>{label}</bdi>
          </button>
        ))}
      </figcaption>
    </figure>
  );
}

function colourOf(group: Group | null, keys: string[], i: number): string {
  const level = levelOf(group, keys);
  return level === null ? `--series-${i + 1}` : `--level-${level}`;
}

/** The aggregate that the lines show: the first of the last stage. */
function nameOf(query: string): string {
  const stage = query.slice(query.lastIndexOf("|") + 1).trim();
  return plain(/^[^)]*\)/.exec(stage)?.[0] ?? stage);
}
