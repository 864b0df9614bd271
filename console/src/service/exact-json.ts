import {
  jsonOf,
  parseExactly as parse,
  rewrites,
} from "../../../supabase/functions/_shared/exact_numbers.ts";

export { ExactNumber } from "../../../supabase/functions/_shared/exact_numbers.ts";

/** Parses an answer. Numbers that JavaScript would round become exact ones; short numbers stay numbers. */
export function parseExactly(text: string): unknown {
  return parse(text, (number) => number.length > 15 && rewrites(number));
}

/** A value as JSON, with exact numbers. */
export function exactJson(value: unknown, indent = 2): string {
  return jsonOf(value, indent);
}
