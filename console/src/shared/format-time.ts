import { inWords, locale } from "./format-number.ts";
import { say } from "./translate.ts";

/** The displayed time zone: the reader's, or UTC. */
export type Zone = "local" | "utc";

const relative = new Intl.RelativeTimeFormat(locale, { numeric: "always" });
const minute = 60;

/** A span in a unit that gives a readable number. */
function inUnits(seconds: number): [number, "minute" | "hour" | "day"] {
  const [amount, unit] = seconds < 90 * minute
    ? [seconds / minute, "minute" as const]
    : seconds < 36 * 60 * minute
    ? [seconds / (60 * minute), "hour" as const]
    : [seconds / (1440 * minute), "day" as const];
  return [Math.max(1, Math.round(amount)), unit];
}

/** "3 minutes ago", or "in 2 days", in one line. */
export function ago(ts: string | null, now = Date.now()): string {
  if (ts === null) return say("never");
  const seconds = (now - Date.parse(ts)) / 1000;
  if (Math.abs(seconds) < 45) return seconds >= 0 ? say("just now") : say("in a moment");
  const [number, unit] = inUnits(Math.abs(seconds));
  return relative.format(seconds >= 0 ? -number : number, unit).replaceAll(" ", "\u00a0");
}

/** The time since `ts`: "3 minutes". */
export function since(ts: string, now = Date.now()): string {
  const [number, unit] = inUnits(Math.max(0, (now - Date.parse(ts)) / 1000));
  return inWords(number, unit);
}

const day = { month: "short", day: "numeric" } as const;
/** 24 hours in every language, like the times of records. */
const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const exactClock = { ...clock, second: "2-digit" } as const;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached, because charts format many labels. */
function timeFormat(zone: Zone, parts: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(parts)}`;
  const known = formats.get(key) ??
    new Intl.DateTimeFormat(locale, { ...parts, timeZone: zone === "utc" ? "UTC" : undefined });
  formats.set(key, known);
  return known;
}

/** Includes seconds if any time has them. */
const clockOf = (...times: number[]) =>
  times.every((time) => time % 60_000 === 0) ? clock : exactClock;

/** "Nov 21, 19:15". */
export function shortTime(time: number, zone: Zone): string {
  return timeFormat(zone, { ...day, ...clockOf(time) }).format(time);
}

/** "Nov 21, 19:15 – 21:00". */
export function timeRange(from: number, to: number, zone: Zone): string {
  return timeFormat(zone, { ...day, ...clockOf(from, to) }).formatRange(from, to);
}

/** A label under a chart: "19:15", or "Nov 21" where a day begins. */
export function tickTime(time: number, zone: Zone, isDay: boolean): string {
  return timeFormat(zone, isDay ? day : clockOf(time)).format(time);
}

/** A UTC day such as 2026-11-21 in words: "Nov 21, 2026". */
export function dayInWords(written: string): string {
  return timeFormat("utc", { dateStyle: "medium" }).format(Date.parse(written));
}

/** "Saturday, November 21, 2026". */
export function wholeDay(utc: Date): string {
  return timeFormat("utc", { dateStyle: "full" }).format(utc);
}
