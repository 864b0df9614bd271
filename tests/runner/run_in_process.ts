import { outputOf, signalIfRunning } from "../../local/process_output.ts";
import { checkout } from "../../local/stack.ts";
import type { Row } from "./report.ts";
import type { StepResult } from "./step.ts";

/** The variable with the file into which a step's process writes its result. */
export const rowFileName = "LOGLOOM_ROW_FILE";

/** Runs a step as a process of its own. Returns its result and output. */
export async function runApart(
  { name, files = [] }: { name: string; files?: string[] },
  { env, signal }: { env: Record<string, string>; signal?: AbortSignal },
): Promise<{ row: Row; text: string }> {
  const began = performance.now();
  const rowFile = await Deno.makeTempFile();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", `${checkout}/tests/run.ts`, name, ...files],
    clearEnv: true,
    env: { ...env, [rowFileName]: rowFile },
    signal,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const end = () => signalIfRunning(child, "SIGTERM");
  globalThis.addEventListener("unload", end);
  const late = new AbortController();
  let killing: ReturnType<typeof setTimeout> | undefined;
  const isAborted = () => {
    // Gives it time to stop its stack.
    killing = setTimeout(() => late.abort(), 60_000);
  };
  signal?.addEventListener("abort", isAborted);
  const { stdout, stderr } = await outputOf(child, late.signal).finally(() => {
    signal?.removeEventListener("abort", isAborted);
    globalThis.removeEventListener("unload", end);
    clearTimeout(killing);
  });
  const written = await Deno.readTextFile(rowFile);
  await Deno.remove(rowFile);
  const text = (stdout + stderr).split("\n== summary")[0];
  const row: StepResult = written
    ? JSON.parse(written)
    : { passed: 0, failed: 1, failures: [text.trim().slice(-600)] };
  return { row: { ...row, name, seconds: (performance.now() - began) / 1000 }, text };
}
