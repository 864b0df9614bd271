import { checkout } from "../stack.ts";
import { schemaFiles } from "./schemas.ts";

/** A function or procedure of the schemas. Names may be overloaded. */
export interface SchemaFunction {
  /** The name with its schema. */
  name: string;
  file: string;
  /** The text between its name and its body, such as parameters and defaults. */
  head: string;
  body: string;
}

/** Files of the schemas with their texts, in the order in which they build on each other. */
export async function schemaTexts(): Promise<{ path: string; text: string }[]> {
  return await Promise.all((await schemaFiles()).map(async (path) => ({
    path,
    text: await Deno.readTextFile(`${checkout}/${path}`),
  })));
}

/** The body is a text, or standard SQL: an expression, or statements. */
const definition =
  /^create (?:or replace )?(?:function|procedure) (\w+\.\w+)([^]*?)\n(?:as (\$\w*\$)([^]*?)\3;|(return [^]*?;|begin atomic\n[^]*?\nend;)$)/gm;

export function functionsOf(files: { path: string; text: string }[]): SchemaFunction[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(definition)].map(([, name, head, , quoted, standard]) => ({
      name,
      file: path,
      head,
      body: quoted ?? standard,
    }))
  );
}

/**
 * Finds the names of the functions that a text calls, also in dynamic SQL. An incomplete name in a format stands for
 * all names with the same beginning or end.
 */
export function callsIn(text: string, names: Set<string>): Set<string> {
  const calls = new Set<string>();
  const code = text.replace(/--[^\n]*/g, "");
  for (const [, name, rest] of code.matchAll(/\b((?:public|logloom_private)\.\w+)(%s)?/g)) {
    if (names.has(name)) calls.add(name);
    if (rest) { for (const other of names) if (other.startsWith(name)) calls.add(other); }
  }
  if (!code.includes("logloom_private.%I(")) return calls;
  for (const [, ending] of code.matchAll(/\|\| '(_\w+)'/g)) {
    for (const other of names) if (other.endsWith(ending)) calls.add(other);
  }
  return calls;
}
