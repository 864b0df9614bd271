import { say } from "./translate.ts";
import type { Group } from "../service/logloom.ts";
import { plain } from "./safe-text.ts";

/** The most lines that people can tell apart. */
export const mostLines = 8;

/** The fingerprint of the error that an alert is about; undefined for other alerts. */
export const errorOf = (group: Group | null): string | undefined => group?.fingerprint ?? undefined;

/** The group's fields in the order of the query. */
export function fieldsOf(group: Group, keys: string[]): string[] {
  const place = (name: string) => keys.includes(name) ? keys.indexOf(name) : keys.length;
  return Object.keys(group).sort((a, b) => place(a) - place(b));
}

export function groupLabel(group: Group | null, keys: string[]): string {
  if (group === null) return say("all others");
  return fieldsOf(group, keys).map((name) => plain(group[name] ?? say("none")).slice(0, 60))
    .join(", ") || say("value");
}
