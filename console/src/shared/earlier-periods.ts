import type { Words } from "./translate.ts";

/** Earlier periods to compare a chart with, by their value in the address. */
export const earlierPeriods: [value: string, label: Words, seconds: number][] = [
  ["1h", "an hour before", 3600],
  ["1d", "a day before", 86_400],
  ["1w", "a week before", 604_800],
];

export function secondsOf(value: string | undefined): number | null {
  return earlierPeriods.find(([one]) => one === value)?.[2] ?? null;
}

/** Moves a range back by some seconds. Null stays null. */
export function shifted<Range extends { from: string; to: string }>(
  range: Range | null,
  seconds: number,
): { from: string; to: string } | null {
  const earlier = (ts: string) => new Date(Date.parse(ts) - seconds * 1000).toISOString();
  return range && { from: earlier(range.from), to: earlier(range.to) };
}

/** Values of earlier buckets at the times of a chart. */
export function valuesAt(
  times: number[],
  earlier: (readonly [ts: string, value: number | null])[],
  seconds: number,
  interval: number,
): (number | null)[] {
  const placeOf = (time: number) => Math.round((time - (times[0] ?? 0)) / interval);
  const values = new Map(
    earlier.map(([ts, value]) => [placeOf(Date.parse(ts) / 1000 + seconds), value]),
  );
  return times.map((time) => values.get(placeOf(time)) ?? null);
}
