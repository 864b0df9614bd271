import { measure } from "../shared/format-number.ts";
import { useMemo } from "react";
import type uPlot from "uplot";
import { useOperation } from "../service/operation-hooks.ts";
import type { AlertIncident } from "../service/logloom.ts";
import { PanelNote } from "../shared/panel-note.tsx";
import { usePreferences } from "../shared/preferences.ts";
import { type ChartSeries, TimeChart } from "../shared/time-chart.tsx";
import { say } from "../shared/translate.ts";
import { seriesOfIncident } from "./incident-query.ts";

const mostBuckets = 240;
const mostMinutes = 1000;

/** The sum of each value and the ones before it, as many as a window has. */
const sumsOf = (values: (number | null)[], window: number) =>
  values.map((_, i) =>
    values.slice(Math.max(0, i + 1 - window), i + 1)
      .reduce<number>((sum, value) => sum + (value ?? 0), 0)
  );

/** The value of the rule over time, from before it fired, with the threshold. */
export function IncidentChart({ incident, range: { from, to } }: {
  incident: AlertIncident;
  range: { from: string; to: string };
}) {
  const { zone } = usePreferences();
  const query = seriesOfIncident(incident);
  const [start, end] = [Date.parse(from) / 1000, Date.parse(to) / 1000];
  const window = Math.max(incident.window_minutes, 1);
  // A count or sum depends on the length of the window: it is added up from minutes.
  const isSum = /\| (count|sum)\([^()]*\)$/.test(query ?? "");
  const first = isSum ? start - window * 60 : start;
  const minutes = (end - first) / 60;
  const answer = useOperation("log_series", {
    p_query_dsl: query ?? "",
    p_ts_from: new Date(first * 1000).toISOString(),
    p_ts_to: to,
    p_buckets: isSum
      ? Math.min(mostMinutes, Math.ceil(minutes))
      : Math.max(12, Math.min(mostBuckets, Math.round(minutes / window))),
  }, { enabled: query !== null, keep: true });
  const points = answer.data?.series[0]?.points;
  const step = answer.data?.interval_seconds ?? 60;
  const skipped = points?.findIndex(([ts]) => Date.parse(ts) / 1000 >= start) ?? 0;
  const times = useMemo(
    () => points?.slice(skipped).map(([ts]) => Date.parse(ts) / 1000) ?? [],
    [points, skipped],
  );
  const series = useMemo<ChartSeries[]>(() => {
    const values = points?.map(([, value]) => value) ?? [];
    const shown = isSum ? sumsOf(values, Math.max(1, Math.round(window * 60 / step))) : values;
    return [{
      label: incident.rule_name,
      colour: "--series-1",
      values: shown.slice(skipped),
    }];
  }, [points, skipped, isSum, window, step, incident.rule_name]);
  const hooks = useMemo<uPlot.Hooks.Arrays>(() => ({
    draw: [(plot) => drawThreshold(plot, incident.threshold)],
  }), [incident.threshold]);
  const range = useMemo<[number, number]>(() => [start, end], [start, end]);
  if (query === null || answer.error || times.length < 2) return null;
  return (
    <section className="block incident-chart" aria-label={say("Trend")}>
      <div className="row">
        <h2>{say("Trend")}</h2>
        <PanelNote answer={answer.data} isBusy={answer.isFetching} />
      </div>
      <TimeChart
        times={times}
        series={series}
        kind="lines"
        zone={zone}
        height={180}
        range={range}
        hooks={hooks}
        most={incident.threshold * 1.1}
        isUnfinished={!isSum && incident.resolved_at === null}
        label={say("Value over time; the threshold is {threshold}", {
          threshold: measure(incident.threshold),
        })}
      />
    </section>
  );
}

function drawThreshold(plot: uPlot, threshold: number): void {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(threshold, "y", true);
  ctx.save();
  ctx.strokeStyle = getComputedStyle(plot.root).getPropertyValue("caret-color") || "#dc4a41";
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}
