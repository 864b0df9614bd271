import { type Group, groupLabel, mostLines } from "../shared/groups.ts";
import type { ChartSeries } from "../shared/time-chart.tsx";

/** The answer of preview_alert_rule. */
export interface Preview {
  ts_from: string;
  ts_to: string;
  step_minutes: number;
  alerts: {
    window_start: string;
    window_end: string;
    value: number;
    group: Group | null;
  }[];
  series: Point[];
  total_alerts: number;
  /** For a rule with by. */
  groups: { group: Group; alerts: number; series: Point[] }[] | null;
  total_groups: number | null;
  crowded_windows: number | null;
}

interface Point {
  ts: string;
  value: number | null;
}

/** The ends of the windows, in seconds since 1970. */
export function timesOf(preview: Preview | undefined): number[] {
  return preview?.series.map(({ ts }) => Date.parse(ts) / 1000) ?? [];
}

/** The line of a rule, or the lines of its groups. */
export function linesOf(
  preview: Preview | undefined,
  keys: string[],
): ChartSeries[] {
  if (!preview?.groups) {
    const values = preview?.series.map(({ value }) => value) ?? [];
    return [{ label: "value", colour: "--series-1", values }];
  }
  return preview.groups.slice(0, mostLines).map(({ group, series }, i) => {
    const values = new Map(series.map(({ ts, value }) => [ts, value]));
    return {
      label: groupLabel(group, keys),
      colour: `--series-${i + 1}`,
      values: preview.series.map(({ ts }) => values.get(ts) ?? null),
    };
  });
}
