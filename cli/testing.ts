import process from "node:process";
import { Readable } from "node:stream";
import { runInClone } from "./logloom.ts";

/** The output and exit code of a command. */
export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs a command of a clone in the test's own process, without a terminal. Starting a process takes longer than most
 * commands. Commands run one at a time, because a process has one environment.
 */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = "",
): Promise<Run> {
  let [out, err] = ["", ""];
  const { log, error } = console;
  const { stdin } = process;
  const streams = [process.stdout, process.stderr] as const;
  const terminals = streams.map(({ isTTY }) => isTTY);
  const write = process.stdout.write;
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  try {
    Object.assign(process.env, env);
    const value = Readable.from(input === "" ? [] : [new TextEncoder().encode(input)]);
    Object.defineProperty(process, "stdin", { value, configurable: true });
    for (const stream of streams) stream.isTTY = false;
    console.log = (line: string) => out += `${line}\n`;
    console.error = (line: string) => err += `${line}\n`;
    process.stdout.write = ((text: string, done?: () => void) => {
      out += text;
      done?.();
      return true;
    }) as typeof write;
    return { code: await runInClone(args), out, err };
  } finally {
    Object.assign(console, { log, error });
    process.stdout.write = write;
    process.stdout.removeAllListeners("error");
    Object.defineProperty(process, "stdin", { value: stdin, configurable: true });
    streams.forEach((stream, index) => stream.isTTY = terminals[index]);
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
