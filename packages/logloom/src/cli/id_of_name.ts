import { Failure } from "./failure.ts";
import { harmless } from "./format_lines.ts";

/** A rule, key or view, with a text that tells it from others of the same name. */
export interface Named {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the id of the rule, key or view with this name or id. Fails if two have the name. */
export async function idOf(
  what: string,
  named: string,
  things: AsyncIterable<Named>,
): Promise<string> {
  // An id has priority over a name, and needs no list.
  if (uuid.test(named)) return named.toLowerCase();
  const all: Named[] = [];
  for await (const thing of things) all.push(thing);
  const found = all.filter(({ name }) => name === named);
  if (found.length === 1) return found[0].id;
  if (found.length > 1) {
    const ids = found.map(({ id, detail }) => `\n  ${id}  ${harmless(detail)}`.trimEnd());
    throw new Failure(
      `there are ${found.length} ${what}s ${harmless(named)}: name one by its id.${ids.join("")}`,
    );
  }
  const names = [...new Set(all.map(({ name }) => harmless(name)))].sort().join(", ");
  throw new Failure(
    `there is no ${what} ${harmless(named)}; there ${names ? `are: ${names}` : "are none"}.`,
  );
}
