import { Failure } from "./failure.ts";
import { harmless } from "./format_lines.ts";

/** A thing of the service, and what tells it from others of its name. */
export interface Named {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The id of a thing that is named by its id or its name. Of two with one name none is taken. */
export async function idOf(
  what: string,
  named: string,
  things: AsyncIterable<Named>,
): Promise<string> {
  // An id goes before a name, and needs no list.
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
