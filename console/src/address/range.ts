import { timeRange, type Zone } from "../shared/format-time.ts";
import { say, type Words } from "../shared/translate.ts";

/** A range as in the address: times, or words like `now-1h`. */
export interface Range {
  from: string;
  to: string;
}

/** A range as instants, the same for all requests of one run. */
export interface Instants {
  from: string;
  to: string;
}

export const presets: { from: string; label: Words; minutes: number }[] = [
  { from: "now-5m", label: "Last 5 minutes", minutes: 5 },
  { from: "now-15m", label: "Last 15 minutes", minutes: 15 },
  { from: "now-1h", label: "Last hour", minutes: 60 },
  { from: "now-6h", label: "Last 6 hours", minutes: 360 },
  { from: "now-24h", label: "Last 24 hours", minutes: 1440 },
  { from: "now-7d", label: "Last 7 days", minutes: 10080 },
  { from: "now-30d", label: "Last 30 days", minutes: 43200 },
];

export const standardRange: Range = { from: "now-1h", to: "now" };

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 };

/** The years 0 to 9999, whose times ISO 8601 can write. */
const times = [Date.parse("0000-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")] as const;

/** Milliseconds since 1970, or null if the word is not a time. `zone` applies to a time without a zone. */
export function instant(word: string, now: number, zone: Zone = "utc"): number | null {
  const time = timeOf(word, now, zone);
  return time !== null && time >= times[0] && time <= times[1] ? time : null;
}

function timeOf(word: string, now: number, zone: Zone): number | null {
  const relative = /^now(?:([+-])(\d{1,9})([smhdw]))?$/.exec(word.trim());
  if (relative) {
    const [, sign, count, unit] = relative;
    if (!sign) return now;
    const shift = Number(count) * (unitSeconds[unit ?? "s"] ?? 1) * 1000;
    return sign === "-" ? now - shift : now + shift;
  }
  const written = /^(\d{4}-\d\d-\d\d)(?:[T ](.+))?$/.exec(word.trim());
  if (!written) return null;
  const [, day, rest = "00:00"] = written;
  const isZoned = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i.test(rest);
  const time = Date.parse(`${day}T${rest}${isZoned || zone === "local" ? "" : "Z"}`);
  return Number.isNaN(time) ? null : time;
}

/** A time as people type it in the displayed zone: `2026-11-21T09:00`. Other words stay as they are. */
export function typed(word: string, zone: Zone): string {
  const time = /^\d{4}-/.test(word) ? instant(word, 0) : null;
  if (time === null) return word;
  const { day, clock, thousandths } = parts(time, zone);
  const seconds = thousandths === "000" ? clock.replace(/:00$/, "") : `${clock}.${thousandths}`;
  return `${day}T${seconds}`;
}

/** A typed time as in the address: an instant. Words like `now-1h` stay as they are. */
export function untyped(text: string, zone: Zone, now: number): string {
  const word = text.trim();
  const time = word.startsWith("now") ? null : instant(word, now, zone);
  return time === null ? word : new Date(time).toISOString();
}

/** A sentence about the zone of typed times. */
export function zoneWords(zone: Zone): string {
  if (zone === "utc") return say("Times without a zone are UTC.");
  return say("Times without a zone are local ({zone}).", { zone: zoneName(zone) });
}

/** The name of the displayed zone: "UTC", "UTC+05:30". */
export function zoneName(zone: Zone): string {
  const offset = zone === "utc" ? "Z" : wholeTime(new Date().toISOString(), zone).slice(23);
  return `UTC${offset === "Z" ? "" : offset}`;
}

/** The range as instants, or null if it is invalid. */
export function resolve(range: Range, now: number): Instants | null {
  const from = instant(range.from, now);
  const to = instant(range.to, now);
  if (from === null || to === null || from >= to) return null;
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

/** The next wider preset, or null. */
export function wider(range: Instants): (typeof presets)[number] | null {
  const minutes = (Date.parse(range.to) - Date.parse(range.from)) / 60_000;
  return presets.find((preset) => preset.minutes > minutes + 0.5) ?? null;
}

export function rangeLabel(range: Range, zone: Zone): string {
  const preset = presets.find(({ from }) => from === range.from && range.to === "now");
  if (preset) return say(preset.label);
  if (range.from.startsWith("now")) return say("{from} to {to}", range);
  const now = Date.now();
  const [from, to] = [instant(range.from, now), instant(range.to, now)];
  if (from === null || to === null) return say("Invalid range");
  return timeRange(from, to, zone);
}

export type { Zone };

const pad = (value: number, width = 2) => String(value).padStart(width, "0");

/** The parts of an instant in the displayed zone. */
function parts(time: number, zone: Zone) {
  const shifted = zone === "utc"
    ? new Date(time)
    : new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  const iso = Number.isNaN(shifted.getTime()) ? "" : shifted.toISOString();
  return { day: iso.slice(0, 10), clock: iso.slice(11, 19), thousandths: iso.slice(20, 23) };
}

export function dayOf(time: number, zone: Zone): string {
  return parts(time, zone).day;
}

export function clock(time: number, zone: Zone): string {
  return parts(time, zone).clock;
}

/** A row's time, always equally wide: `11-21 19:15:13.750`. */
export function rowTime(ts: string, zone: Zone): string {
  const { day, clock, thousandths } = parts(Date.parse(ts), zone);
  return `${day.slice(5)} ${clock}.${thousandths}`;
}

/** A complete time with its zone and microseconds. */
export function wholeTime(ts: string, zone: Zone): string {
  const time = Date.parse(ts);
  if (Number.isNaN(time)) return ts;
  const { day, clock } = parts(time, zone);
  const fraction = /\.(\d+)/.exec(ts)?.[1];
  const offset = zone === "utc" ? 0 : -new Date(time).getTimezoneOffset();
  const sign = offset < 0 ? "-" : "+";
  const size = Math.abs(offset);
  const suffix = offset === 0 ? "Z" : `${sign}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
  return `${day} ${clock}${fraction ? `.${fraction}` : ""}${suffix}`;
}
