import { Failure } from "./exit_on_failure.ts";
import { type Output, outputOf } from "./process_output.ts";

export interface CommandOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** The failure as a sentence. The command's last lines follow it. */
  failure: string;
  /** A file for the whole output. */
  log?: string;
  /** Ends the command early. */
  signal?: AbortSignal;
  /** Milliseconds after which the command is killed and counts as failed. */
  within?: number;
}

/** A command that takes longer counts as hanging. */
const longest = 1_200_000;

/** Runs a command and returns its standard output; a failure becomes one sentence. */
export async function command(argv: string[], options: CommandOptions): Promise<string> {
  const [program, ...args] = argv;
  const { within = longest } = options;
  const late = AbortSignal.timeout(within);
  let output: Output;
  try {
    const child = new Deno.Command(program, {
      args,
      env: options.env,
      cwd: options.cwd,
      signal: options.signal,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    output = await outputOf(child, late);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Failure(`${options.failure}: the program ${program} is missing on this machine.`);
  }
  const { code, stdout, stderr } = output;
  if (options.log) {
    const text = `$ ${argv.join(" ")}\n${stdout}${stderr}\n`;
    await Deno.writeTextFile(options.log, text, { append: true });
  }
  if (code !== 0 && late.aborted) {
    throw new Failure(`${options.failure}: it did not end within ${within / 1000} s.`);
  }
  if (code !== 0) throw new Failure(`${options.failure}: ${reason(stdout + stderr)}`);
  return stdout;
}

/** Returns the cause of a failed command. A common cause is explained in plain words. */
export function reason(output: string): string {
  if (/no space left on device/i.test(output)) {
    return "the disk is full. Free some space and run the command again.";
  }
  const network =
    /temporary failure resolving|could not resolve|unable to connect|connection timed out|couldn't download|failed getting release|failed to fetch/i;
  if (network.test(output)) {
    return "a download failed. Check the network and run the command again.";
  }
  const lines = output.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const telling = lines.filter((line) => /^(E:|error|fatal|initdb: error)/i.test(line));
  return telling.at(-1) ?? lines.at(-1) ?? "it gave no reason.";
}
