import { matchAt } from "./text_scan.ts";

/** A time in a text, split into parts. Numbers are as written. */
export interface PrintedTime {
  /** Undefined if the time is ambiguous: no year, no date, or an unknown zone. */
  readonly parts: {
    readonly year: string;
    readonly month: string;
    readonly day: string;
    readonly hour: string;
    readonly minute: string;
    readonly second: string;
    readonly fraction: string | undefined;
    /** A name of the tz database (`Europe/Berlin`), or seconds east of UTC. */
    readonly zone: string | number;
  } | undefined;
  /** The position after the time. */
  readonly end: number;
}

/** The longest text that can be a time. */
const maxLength = 100;

const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const weekday = "(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? +)";
const monthName =
  "(?<month>(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(?![a-z])|January|February|March|April|June|July|August|September|October|November|December)";
const clock =
  "(?<hour>\\d{1,2}):(?<minute>\\d\\d)(?::(?<second>\\d\\d)(?:(?:[.,]|:(?=\\d{3}(?!\\d)))(?<fraction>\\d+))?)?(?!\\d)(?: ?(?<half>[ap])\\.?m\\b\\.?)?";
const gap = "(?:[T_:]|,? {1,2}(?:at )?| - )";
const innerZone = "(?<inner> [A-Za-z]{1,5}| [+-]\\d\\d(?:\\d\\d)?)?";

const dated = [
  // 2026-11-28 14:22:18,123; 2026/11/28; 2026.11.28; Sat 2026-11-28
  `${weekday}?(?<year>\\d{4})(?<sign>[-/.])(?<month>\\d\\d)\\k<sign>(?<day>\\d\\d)${gap}${clock}`,
  // 20261128 14:22:18; 20261128T142218; 20261128142218123
  `(?<year>\\d{4})(?<month>\\d\\d)(?<day>\\d\\d)${gap}${clock}`,
  "(?<year>\\d{4})(?<month>\\d\\d)(?<day>\\d\\d)[T ](?<hour>\\d\\d)(?<minute>\\d\\d)(?<second>\\d\\d)(?:[.,](?<fraction>\\d+))?(?!\\d)",
  "(?<year>(?:19|20)\\d\\d)(?<month>\\d\\d)(?<day>\\d\\d)(?<hour>\\d\\d)(?<minute>\\d\\d)(?<second>\\d\\d)(?:(?:[.,]|(?=\\d{3}(?!\\d)))(?<fraction>\\d+))?(?!\\d)",
  // 28/Nov/2026:14:22:18; 28-Nov-2026 14:22:18; Sat, 28 Nov 2026 14:22:18
  `${weekday}?(?<day>\\d{1,2})[-/ ]${monthName}[-/ ](?<year>\\d{4})${gap}${clock}`,
  // Saturday, 28-Nov-26 14:22:18 GMT
  `${weekday}(?<day>\\d\\d)-${monthName}-(?<year>\\d\\d) ${clock}`,
  // Nov 28, 2026 2:22:18 PM; Sat Nov 28 2026 14:22:18 GMT+0200
  `${weekday}?${monthName} +(?<day>\\d{1,2}),? (?<year>\\d{4})${gap}${clock}`,
  // Sat Nov 28 14:22:18 2026; Sat Nov 28 14:22:18 UTC 2026
  `${weekday}?${monthName} +(?<day>\\d{1,2}) ${clock}${innerZone} (?<year>\\d{4})(?!\\d|:)`,
  // Sat 28 Nov 14:22:18 GMT 2026
  `${weekday}?(?<day>\\d{1,2}) ${monthName} ${clock}${innerZone} (?<year>\\d{4})(?!\\d|:)`,
  // 28.11.2026 14:22:18
  `${weekday}?(?<day>\\d\\d)\\.(?<month>\\d\\d)\\.(?<year>\\d{4})${gap}${clock}`,
].map((form) => new RegExp(form, "yi"));

/** Times without a year, without a date, or with an ambiguous date. */
const undated = [
  // Nov 28 14:22:18; 28-Nov-26; 11/28/2026; 26/11/28; 11-28 14:22:18
  `${weekday}?${monthName} +\\d{1,2},? ${clock}`,
  `${weekday}?\\d{1,2}[-/ ]${monthName}(?:[-/ ]\\d\\d)?${gap}${clock}`,
  `\\d{1,4}[-/.]\\d{1,2}(?:[-/.]\\d{2,4})?,? ${clock}`,
  // 261128 14:22:18 of MySQL 5; 1128 14:22:18.123456 of glog; 14:22:18,123; 2:22PM
  `\\d{6} {1,2}${clock}`,
  `\\d{4} \\d\\d:\\d\\d:\\d\\d\\.\\d{6}(?!\\d)`,
  `\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?!\\d|:)`,
  "\\d{1,2}:\\d\\d ?[ap]m\\b",
].map((form) => new RegExp(form, "yi"));

