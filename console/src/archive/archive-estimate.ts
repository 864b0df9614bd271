import { say } from "../shared/translate.ts";
import { dayOf, instant, wholeTime, type Zone } from "../address/range.ts";
import type { ArchivedFile } from "../service/logloom.ts";

export interface Sum {
  files: number;
  days: number;
  records: number;
  bytes: number;
  missing: number;
}

const day = 86_400_000;

/** Days between two dates, both included. */
function daysOf(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / day) + 1;
}

export function sumOf(files: ArchivedFile[]): Sum {
  // A file of late events has the same days as an earlier file.
  const spans = new Map(files.map((file) => [`${file.first_day} ${file.last_day}`, file]));
  return {
    files: files.length,
    days: [...spans.values()].reduce((sum, one) => sum + daysOf(one.first_day, one.last_day), 0),
    records: files.reduce((sum, { records }) => sum + records, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    missing: files.filter(({ status }) => status === "missing").length,
  };
}

export interface Span extends Sum {
  first: string;
  last: string;
}

/** The files grouped by the days they hold, in the files' order. */
export function spansOf(files: ArchivedFile[]): Span[] {
  const groups = new Map<string, ArchivedFile[]>();
  for (const file of files) {
    const days = `${file.first_day} ${file.last_day}`;
    groups.set(days, [...groups.get(days) ?? [], file]);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first ? [{ ...sumOf(group), first: first.first_day, last: first.last_day }] : [];
  });
}

/**
 * The instants of a typed range, or null if it is invalid. A day is a UTC day, like the archive's days, whatever zone is
 * displayed. An end that is a day includes that day.
 */
export function rangeOf(from: string, to: string, zone: Zone): [string, string] | null {
  const now = Date.now();
  const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text.trim());
  const start = instant(from, now, isDay(from) ? "utc" : zone);
  const end = instant(to, now, isDay(to) ? "utc" : zone);
  if (start === null || end === null) return null;
  const whole = isDay(to) ? end + day : end;
  if (start >= whole) return null;
  return [new Date(start).toISOString(), new Date(whole).toISOString()];
}

/** Adds up what a restore of the range reads: all of its files, whatever the query is. */
export function estimateOf(files: ArchivedFile[], [from, to]: [string, string]): Sum {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const touched = files.filter((file) =>
    Date.parse(file.ts_to) >= start && Date.parse(file.ts_from) < end
  );
  const first = Math.min(...touched.map((file) => Date.parse(file.ts_from)));
  const last = Math.max(...touched.map((file) => Date.parse(file.ts_to)));
  const number = (time: number) => Math.floor(time / day);
  return {
    ...sumOf(touched),
    // The service counts the same way: from the first to the last day in the range that has records.
    days: touched.length === 0
      ? 0
      : number(Math.min(last, end - 1)) - number(Math.max(first, start)) + 1,
  };
}

/** A range as days if it consists of whole UTC days, otherwise as times. */
export function rangeWords(from: string, to: string, zone: Zone): string {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  if (start % day !== 0 || end % day !== 0) {
    return say("{from} to {to}", { from: wholeTime(from, zone), to: wholeTime(to, zone) });
  }
  const [first, last] = [dayOf(start, "utc"), dayOf(end - 1, "utc")];
  return first === last ? first : say("{from} to {to}", { from: first, to: last });
}
