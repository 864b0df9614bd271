import { markedNumber } from "../_shared/numbers.ts";
import { isObject, type JsonObject, scalarText } from "./json_reader.ts";
import { offsetOfRegion, type PrintedTime, printedTimeAt } from "./printed_times.ts";

/**
 * Reads a time in ISO 8601, as a Unix time, or as libraries print it. Returns ISO 8601 in UTC with at most six fraction
 * digits, as Postgres stores it; undefined if the text is not a time in the years 1 to 9999.
 */
export function isoFromText(text: string): string | undefined {
  if (isOfLastMinute(text)) return text;
  const iso = readText(text);
  // The text is in the stored form, so its minute is valid, with any second from 00 to 59.
  if (iso === text) lastMinute = text.slice(0, 16);
  return iso;
}

/** The minute (`YYYY-MM-DDTHH:MM`) of the last text in the stored form. Most times of a request share their minute. */
let lastMinute = "";

function isOfLastMinute(text: string): boolean {
  const last = text.length - 1;
  if (last < 19 || last > 26 || last === 20 || text.charCodeAt(last) !== 0x5a) return false;
  if (lastMinute === "" || !text.startsWith(lastMinute) || text.charCodeAt(16) !== 0x3a) {
    return false;
  }
  const tens = text.charCodeAt(17) - 0x30;
  if (tens < 0 || tens > 5 || !isDigit(text.charCodeAt(18))) return false;
  if (last > 19 && text.charCodeAt(19) !== 0x2e) return false;
  for (let at = 20; at < last; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function readText(text: string): string | undefined {
  const match = isoPattern.exec(text) ?? basicPattern.exec(text);
  if (match !== null) {
    const [, year, month, day, hour = "00", minute = "00", second = "00", fraction, zone] = match;
    return isoOfParts({ year, month, day, hour, minute, second, fraction, zone: offsetOf(zone) });
  }
  if (numberPattern.test(text) && !compactPattern.test(text)) return isoFromDecimal(text);
  const trimmed = text.trim();
  if (trimmed.length < text.length) return readText(trimmed);
  const printed = printedTimeAt(text);
  return printed?.parts !== undefined && printed.end === text.length
    ? isoOfParts(printed.parts)
    : undefined;
}

function isoOfParts(
  { year, month, day, hour, minute, second, fraction, zone }: Parts,
): string | undefined {
  if (year === "0000" || +month < 1 || +month > 12) return undefined;
  if (+day < 1 || +day > daysIn(+year, +month)) return undefined;
  if (+minute > 59 || +second > 60) return undefined;
  const endOfDay = hour === "24" && minute === "00" && second === "00" &&
    (fraction === undefined || +fraction === 0);
  if (+hour > 23 && !endOfDay) return undefined;

  const date = `${year}-${month}-${day}`;
  const micros = fraction === undefined ? "" : `.${fraction.slice(0, 6)}`;
  if (zone === 0 && !endOfDay && second !== "60") {
    return `${date}T${hour}:${minute}:${second}${micros}Z`;
  }

  const midnight = Date.parse(`${date}T00:00:00Z`) / 1000;
  const shown = midnight + +hour * 3600 + +minute * 60 + +second;
  const offset = typeof zone === "string" ? offsetOfRegion(zone, shown * 1000) : zone;
  if (offset === undefined) return undefined;
  const seconds = shown - offset;
  // A leap second always ends a UTC day. Like Postgres, we read it as the start of the next day.
  if (second === "60" && seconds % 86400 !== 0) return undefined;
  return isoFromSeconds(seconds, micros);
}

type Parts = Omit<NonNullable<PrintedTime["parts"]>, "zone"> & {
  readonly zone: string | number | undefined;
};

/** A Unix time; its size distinguishes seconds, milliseconds, microseconds and nanoseconds. */
export function isoFromNumber(value: number): string | undefined {
  if (Number.isInteger(value) && value >= 1e11 && value < 1e14) {
    return new Date(value).toISOString();
  }
  return isoFromDecimal(String(value));
}

const isoPattern =
  /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|z|[+-]\d\d(?::?\d\d)?)?)?$/;
const basicPattern =
  /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?$/;