/** Exported for the test of the patterns' worst cost. */
export const patterns = [...dated, ...undated];

/** A quick test: a clock with a colon follows soon, or the time is one number. */
const nearClock = /^(?:[A-Za-z]{3,9}[, ]|\d)[^:]{0,24}:\d\d|^\d{8}T?\d{6}/;
const afterTime = /(?=$|[\s\])>}|,;:"'-])/y;

/** The time at a position of a text, in any of the usual forms; undefined if there is none. */
export function printedTimeAt(text: string, at = 0): PrintedTime | undefined {
  // A time begins with a digit, or with the first letter of a day or month.
  if (!/[\dADFJMNOSTWadfjmnostw]/.test(text.charAt(at))) return undefined;
  const near = text.slice(at, at + maxLength);
  if (!nearClock.test(near)) return undefined;
  for (const form of dated) {
    form.lastIndex = 0;
    const found = form.exec(near);
    if (found === null) continue;
    const { inner, ...named } = found.groups ?? {};
    const zone = inner === undefined
      ? zoneAt(near, form.lastIndex)
      : { ...zoneAt(inner, 0), end: zoneAt(near, form.lastIndex).end };
    if (matchAt(afterTime, near, zone.end) === undefined) continue;
    const hour = hourOf(named.hour, named.half);
    const isKnown = zone.offset !== undefined && hour !== undefined;
    return {
      parts: isKnown
        ? {
          year: named.year.length === 2 ? `20${named.year}` : named.year,
          month: monthOf(named.month),
          day: named.day.padStart(2, "0"),
          hour,
          minute: named.minute,
          second: named.second ?? "00",
          fraction: named.fraction,
          zone: zone.offset,
        }
        : undefined,
      end: at + zone.end,
    };
  }
  for (const form of undated) {
    const found = matchAt(form, near, 0);
    if (found === undefined) continue;
    const { end } = zoneAt(near, found.length);
    if (matchAt(afterTime, near, end) !== undefined) return { parts: undefined, end: at + end };
  }
  return undefined;
}

function monthOf(text: string): string {
  const at = months.indexOf(text.slice(0, 3).toLowerCase());
  return at === -1 ? text : String(at + 1).padStart(2, "0");
}

/** The hour from 0 to 24; undefined for an invalid hour before AM or PM. */
function hourOf(text: string, half: string | undefined): string | undefined {
  if (half === undefined) return text.padStart(2, "0");
  const hour = Number(text);
  if (hour < 1 || hour > 12) return undefined;
  return String(hour % 12 + (half.toLowerCase() === "p" ? 12 : 0)).padStart(2, "0");
}

const utc =
  / ?(?:Z(?![A-Za-z\d/+-])|(?:UTC|GMT|UT|Etc\/UTC|Etc\/GMT)(?![A-Za-z\d/+-]| [+-]\d\d)|\((?:UTC|GMT)\)|\[(?:UTC|GMT)\])/yi;
/** Some locales print U+2212 as the minus. */
const offset = /(?: ?(?:UTC|GMT))? ?([+−-])(\d\d):?([0-5]\d)(?::\d\d)?(?![\d:])/yi;
/** Matches `UTC+2` or `+02`. After a space, matches only what must be an offset, as in PostgreSQL's log. */
const hoursAlone = / ?(?:UTC|GMT) ?([+−-])(\d{1,2})()(?![\d:])/yi;
const shortOffset = /([+−-])(\d{1,2})()(?![\d:-])| ([+−-])(\d{1,2})()(?= \[|$|[\])])/y;
/** Text after an offset that repeats the zone: `(CET)`, `[Europe/Berlin]`, Go's ` EET` and ` m=+0.012`. */
const repeated =
  /(?: ?\((?:[A-Z][A-Za-z]+(?: [A-Z]?[A-Za-z]+){0,5}|[A-Z]{1,5})\)|\[(?:UTC|GMT|Z|[A-Z][A-Za-z_]+(?:\/[\w+-]+){1,4})\])/y;
