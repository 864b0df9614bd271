import type { SavedSearch } from "../service/logloom.ts";

/** The parameters that are saved with a search, besides its query. */
const names = ["from", "to", "cols", "order", "tab"] as const;

export function displayOf(parameters: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => parameters[name] ? [[name, parameters[name]]] : []),
  );
}

/** The address of a saved search: its query, range, columns, order and tab. */
export function placeOf(saved: SavedSearch): Record<string, string> {
  const kept = Object.fromEntries(
    Object.entries(saved.display).filter((one): one is [string, string] =>
      typeof one[1] === "string"
    ),
  );
  return { q: saved.query_dsl, ...displayOf(kept) };
}