/** 20261128142218 is a printed time, although as a Unix time it would be in the year 2612. */
const compactPattern = /^(?:19|20)\d{12}(?:\d{3}|\.\d+)?$/;
const numberPattern = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function offsetOf(zone: string | undefined): number | undefined {
  if (zone === undefined || zone === "Z" || zone === "z") return 0;
  const hours = +zone.slice(1, 3);
  const minutes = +zone.slice(-2) * (zone.length > 3 ? 1 : 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (zone[0] === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** Reads a decimal number by its digits, because a double cannot hold microseconds of a time in nanoseconds. */
function isoFromDecimal(text: string): string | undefined {
  const plain = /[eE]/.test(text) ? expand(Number(text)) : text;
  if (plain === undefined) return undefined;
  const negative = plain.startsWith("-");
  const [whole, fraction = ""] = (negative ? plain.slice(1) : plain).split(".");
  const digits = whole.replace(/^0+(?=\d)/, "");
  // 10^11 seconds (and its equal in the other units) is the year 5138; 10^11 milliseconds is 1973.
  if (digits.length > 20) return undefined;
  const shift = digits.length <= 11 ? 0 : digits.length <= 14 ? 3 : digits.length <= 17 ? 6 : 9;

  const seconds = Number(digits.slice(0, digits.length - shift));
  const micros = (digits.slice(digits.length - shift) + fraction).slice(0, 6);
  if (!negative) return isoFromSeconds(seconds, micros === "" ? "" : `.${micros}`);
  const below = Number(micros.padEnd(6, "0"));
  if (below === 0) return isoFromSeconds(-seconds, "");
  return isoFromSeconds(-seconds - 1, `.${String(1_000_000 - below).padStart(6, "0")}`);
}

function expand(value: number): string | undefined {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e20) return undefined;
  return Number.isInteger(value) ? BigInt(value).toString() : value.toFixed(6);
}

const firstSecond = Date.parse("0001-01-01T00:00:00Z") / 1000;
const lastSecond = Date.parse("9999-12-31T23:59:59Z") / 1000;

function isoFromSeconds(seconds: number, micros: string): string | undefined {
  if (!(seconds >= firstSecond && seconds <= lastSecond)) return undefined;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${micros}Z`;
}

/** Whether the time has more than the microseconds that Postgres keeps. */
function isFinerThanMicroseconds(text: string): boolean {
  if (text.length < 18 || (text.length < 27 && text[4] === "-")) return false;
  if (isoPattern.test(text) || basicPattern.test(text)) return /[.,]\d{6}\d*?[1-9]/.test(text);
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) return /:\d\d[.,]\d{6}\d*?[1-9]/.test(text);
  const [whole, fraction = ""] = text.replace("-", "").split(".");
  const digits = whole.replace(/^0+(?=\d)/, "").length;
  const unit = digits <= 11 ? 6 : digits <= 14 ? 3 : digits <= 17 ? 0 : -3;
  const below = unit >= 0 ? fraction.slice(unit) : whole.slice(unit) + fraction;
  return /[1-9]/.test(below);
}

/** A time as an event has it: text, a number, or an object. */
export function isoOf(value: unknown): string | undefined {
  if (typeof value === "string") return isoFromText(markedNumber(value) ?? value);
  if (typeof value === "number") return isoFromNumber(value);
  return isObject(value) ? isoOfObject(value) : undefined;
}

/**
 * Reads MongoDB's `{"$date": …}`, Log4j's `{"epochSecond", "nanoOfSecond"}`, protobuf's `{"seconds", "nanos"}` and
 * PHP's `{"date", "timezone"}`.
 */
function isoOfObject(time: JsonObject): string | undefined {
  const { $date, date, timezone = "UTC" } = time;
  const sent = isObject($date) ? $date.$numberLong : $date;
  if (sent !== undefined) return isObject(sent) ? undefined : isoOf(sent);
  if (date !== undefined) return isoFromText(`${scalarText(date)} ${scalarText(timezone)}`);
  const seconds = scalarText(time.epochSecond ?? time.seconds) ?? "";
  const nanos = scalarText(time.nanoOfSecond ?? time.nanos ?? 0) ?? "";
  if (!/^\d{1,11}$/.test(seconds) || !/^\d{1,9}$/.test(nanos)) return undefined;
  return isoFromText(`${seconds}.${nanos.padStart(9, "0")}`);
}

/** Whether a time has more than the microseconds that are stored. */
export function isCutShort(ts: unknown): boolean {
  if (typeof ts === "string") return isFinerThanMicroseconds(markedNumber(ts) ?? ts);
  if (isObject(ts)) return Number(ts.nanoOfSecond ?? ts.nanos ?? 0) % 1000 !== 0;
  return typeof ts === "number" && !Number.isInteger(ts) && isFinerThanMicroseconds(String(ts));
}