const abbreviation =
  / [[(]?(?:UTC|GMT|ACDT|ACST|ADT|AEDT|AEST|AKDT|AKST|AST|AWST|BST|CAT|CDT|CEST|CET|CST|ChST|EAT|EDT|EEST|EET|EST|HDT|HKT|HST|IDT|IST|JST|KST|MDT|MEST|MET|MSD|MSK|MST|NDT|NST|NZDT|NZST|PDT|PHT|PKT|PST|SAST|SGT|SST|WAST|WAT|WEST|WET|WIB|WIT|WITA|ALMT|ART|BDT|BRS?T|CHADT|CHAST|CLS?T|COT|GST|HA[DS]T|HAE|HNE|ICT|IRDT|IRKT|IRST|KRAT|LHDT|LHST|MES?Z|MYT|NOVT|NPT|OES?Z|OMST|PYT|SAMT|TRT|UYT|UZT|VET|VLAT|WES?Z|YAKT|YEKT|[A-Z]{3}\d[A-Z]{3}|(?:[A-Z][a-z]+ ){1,4}(?:Standard|Daylight|Summer) Time|[+-]\d\d(?:\d\d)?|[+-]\d(?= +\[?[A-Z]{4}))(?![A-Za-z\d])[\])]?/y;
const monotonic = / m=[+-]\d+\.\d+/y;
const region =
  / ?[[(]?((?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|US|Canada|Etc)\/[A-Za-z_]+(?:[/+-][A-Za-z_\d]+){0,6})[\])]?/y;

/** The zone after a clock, and its end. The offset is undefined for an unknown zone. */
function zoneAt(text: string, at: number): {
  readonly offset: string | number | undefined;
  readonly end: number;
} {
  const next = text.charCodeAt(at) === 0x20 ? at + 1 : at;
  if (!/[A-Za-z+([−-]/.test(text.charAt(next)) || /^[-+][^\d]/.test(text.slice(next, next + 2))) {
    return { offset: 0, end: at };
  }
  const numeric = offsetAt(text, at);
  if (numeric !== undefined) {
    let end = at + numeric.length;
    for (const more of [repeated, abbreviation, monotonic]) {
      end += matchAt(more, text, end)?.length ?? 0;
    }
    return { offset: numeric.seconds, end };
  }
  const named = matchAt(region, text, at);
  if (named !== undefined) {
    return { offset: named.replace(/[ [\]()]/g, ""), end: at + named.length };
  }
  const unknown = matchAt(abbreviation, text, at) ?? matchAt(attached, text, at);
  if (unknown !== undefined) return { offset: undefined, end: at + unknown.length };
  return { offset: 0, end: at };
}

const attached = /[A-Z]{2,5}(?![A-Za-z\d])|(?: \([A-Z]{3,5}\))/y;

function offsetAt(
  text: string,
  at: number,
): { readonly seconds: number; readonly length: number } | undefined {
  const zulu = matchAt(utc, text, at);
  if (zulu !== undefined) return { seconds: 0, length: zulu.length };
  for (const form of [offset, hoursAlone, shortOffset]) {
    form.lastIndex = at;
    const found = form.exec(text);
    if (found === null) continue;
    const [sign, hours, minutes] = found.slice(1).filter((part) => part !== undefined);
    if (Number(hours) > 23) continue;
    const seconds = Number(hours) * 3600 + Number(minutes) * 60;
    return { seconds: sign === "+" ? seconds : -seconds, length: found[0].length };
  }
  return undefined;
}

const formats = new Map<string, Intl.DateTimeFormat | undefined>();
const maxFormats = 100;

/**
 * Returns the offset (seconds east of UTC) of a zone of the tz database. The local time is given as if it were UTC.
 * Undefined for an unknown zone, and for a local time that comes twice or never.
 */
export function offsetOfRegion(zone: string, shownMs: number): number | undefined {
  // Offsets change only at full quarters of an hour.
  const key = `${zone} ${Math.floor(shownMs / 900_000)}`;
  if (!offsets.has(key)) {
    if (offsets.size === maxOffsets) offsets.clear();
    offsets.set(key, findOffset(zone, shownMs));
  }
  return offsets.get(key);
}

const offsets = new Map<string, number | undefined>();
const maxOffsets = 1000;

function findOffset(zone: string, shownMs: number): number | undefined {
  const dayMs = 86_400_000;
  const near = new Set([-dayMs, 0, dayMs].map((ms) => offsetAtMoment(zone, shownMs + ms)));
  const fitting = [...near].filter((seconds) =>
    seconds !== undefined && offsetAtMoment(zone, shownMs - seconds * 1000) === seconds
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

function offsetAtMoment(zone: string, ms: number): number | undefined {
  if (!formats.has(zone)) {
    if (formats.size === maxFormats) formats.clear();
    formats.set(zone, formatOf(zone));
  }
  const shown = formats.get(zone)?.format(ms);
  if (shown === undefined) return undefined;
  // 11/28/2026, GMT+01:00. At offset 0 it is only GMT.
  const [, sign, hours = 0, minutes = 0, seconds = 0] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(shown) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  } catch {
    return undefined;
  }
}
