import {
  jsonOf,
  parseExactly as parse,
  rewrites,
} from "../../../supabase/functions/_shared/exact_numbers.ts";

export { ExactNumber } from "../../../supabase/functions/_shared/exact_numbers.ts";

/** An answer, with exact numbers where JavaScript would round. Short ones are reckoned with. */
export function parseExactly(text: string): unknown {
  return parse(text, (number) => number.length > 15 && rewrites(number));
}

/** JSON text of a record, exact numbers included. */
export function exactJson(value: unknown, indent = 2): string {
  return jsonOf(value, indent);
}
