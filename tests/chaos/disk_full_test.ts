import assert from "node:assert/strict";
import { endOrphans } from "../../local/processes/postgres.ts";
import { health, newTenant } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { keepDown, stackState } from "../support/processes.ts";
import { complete, outcomeOf, Sender } from "../support/sender.ts";
import { onlyIf } from "../support/skip_unless.ts";

Deno.test({
  name:
    "with a full disk requests are refused and health says so; with free space everything continues by itself",
  ...onlyIf(await canMount(), "a small disk needs root and tmpfs"),
  fn: async () => {
    await using disk = await putOnSmallDisk(64);
    const sender = new Sender(await newTenant(), { ballast: 4_000, pauseBetween: 20 });
    sender.start();
    await eventually("a request is refused", () => Promise.resolve(sender.repeats > 0));
    await eventually("health is not well", async () => {
      const { status } = await health("/ready").catch(() => ({ status: 0 }));
      return status !== 200;
    });
    await disk.grow();
    await eventually("health is well again", async () => {
      const { status } = await health("/ready").catch(() => ({ status: 0 }));
      return status === 200;
    });
    await sender.stop();
    await using db = openDatabase();
    assert.deepEqual(await outcomeOf(db, sender.tenant), complete(sender));
  },
});

/** Returns whether we may mount: only root may, and not in every container. */
async function canMount(): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  try {
    await run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder);
    await run("umount", folder);
    return true;
  } catch {
    console.log("  This machine does not allow mounting a file system: no trial with a full disk.");
    return false;
  } finally {
    await Deno.remove(folder);
  }
}

/** Moves the database to a small file system. */
async function putOnSmallDisk(
  megabytes: number,
): Promise<AsyncDisposable & { grow(): Promise<void> }> {
  const data = await Deno.readLink(`/proc/${(await stackState()).processes.postgres.pid}/cwd`);
  const aside = `${data}.aside`;
  let used = 0;
  const resize = (room: number) => `size=${used + room}m,nr_inodes=0,mode=700`;
  {
    await using _down = await keepDown("postgres");
    // Backends outlive a killed server for a moment, pg_cron's launcher forever.
    await endOrphans(data);
    await eventually("nothing of the server is at work", async () => !await isCwd(data));
    await run("mv", data, aside);
    used = Number((await run("du", "-sm", aside)).split("\t")[0]);
    await Deno.mkdir(data);
    await run("mount", "-t", "tmpfs", "-o", resize(megabytes), "tmpfs", data);
    await run("chown", `--reference=${aside}`, data);
    await run("cp", "-a", `${aside}/.`, data);
  }
  return {
    grow: async () => {
      await run("mount", "-o", `remount,${resize(megabytes + 1_024)}`, data);
    },
    [Symbol.asyncDispose]: async () => {
      await using _down = await keepDown("postgres");
      await run("rm", "-rf", aside);
      await run("cp", "-a", data, aside);
      await run("umount", "--lazy", data);
      await Deno.remove(data);
      await run("mv", aside, data);
    },
  };
}

/** Returns whether a process works in a folder. */
async function isCwd(folder: string): Promise<boolean> {
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const cwd = await Deno.readLink(`/proc/${name}/cwd`).catch(() => "");
    if (cwd === folder) return true;
  }
  return false;
}

async function run(program: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args }).output();
  if (!success) throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}
