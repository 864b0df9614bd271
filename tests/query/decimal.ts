import type { Json } from "./event.ts";

/** An exact decimal: digits / 10^scale. */
export interface Decimal {
  digits: bigint;
  scale: number;
}

/** Returns the value of a number as JSON writes it. */
export function decimal(text: string): Decimal {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match) throw new Error(`not a number: ${text}`);
  const [, sign, whole, fraction = "", exponent = "0"] = match;
  const digits = BigInt(sign + whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale };
}

export function compareDecimals(a: Decimal, b: Decimal): number {
  const difference = a.digits * 10n ** BigInt(b.scale) - b.digits * 10n ** BigInt(a.scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function plus(a: Decimal, b: Decimal): Decimal {
  return {
    digits: a.digits * 10n ** BigInt(b.scale) + b.digits * 10n ** BigInt(a.scale),
    scale: a.scale + b.scale,
  };
}

function times(a: Decimal, factor: Decimal): Decimal {
  return { digits: a.digits * factor.digits, scale: a.scale + factor.scale };
}

/** Returns the number of a value, or of a text in the syntax of the query language; otherwise null. */
export function numberOf(value: Json | undefined): Decimal | null {
  if (typeof value === "number") return decimal(JSON.stringify(value));
  if (typeof value !== "string" || value.length > 300) return null;
  const match = /^-?(\d+(?:\.\d+)?)(?:[eE][+-]?0*\d{1,3})?$/.exec(value);
  if (!match) return null;
  // A number that no double can hold does not count as one: it is too large, or so small that it would be 0.
  const isZero = !/[1-9]/.test(match[1]);
  const double = Number(value);
  return Number.isFinite(double) && (double === 0) === isZero ? decimal(value) : null;
}

export type Unit = "seconds" | "bytes";

const seconds: Record<string, string> = {
  ns: "0.000000001",
  us: "0.000001",
  "µs": "0.000001",
  "μs": "0.000001",
  ms: "0.001",
  s: "1",
  m: "60",
  h: "3600",
  d: "86400",
  w: "604800",
};
const duration = String.raw`(\d{1,15}(?:\.\d{1,9})?) ?(ns|us|µs|μs|ms|s|m|h|d|w)`;

/** Returns the quantity of a text with a unit, or null. */
export function quantityOf(text: string, unit: Unit): Decimal | null {
  if (new TextEncoder().encode(text).length > 64) return null;
  if (unit === "bytes") {
    const match = /^(\d{1,15}(?:\.\d{1,9})?) ?(?:([kmgtp])(i?))?b$/i.exec(text);
    if (!match || /[^\p{ASCII}]/u.test(text)) return null;
    const power = "kmgtp".indexOf(match[2]?.toLowerCase() ?? " ") + 1;
    const base = match[3] ? 1024n : 1000n;
    return times(decimal(match[1]), { digits: base ** BigInt(power), scale: 0 });
  }
  if (!new RegExp(`^-?${duration}(?: ?${duration})*$`).test(text)) return null;
  let total: Decimal = { digits: 0n, scale: 0 };
  for (const [, amount, name] of text.matchAll(new RegExp(duration, "g"))) {
    total = plus(total, times(decimal(amount), decimal(seconds[name])));
  }
  return text.startsWith("-") ? { ...total, digits: -total.digits } : total;
}
