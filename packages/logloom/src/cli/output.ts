import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { exitCodes, sentence } from "./failure.ts";

/**
 * Where lines are written: to a pager if output is a terminal, otherwise to standard output. Both may be closed early.
 */
export interface Output {
  /** Returns false if the output is closed. */
  write(line: string): Promise<boolean>;
  close(): Promise<void>;
}

let isPaged = false;

/** Whether a pager controls the terminal. Ctrl-C then belongs to the pager. */
export function hasPager(): boolean {
  return isPaged;
}

export function isColoured(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR;
}

/** With `page`, output that is longer than the screen goes to $PAGER (default: less) if output is a terminal. */
export async function openOutput({ page }: { page: boolean }): Promise<Output> {
  const pager = page && process.stdout.isTTY && process.env.PAGER !== "cat"
    ? await openPager()
    : null;
  if (!pager?.stdin) return { write: lineWriter(process.stdout), close: () => Promise.resolve() };
  const { stdin } = pager;
  isPaged = true;
  const ended = once(pager, "exit").finally(() => isPaged = false);
  return {
    write: lineWriter(stdin),
    async close() {
      stdin.end();
      await ended;
    },
  };
}

/** Writes lines to a stream. The reader of a pipe may close it, such as `| head`. */
function lineWriter(stream: Writable): Output["write"] {
  let isOpen = true;
  stream.on("error", () => isOpen = false);
  return (line) =>
    new Promise((resolve) =>
      stream.write(`${line}\n`, (error) => {
        if (error) isOpen = false;
        resolve(isOpen);
      })
    );
}

let failure: (Error & { code?: string }) | undefined;

/** Remembers the error if standard output cannot be written. leave() reports it. */
export function watchOutput(): void {
  process.stdout.on("error", (error) => failure ??= error);
}

/** Ends the program after all output is written. A pipe takes only 64 kB at a time. */
export async function leave(code: number): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => {});
    await new Promise<void>((resolve) => stream.write("", () => resolve()));
  }
  // EPIPE means that the reader of a pipe closed it, such as `| head`. Any other error means that output was lost.
  if (failure === undefined || failure.code === "EPIPE") process.exit(code);
  console.error(`logloom: standard output: ${sentence(failure)}`);
  process.exit(code === exitCodes.done ? exitCodes.failed : code);
}

async function openPager(): Promise<ChildProcess | null> {
  const named = process.env.PAGER;
  const [program, ...args] = named ? ["sh", "-c", named] : ["less", "-FRX"];
  const pager = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"] });
  return await new Promise((resolve) => {
    pager.once("spawn", () => resolve(pager));
    pager.once("error", () => resolve(null));
  });
}
