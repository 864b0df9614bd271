import { outputOf, signalIfRunning } from "../../local/output.ts";
import { checkout } from "../../local/stack.ts";
import { failureMark, type Row } from "./report.ts";
import type { Step } from "./step.ts";

/** Runs a step as a process of its own. The result is its row, and what it said. */
export async function runApart(
  { name }: Pick<Step, "name">,
  { env, signal }: { env: Record<string, string>; signal?: AbortSignal },
): Promise<{ row: Row; text: string }> {
  const began = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", `${checkout}/tests/run.ts`, name],
    clearEnv: true,
    env,
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
    // It stops its stack first.
    killing = setTimeout(() => late.abort(), 60_000);
  };
  signal?.addEventListener("abort", isAborted);
  const { stdout, stderr } = await outputOf(child, late.signal).finally(() => {
    signal?.removeEventListener("abort", isAborted);
    globalThis.removeEventListener("unload", end);
    clearTimeout(killing);
  });
  const text = stdout + stderr;
  const counts = /^(\d+) passed, (\d+) failed$/m.exec(text);
  const [, verdict] = /0 passed +0 failed .* s {3}(.+)/.exec(text) ?? [];
  const row = {
    name,
    seconds: (performance.now() - began) / 1000,
    passed: Number(counts?.[1] ?? 0),
    failed: Number(counts?.[2] ?? 1),
    failures: text.split(`${failureMark}${name}: `).slice(1).map((failure) => failure.trim()),
    ...verdict && { skipped: verdict },
  };
  return { row, text: text.slice(0, text.indexOf("\n== summary")) };
}
