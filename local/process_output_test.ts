import assert from "node:assert/strict";
import { outputOf, signalIfRunning } from "./process_output.ts";

const bash = (script: string) =>
  new Deno.Command("bash", { args: ["-c", script], stdout: "piped", stderr: "piped" }).spawn();

Deno.test("a process's output is passed on as it comes, and returned at its end", async () => {
  const heard: string[] = [];
  const output = await outputOf(
    bash("echo one; echo two >&2; exit 3"),
    new AbortController().signal,
    (text, from) => heard.push(`${from}: ${text}`),
  );
  assert.deepEqual(output, { code: 3, stdout: "one\n", stderr: "two\n" });
  assert.deepEqual(heard.sort(), ["stderr: two\n", "stdout: one\n"]);
});

Deno.test("a process that ignores other signals is killed when it is late", async () => {
  const output = await outputOf(
    bash("trap '' TERM; echo begun; exec sleep 600"),
    AbortSignal.timeout(500),
  );
  assert.deepEqual(output, { code: 137, stdout: "begun\n", stderr: "" });
});

Deno.test("the output is there when the process ends, even if its children keep it open, and a later time-out changes nothing", async () => {
  const child = bash("sleep 600 & echo $!");
  const { code, stdout } = await outputOf(child, AbortSignal.timeout(1_000));
  Deno.kill(Number(stdout));
  assert.equal(code, 0);
  signalIfRunning(child, "SIGKILL");
});
