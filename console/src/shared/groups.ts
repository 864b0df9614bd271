import { plain } from "./plain.ts";

/** The values of an aggregate's fields, null for the other groups together. */
export type Group = Record<string, string | null>;

/** So many lines of groups can be told apart. */
export const mostLines = 8;

export function groupLabel(group: Group | null): string {
  if (group === null) return "all others";
  return Object.values(group).map((value) => plain(value ?? "none").slice(0, 60)).join(", ") ||
    "value";
}
