import assert from "node:assert/strict";
import { npmCi } from "./npm.mjs";

/** Makes a folder with a program in place of npm, which counts its runs in a file. */
async function folderWith(lines: string): Promise<{ path: string; program: string } & Disposable> {
  const path = await Deno.makeTempDir({ prefix: "logloom-test-" });
  const program = `${path}/npm`;
  const script = `#!/usr/bin/env bash\necho run >> runs\nruns=$(wc -l < runs)\n${lines}\n`;
  await Deno.writeTextFile(program, script, { mode: 0o755 });
  return { path, program, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

const runs = async (path: string) => (await Deno.readTextFile(`${path}/runs`)).length / 4;

Deno.test("npm that hangs after its work is killed and run again", async () => {
  // Ignores SIGTERM.
  using folder = await folderWith(
    `if [ "$runs" = 1 ]; then trap '' TERM; exec sleep 600; fi; echo "$*"`,
  );
  const { status, output } = await npmCi(folder.path, ["--omit=dev"], {
    program: folder.program,
    within: 1_000,
  });
  assert.equal(status, 0);
  assert.equal(output, "ci --ignore-scripts --no-audit --no-fund --omit=dev\n");
  assert.equal(await runs(folder.path), 2);
});

Deno.test("npm that hangs three times is given up with a message", async () => {
  using folder = await folderWith("exec sleep 600");
  const { status, output } = await npmCi(folder.path, [], { program: folder.program, within: 500 });
  assert.equal(status, null);
  assert.equal(output, "\nIt did not end within 0.5 s.");
  assert.equal(await runs(folder.path), 3);
});

Deno.test("npm that fails is not run again, and its exit code and output are returned", async () => {
  using folder = await folderWith("echo 'npm error code ENOSPC' >&2; exit 28");
  const { status, output } = await npmCi(folder.path, [], { program: folder.program });
  assert.deepEqual({ status, output }, { status: 28, output: "npm error code ENOSPC\n" });
  assert.equal(await runs(folder.path), 1);
});

Deno.test("without npm the status is null, and there is no output", async () => {
  const { status, output } = await npmCi(Deno.cwd(), [], { program: "logloom-has-no-npm" });
  assert.deepEqual({ status, output }, { status: null, output: "" });
});

Deno.test("a signal ends npm, which is not run again", async () => {
  using folder = await folderWith("exec sleep 600");
  const signal = AbortSignal.timeout(1_000);
  const { status } = await npmCi(folder.path, [], { program: folder.program, signal });
  assert.equal(status, null);
  assert.equal(await runs(folder.path), 1);
});
