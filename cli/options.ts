import { parseArgs, type ParseArgsConfig } from "node:util";
import { Failure } from "../local/exit_on_failure.ts";

/** Names that npm knows too, which a user may have in an .npmrc. */
const ofNpm = new Set(["help", "json", "key", "url", "user", "role", "yes", "force", "env"]);

/**
 * Without `--` npm takes a script's options for its own: it hands over the rest, and the values as npm_config_…. A
 * command that went on would do something else than was asked.
 */
export function refuseTaken(names: readonly string[]): void {
  const variable = "npm_lifecycle_event";
  // A shipper beside a stack may read no more than its own variables.
  if (Deno.permissions.querySync({ name: "env", variable }).state !== "granted") return;
  const script = Deno.env.get(variable);
  if (script === undefined) return;
  for (const name of names) {
    if (ofNpm.has(name)) continue;
    if (Deno.env.get(`npm_config_${name.replaceAll("-", "_")}`) === undefined) continue;
    throw new Failure(
      `npm took --${name} for itself: write npm run ${script} -- --${name} …, with -- before it.`,
    );
  }
}

/** `parseArgs`, with a mistake as one sentence. */
export function parseOptions<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  refuseTaken(Object.keys(config.options ?? {}));
  try {
    return parseArgs(config);
  } catch (error) {
    const message = error instanceof Error ? error.message.split(/\.\s/)[0] : String(error);
    throw new Failure(`${message}; --help lists the options.`);
  }
}
