import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { exitCodes, sentence } from "./failure.ts";

/** The destination of lines: a pager at a terminal, else standard output. Both may close early. */
export interface Output {
  /** False once nobody reads any more. */
  write(line: string): Promise<boolean>;
  close(): Promise<void>;
}

let isPaged = false;

/** Whether a pager has the terminal: Ctrl-C is for it. */
export function hasPager(): boolean {
  return isPaged;
}

export function isColoured(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR;
}

/** `page`: at a terminal, output longer than the screen goes to $PAGER, by default less. */
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

/** The reader of a pipe may close it: `| head`. */
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

/** Hears why standard output cannot be written to, which is told at the end. */
export function watchOutput(): void {
  process.stdout.on("error", (error) => failure ??= error);
}

/** Ends the program once all that it said is written: a pipe takes 64 kB at a time. */
export async function leave(code: number): Promise<never> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => {});
    await new Promise<void>((resolve) => stream.write("", () => resolve()));
  }
  // The reader of a pipe may close it: `| head`. Else something is missing that was asked for.
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
