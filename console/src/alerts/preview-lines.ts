import type { AlertPreview } from "../service/logloom.ts";
import { groupLabel, mostLines } from "../shared/group-label.ts";
import type { ChartSeries } from "../shared/time-chart.tsx";
import { say } from "../shared/translate.ts";

/** The ends of the windows, in seconds since 1970. */
export function timesOf(preview: AlertPreview | undefined): number[] {
  return preview?.series.map(({ ts }) => Date.parse(ts) / 1000) ?? [];
}

/** One line, or one for each group. */
export function linesOf(preview: AlertPreview | undefined, keys: string[]): ChartSeries[] {
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

/** What was usual and the threshold, for a rule with a baseline and without groups. */
export function bandOf(preview: AlertPreview | undefined): ChartSeries[] {
  const band = preview?.band;
  if (!band) return [];
  return [
    { label: say("usual"), colour: "--text-muted", values: band.map(({ usual }) => usual) },
    {
      label: say("threshold"),
      colour: "--level-error",
      values: band.map(({ threshold }) => threshold),
    },
  ];
}
