import type { TextField } from "../../supabase/functions/_shared/record_fields.ts";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A record as the evaluator sees it. Times are microseconds since 1970. */
export interface Event extends Readonly<Record<TextField, string | null>> {
  id: string;
  ts: number;
  received_at: number;
  level: string | null;
  attrs: { [key: string]: Json } | null;
}

export type Predicate = (event: Event) => boolean;

/** An invalid query, with the position of the error (1-based, code points). */
export class QueryError extends Error {
  constructor(readonly position: number, message: string) {
    super(message);
  }
}

/** Compares by code point; JavaScript's < compares by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < left.length && i < right.length; i++) {
    const difference = (left[i].codePointAt(0) ?? 0) - (right[i].codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Turns a text into lower case, with one small sigma. JavaScript would turn U+0130 into two characters. */
export function fold(text: string): string {
  return [...text].map((c) => (c === "\u0130" ? "i" : c === "ς" ? "σ" : c.toLowerCase())).join("");
}

/** Returns the text of a JSON number as jsonb prints it: without an exponent. */
export function numberText(value: number): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(JSON.stringify(value));
  if (!match) throw new Error(`not a number: ${value}`);
  const [, sign, whole, fraction = "", exponent = "0"] = match;
  const shift = Number(exponent);
  if (shift >= 0) {
    const digits = fraction.padEnd(shift, "0");
    const rest = digits.slice(shift);
    return sign + (whole + digits.slice(0, shift)).replace(/^0+(?=\d)/, "") +
      (rest === "" ? "" : `.${rest}`);
  }
  const digits = whole.padStart(1 - shift, "0");
  return sign + digits.slice(0, digits.length + shift) + "." +
    digits.slice(digits.length + shift) + fraction;
}

export function isRecord(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
