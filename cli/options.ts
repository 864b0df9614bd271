import { parseArgs, type ParseArgsConfig } from "node:util";
import { Failure } from "../local/failure.ts";

/** `parseArgs`, with a mistake as one sentence. */
export function parseOptions<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const message = error instanceof Error ? error.message.split(/\.\s/)[0] : String(error);
    throw new Failure(`${message}; --help lists the options.`);
  }
}
