import { parseArgs } from "node:util";
import { Failure } from "./exit_on_failure.ts";
import { type Stack, stackNamed, stackNames } from "./stack.ts";

/** Reads a command's flags and options; commands that work on several stacks take --stack. */
export function readOptions<Flag extends string, Name extends string = never>(
  flags: readonly Flag[],
  names: readonly Name[] = [],
): { stack: Stack } & Record<Flag, boolean> & Record<Name, string | undefined> {
  const options: Record<string, { type: "boolean" | "string" }> = { stack: { type: "string" } };
  for (const flag of flags) options[flag] = { type: "boolean" };
  for (const name of names) options[name] = { type: "string" };
  let values: Record<string, string | boolean | undefined>;
  try {
    ({ values } = parseArgs({ args: Deno.args, options }));
  } catch (error) {
    const message = error instanceof Error ? error.message.split(". ")[0] : `${error}`;
    throw new Failure(`${message}; docs/guides/local-stack.md lists the options.`);
  }
  const wanted = values.stack ?? "dev";
  const name = stackNames.find((known) => known === wanted);
  if (!name) throw new Failure(`There is no stack ${wanted}; there are ${stackNames.join(", ")}.`);
  const given = Object.fromEntries(flags.map((flag) => [flag, values[flag] === true]));
  const told = Object.fromEntries(names.map((name) => [name, values[name]]));
  return {
    ...given as Record<Flag, boolean>,
    ...told as Record<Name, string | undefined>,
    stack: stackNamed(name),
  };
}
