import { deepStrictEqual, match, rejects, strictEqual } from "node:assert/strict";
import { Failure } from "./exit_on_failure.ts";
import { isAlive } from "./process_identity.ts";
import { type ProcessDefinition, Supervisor } from "./supervisor.ts";
import { tempFolder } from "../tests/support/temp_folder.ts";

/** Makes a shell process that writes its events to a file. */
function shell(name: string, script: string, more: Partial<ProcessDefinition> = {}) {
  return {
    name,
    command: ["sh", "-c", script],
    env: {},
    dependsOn: [],
    ready: () => Promise.resolve(true),
    stopSignal: "SIGTERM" as const,
    ...more,
  };
}

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  await using temp = await tempFolder();
  const folder = temp.path;
  await test(folder);
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 300_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("it never happened");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

Deno.test("processes stop in the reverse order of their start, each by its own signal", () =>
  inFolder(async (folder) => {
    const supervisor = new Supervisor(folder, () => {});
    const script = (name: string, signal: string) =>
      `trap 'echo ${name} >> ${folder}/ends; exit' ${signal}; touch ${folder}/${name}; while :; do sleep 0.05; done`;
    const ready = (name: string) => async () => !!await Deno.stat(`${folder}/${name}`);
    await supervisor.start(shell("first", script("first", "INT"), {
      ready: ready("first"),
      stopSignal: "SIGINT",
    }));
    await supervisor.start(shell("second", script("second", "TERM"), {
      ready: ready("second"),
      dependsOn: ["first"],
    }));
    await supervisor.stop();
    strictEqual(await Deno.readTextFile(`${folder}/ends`), "second\nfirst\n");
    deepStrictEqual(Object.values(supervisor.statuses).map(({ state }) => state), [
      "stopped",
      "stopped",
    ]);
  }));

Deno.test("a killed process is restarted with another pid, and its leftovers are removed", () =>
  inFolder(async (folder) => {
    const supervisor = new Supervisor(folder, () => {});
    await supervisor.start(shell("server", `sleep 1000 & echo $! > ${folder}/child; wait`, {
      ready: async () => (await Deno.readTextFile(`${folder}/child`)).trim() !== "",
    }));
    const before = { ...supervisor.statuses.server };
    const child = Number(await Deno.readTextFile(`${folder}/child`));
    Deno.kill(before.pid, "SIGKILL");
    await until(() =>
      supervisor.statuses.server.state === "ready" && supervisor.statuses.server.restarts === 1
    );
    strictEqual(await isAlive(before), false);
    strictEqual(await isAlive(supervisor.statuses.server), true);
    await until(async () => !(await isRunning(child)));
    await supervisor.stop();
  }));

Deno.test("a process that is killed before it serves is also restarted", () =>
  inFolder(async (folder) => {
    const supervisor = new Supervisor(folder, () => {});
    let starts = 0;
    let isAsked = false;
    await supervisor.start(shell("server", "sleep 1000", {
      clear: () => Promise.resolve(void (starts += 1)),
      ready: () => {
        if (starts !== 2) return Promise.resolve(true);
        isAsked = true;
        return new Promise(() => {});
      },
    }));
    Deno.kill(supervisor.statuses.server.pid, "SIGKILL");
    await until(() => isAsked);
    Deno.kill(supervisor.statuses.server.pid, "SIGKILL");
    await until(() =>
      supervisor.statuses.server.state === "ready" && supervisor.statuses.server.restarts === 2
    );
    await supervisor.stop();
  }));

async function isRunning(pid: number): Promise<boolean> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  return stat !== "" && !stat.includes(") Z ");
}

Deno.test("a process that ends before it serves is a failure with its last output", () =>
  inFolder(async (folder) => {
    const supervisor = new Supervisor(folder, () => {});
    await rejects(
      supervisor.start(shell("server", "echo 'no room left' >&2; exit 3", {
        ready: () => Promise.resolve(false),
      })),
      (error: unknown) => {
        strictEqual(error instanceof Failure, true);
        match((error as Failure).message, /^server did not start: no room left \(see /);
        return true;
      },
    );
    await supervisor.stop();
    match(await Deno.readTextFile(`${folder}/server.log`), /-- server ended \(code 3\)/);
  }));

Deno.test("a process is not started before its dependencies", () =>
  inFolder(async (folder) => {
    const supervisor = new Supervisor(folder, () => {});
    await rejects(supervisor.start(shell("second", "", { dependsOn: ["first"] })), {
      message: "second was started before first",
    });
  }));

Deno.test("no process starts while the others stop", () =>
  inFolder(async (folder) => {
    const supervisor = new Supervisor(folder, () => {});
    await supervisor.stop();
    await rejects(supervisor.start(shell("late", `touch ${folder}/late`)), {
      message: "late was not started, because the stack stops.",
    });
    deepStrictEqual(supervisor.statuses, {});
  }));
