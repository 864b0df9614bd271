import { refuse } from "./loki_error.ts";
import { shortened } from "./syntax_tree.ts";

const units: Record<string, number> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};

/** Loki's longest duration, whose nanoseconds have 63 bits. */
const maxSeconds = 2 ** 63 / 1e9;

/** Seconds of `1h30m`, `0.5s` or `15`. */
export function secondsOf(text: string): number {
  const seconds = /^[0-9]+(\.[0-9]+)?$/.test(text) ? Number(text) : summed(text) ??
    refuse(`not a valid duration: ${JSON.stringify(text)}`);
  return seconds < maxSeconds ? seconds : refuse(`the duration ${shortened(text)} is too long`);
}

/** Seconds of a duration as Go writes it: `1.5s`, `-2m30s`. Undefined for a number without a unit. */
export function goSecondsOf(text: string): number | undefined {
  const parts = text.replace(/^[-+]/, "").replaceAll("μ", "µ");
  const seconds = text === "0" ? 0 : /[dwy]/.test(parts) ? undefined : summed(parts);
  return seconds !== undefined && text.startsWith("-") ? -seconds : seconds;
}

function summed(text: string): number | undefined {
  if (!/^(?:[0-9]*\.?[0-9]+(?:ns|us|µs|ms|[smhdwy]))+$/.test(text)) return undefined;
  const parts = text.matchAll(/([0-9.]+)(ns|us|µs|ms|[smhdwy])/g);
  return [...parts].reduce((sum, [, number, unit]) => sum + Number(number) * units[unit], 0);
}

/** Reads a text as a number like our query language, for which ` 5 `, `+1`, `0x10` and `Infinity` are no numbers. */
export function numberOf(text: string): number | undefined {
  const isNumber = text.length <= 300 && /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text);
  const number = isNumber ? Number(text) : NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** Seconds of a duration, rounded up, because our buckets have whole seconds. */
export function wholeSeconds(text: string): number {
  const seconds = Math.ceil(secondsOf(text) - 1e-9);
  return seconds >= 1 ? seconds : refuse(`the duration ${text} must be more than 0`);
}

/** Reads nanoseconds since 1970 from a time in RFC 3339, or from a number of s, ms, µs or ns, as its size shows. */
export function nanosecondsOf(name: string, text: string): bigint {
  if (/^[0-9]{1,19}$/.test(text)) {
    const unit = text.length > 16
      ? 1n
      : text.length > 13
      ? 1_000n
      : text.length > 10
      ? 1_000_000n
      : 1_000_000_000n;
    return inReach(name, BigInt(text) * unit);
  }
  if (/^[0-9]{1,12}\.[0-9]+$/.test(text)) {
    const [seconds, fraction] = text.split(".");
    return inReach(name, BigInt(seconds + fraction.slice(0, 9).padEnd(9, "0")));
  }
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(text)) {
    const ns = nanosecondsOfTs(text);
    if (ns !== undefined) return inReach(name, ns);
  }
  return refuse(`could not parse '${name}' parameter: ${JSON.stringify(text)} is no time`);
}

function inReach(name: string, ns: bigint): bigint {
  // Years 1970 to 9999.
  return ns >= 0n && ns < 253_402_300_800_000_000_000n
    ? ns
    : refuse(`could not parse '${name}' parameter: too far away`);
}

/** Nanoseconds since 1970 of a time with a zone. */
export function nanosecondsOfTs(ts: string): bigint | undefined {
  const fraction = /\.(\d+)/.exec(ts)?.[1] ?? "";
  const ms = Date.parse(ts.replace(/\.\d+/, ""));
  if (Number.isNaN(ms)) return undefined;
  return BigInt(ms) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
}

/** Nanoseconds of seconds since 1970, to the microsecond. */
export function nanosecondsOfSeconds(seconds: number): bigint {
  return BigInt(Math.round(Math.max(0, seconds) * 1e6)) * 1000n;
}

/** The first time at or after `ns` that a record can have, which is in microseconds. */
export function isoOf(ns: bigint): string {
  const us = (ns + 999n) / 1000n;
  const ms = Number(us / 1000n);
  const rest = String(us % 1000n).padStart(3, "0");
  return new Date(ms).toISOString().replace("Z", `${rest}Z`);
}

export interface TimeRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** The range of the parameters start, end and since; the last hour by default. */
export function rangeOf(parameters: URLSearchParams, now: bigint): TimeRange {
  const end = timeOf(parameters, "end", now);
  const since = secondsOf(parameters.get("since") || "1h");
  const before = end - BigInt(Math.round(since * 1e9));
  const start = timeOf(parameters, "start", before > 0n ? before : 0n);
  if (end <= start) refuse("end timestamp must not be before or equal to start time");
  return { start, end };
}

export function timeOf(parameters: URLSearchParams, name: string, otherwise: bigint): bigint {
  const text = parameters.get(name);
  return text ? nanosecondsOf(name, text) : otherwise;
}

export function parametersOfRange({ start, end }: TimeRange): Record<string, string> {
  return { p_ts_from: isoOf(start), p_ts_to: isoOf(end) };
}
