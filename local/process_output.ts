/** The output and exit code of a process. */
export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

/** Signals a process that was started here, unless it has ended. */
export function signalIfRunning(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Reads a process's output until it ends. When `late` comes, the process gets SIGKILL: Node that hangs at its end
 * ignores other signals (https://github.com/nodejs/node/issues/54918). Processes that it leaves behind may keep its
 * output open and are not waited for.
 */
export async function outputOf(
  child: Deno.ChildProcess,
  late: AbortSignal,
  hear: (text: string, from: "stdout" | "stderr") => void = () => {},
): Promise<Output> {
  const said = { stdout: "", stderr: "" };
  let isOver = false;
  const reading = Promise.all((["stdout", "stderr"] as const).map(async (from) => {
    for await (const text of child[from].pipeThrough(new TextDecoderStream())) {
      if (isOver) continue;
      said[from] += text;
      hear(text, from);
    }
  }));
  const kill = () => signalIfRunning(child, "SIGKILL");
  late.addEventListener("abort", kill);
  if (late.aborted) kill();
  let wait: ReturnType<typeof setTimeout> | undefined;
  try {
    const { code } = await child.status;
    await Promise.race([reading, new Promise((resolve) => wait = setTimeout(resolve, 2_000))]);
    return { code, ...said };
  } finally {
    isOver = true;
    clearTimeout(wait);
    late.removeEventListener("abort", kill);
  }
}
