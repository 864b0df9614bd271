import { say } from "./words.ts";

/** The reader's own language for numbers and times; what the page says is English. */
const locale = globalThis.navigator?.languages?.[0] ?? globalThis.navigator?.language;
const whole = new Intl.NumberFormat(locale);
const rounded = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
const compact = new Intl.NumberFormat(locale, {
  notation: "compact",
  maximumFractionDigits: 1,
});
const signed = new Intl.NumberFormat(locale, {
  style: "percent",
  signDisplay: "exceptZero",
  maximumFractionDigits: 0,
});
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "always" });

export const count = (value: number): string => whole.format(value);
export const short = (value: number): string => compact.format(value);

/** "+25%": the change from before to now; null where there was nothing before. */
export function change(now: number, before: number): string | null {
  return before === 0 ? null : signed.format(now / before - 1);
}

/** A value of an aggregate: three decimal places, more for small ones. */
export function measure(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value;
  if (value !== 0 && Math.abs(value) < 0.001) return value.toPrecision(3);
  return rounded.format(value);
}

/** Decimal units, like plans. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && size < 10 ? 1 : 0;
  const number = new Intl.NumberFormat(locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${number.format(size)} ${units[unit]}`;
}

const minute = 60;

/** A span in the greatest unit that leaves more than one of it. */
function inUnits(seconds: number): [number, "minute" | "hour" | "day"] {
  const [amount, unit] = seconds < 90 * minute
    ? [seconds / minute, "minute" as const]
    : seconds < 36 * 60 * minute
    ? [seconds / (60 * minute), "hour" as const]
    : [seconds / (1440 * minute), "day" as const];
  return [Math.max(1, Math.round(amount)), unit];
}

/** "3 minutes ago", or "in 2 days". */
export function ago(ts: string | null, now = Date.now()): string {
  if (ts === null) return say("never");
  const seconds = (now - Date.parse(ts)) / 1000;
  if (Math.abs(seconds) < 45) return seconds >= 0 ? say("just now") : say("in a moment");
  const [number, unit] = inUnits(Math.abs(seconds));
  return relative.format(seconds >= 0 ? -number : number, unit);
}

/** "3 minutes": how long ago. */
export function since(ts: string, now = Date.now()): string {
  const [number, unit] = inUnits(Math.max(0, (now - Date.parse(ts)) / 1000));
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(number);
}

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value < 90) return `${Math.round(value)} s`;
  if (value < 5400) return `${Math.round(value / 60)} min`;
  return `${Math.round(value / 3600)} h`;
}

/** How long something took: "18 ms", "1.2 s". */
export function took(ms: number): string {
  return ms < 1000
    ? `${Math.max(1, Math.round(ms))} ms`
    : `${measure(Math.round(ms / 100) / 10)} s`;
}
