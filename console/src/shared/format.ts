const whole = new Intl.NumberFormat("en-US");
const rounded = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });
const compact = new Intl.NumberFormat("en-US", {
  notation: "compact",
  maximumFractionDigits: 1,
});

export const count = (value: number): string => whole.format(value);
export const short = (value: number): string => compact.format(value);

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
  return `${unit === 0 ? size : size.toFixed(size < 10 ? 1 : 0)} ${units[unit]}`;
}

/** "3 minutes ago", or "in 2 days". */
export function ago(ts: string | null, now = Date.now()): string {
  if (ts === null) return "never";
  const seconds = (now - Date.parse(ts)) / 1000;
  const size = Math.abs(seconds);
  if (size < 45) return seconds >= 0 ? "just now" : "in a moment";
  const [amount, unit] = size < 5400
    ? [size / 60, "minute"]
    : size < 129_600
    ? [size / 3600, "hour"]
    : [size / 86_400, "day"];
  const number = Math.max(1, Math.round(amount));
  const words = `${number} ${unit}${number === 1 ? "" : "s"}`;
  return seconds >= 0 ? `${words} ago` : `in ${words}`;
}

export function seconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  if (value < 90) return `${Math.round(value)} s`;
  if (value < 5400) return `${Math.round(value / 60)} min`;
  return `${Math.round(value / 3600)} h`;
}
