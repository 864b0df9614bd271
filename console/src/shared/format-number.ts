/** The reader's language, for numbers and times. */
export const locale = globalThis.navigator?.languages?.[0] ?? globalThis.navigator?.language;

const format = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options);
const whole = format({ maximumFractionDigits: 0 });
const rounded = format({ maximumFractionDigits: 3 });
const small = format({ maximumSignificantDigits: 3 });
const compact = format({ notation: "compact", maximumFractionDigits: 1 });
const share = format({ style: "percent", maximumFractionDigits: 1 });
export const signed = format({
  style: "percent",
  signDisplay: "exceptZero",
  maximumFractionDigits: 0,
});

export const count = (value: number): string => whole.format(value);
export const short = (value: number): string =>
  (value !== 0 && Math.abs(value) < 1 ? small : compact).format(value);
/** A share. One above 0 is never shown as 0 %. */
export const percent = (value: number): string =>
  value > 0 && value < 0.001 ? `<${share.format(0.001)}` : share.format(value);

/** The decimal sign of numbers in Latin digits. */
export function decimalSign(language = locale): string {
  const parts = new Intl.NumberFormat(language, { numberingSystem: "latn" }).formatToParts(0.5);
  return parts.find(({ type }) => type === "decimal")?.value ?? ".";
}

const ownSign = decimalSign();

/** Writes a number into an input: all digits, without grouping. */
export function writtenNumber(value: number, sign = ownSign): string {
  return String(value).replace(".", sign);
}

/** A typed number, or null. Thousands separators are refused, because 1.500 could mean two numbers. */
export function readNumber(text: string, sign = ownSign): number | null {
  const typed = text.trim();
  if (!new RegExp(`^[+-]?\\d*([${sign}]\\d+|\\d)(e[+-]?\\d+)?$`, "i").test(typed)) return null;
  const number = Number(typed.replace(sign, "."));
  return Number.isFinite(number) ? number : null;
}

/** An aggregate's value with three decimal places, more for small values. */
export function measure(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (typeof value === "string") return value;
  return (value !== 0 && Math.abs(value) < 0.001 ? small : rounded).format(value);
}

// Cached: creating a format takes longer than using it a hundred times.
const inUnits = new Map<string, Intl.NumberFormat>();

function inUnit(value: number, unit: string, options: Intl.NumberFormatOptions = {}): string {
  const wanted = {
    style: "unit" as const,
    unit,
    unitDisplay: "short" as const,
    maximumFractionDigits: 0,
    ...options,
  };
  const key = JSON.stringify(wanted);
  const made = inUnits.get(key) ?? format(wanted);
  inUnits.set(key, made);
  return made.format(value);
}

const sizes = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"];

/** In decimal units, like the limits of plans. */
export function bytes(value: number): string {
  let size = value;
  let at = 0;
  while (size >= 1000 && at < sizes.length - 1) {
    size /= 1000;
    at += 1;
  }
  const digits = at > 0 && size < 10 ? 1 : 0;
  return inUnit(size, sizes[at] ?? "byte", {
    // The short form has no plural: "2 byte".
    unitDisplay: at === 0 ? "long" : "short",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

export const minutes = (value: number): string => inUnit(value, "minute");

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value < 90) return inUnit(value, "second");
  return value < 5400 ? minutes(value / 60) : inUnit(value / 3600, "hour");
}

/** A duration: "18 ms", "1.2 sec". */
export function took(ms: number): string {
  return ms < 1000
    ? inUnit(Math.max(1, ms), "millisecond")
    : inUnit(ms / 1000, "second", { maximumFractionDigits: 1 });
}

/** A signed duration: "+12 ms", "-1.50 sec". */
export function offset(ms: number, signDisplay: "always" | "never" = "always"): string {
  const size = Math.abs(ms);
  if (size < 1000) return inUnit(ms, "millisecond", { signDisplay, maximumSignificantDigits: 3 });
  if (size < 10_000) {
    return inUnit(ms / 1000, "second", {
      signDisplay,
      minimumFractionDigits: 2,
      maximumFractionDigits: 2,
    });
  }
  return size < 90_000
    ? inUnit(ms / 1000, "second", { signDisplay })
    : size < 5_400_000
    ? inUnit(ms / 60_000, "minute", { signDisplay })
    : inUnit(ms / 3_600_000, "hour", { signDisplay });
}

/** "3 minutes" in words. */
export function inWords(value: number, unit: "minute" | "hour" | "day"): string {
  return inUnit(value, unit, { unitDisplay: "long" });
}
