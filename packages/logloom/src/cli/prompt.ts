import { once } from "node:events";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { Failure } from "./failure.ts";
import type { Cli } from "./command_line.ts";

/** Asks a question at the terminal. Without a terminal it fails and names the option to use instead. */
export async function ask(cli: Cli, question: string, option: string): Promise<string> {
  if (!process.stdin.isTTY) throw new Failure(`${option} is missing: ${question}.`);
  return answered(await readLine(cli, question, process.stderr), question);
}

/** Asks for a secret without showing it. Without a terminal it reads the first line of standard input. */
export async function askSecret(cli: Cli, question: string): Promise<string> {
  const isTerminal = process.stdin.isTTY === true;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  if (isTerminal) process.stderr.write(`${question}: `);
  try {
    return answered(await readLine(cli, "", nowhere, isTerminal), question);
  } finally {
    if (isTerminal) process.stderr.write("\n");
  }
}

function answered(line: string, question: string): string {
  const answer = line.trim();
  if (answer === "") throw new Failure(`no answer to: ${question}.`);
  return answer;
}

async function readLine(
  { signal }: Cli,
  question: string,
  output: NodeJS.WritableStream,
  terminal: boolean = process.stdin.isTTY === true,
): Promise<string> {
  const lines = createInterface({ input: process.stdin, output, terminal });
  // While the terminal does not echo, Ctrl-C arrives as a key and not as a signal.
  lines.once("SIGINT", () => process.kill(process.pid, "SIGINT"));
  if (question !== "") lines.setPrompt(`${question}: `);
  if (question !== "") lines.prompt();
  try {
    const line = await Promise.race([
      once(lines, "line", { signal }).then(([line]) => String(line)),
      once(lines, "close", { signal }).then(() => ""),
    ]);
    return line;
  } finally {
    lines.close();
  }
}
