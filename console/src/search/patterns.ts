import { type Mode, withClause } from "../language/edit-query.ts";
import type { StatRow } from "../service/logloom.ts";

export interface Pattern {
  text: string;
  count: number;
  first: string;
  last: string;
  example: string;
}

/** The rows of `| patterns`. */
export function patternsOf(rows: StatRow[]): Pattern[] {
  return rows.flatMap(({ group, values }) =>
    typeof group.pattern === "string"
      ? [{
        text: group.pattern,
        count: Number(values.count ?? 0),
        first: String(values.first ?? ""),
        last: String(values.last ?? ""),
        example: String(values.example ?? ""),
      }]
      : []
  );
}

/** Stands for the part that differs between messages. */
export const gap = "<*>";

/** The longest text that all messages of a pattern share. */
export function literalOf(pattern: string): string {
  return pattern.split(gap).map((part) => part.trim())
    .reduce((longest, part) => part.length > longest.length ? part : longest, "");
}

/** The query limited to a pattern's messages, or without them. */
export function withPattern(query: string, pattern: string, mode: Mode): string {
  return withClause(query, "msg", literalOf(pattern), mode);
}
