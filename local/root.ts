import { command } from "./command.ts";
import { exists, removeIfThere } from "./files.ts";
import { Failure } from "./failure.ts";
import { startOf } from "./identity.ts";
import { statfs } from "node:fs/promises";

/** Part of the folder's name: raised when the packages change, so that an older root is not used. */
const revision = 1;
const release = "trixie";

const env = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };

/** Room for the packages while they are unpacked, and a little for data. */
const neededBytes = 2 * 1024 ** 3;

/**
 * A Debian release of its own, in a folder: Debian 12 and Ubuntu have an older PostgreSQL, and a root of ours leaves
 * the machine's packages as they are. It is kept outside the checkout, so that a machine pays for it once.
 */
export function rootPath(): string {
  return `${cacheFolder()}/debian-${release}-postgresql-17.r${revision}`;
}

/** What is made once a machine. */
export function cacheFolder(): string {
  return `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/logloom`;
}

export async function buildRoot(
  packages: string[],
  progress: (step: string) => void,
): Promise<string> {
  const root = rootPath();
  if (await exists(root)) {
    await complete(root, packages, progress);
    return root;
  }

  await Deno.mkdir(cacheFolder(), { recursive: true });
  const { bavail, bsize } = await statfs(cacheFolder());
  if (bavail * bsize < neededBytes) {
    throw new Failure(
      `PostgreSQL needs 2 GB of free disk in ${cacheFolder()} to be set up, and there is less. ` +
        "Free some space, or set XDG_CACHE_HOME to a folder on another disk.",
    );
  }

  // Built aside and renamed whole: what carries the name is complete, however a set-up before ended.
  const draft = `${root}.building-${Deno.pid}`;
  const log = `${draft}.log`;
  await removeAbandoned(`${root}.building-`);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  const signals: Deno.Signal[] = ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, interrupt);
  try {
    await build(draft, log, packages, progress, interrupted.signal);
    // Another stack may have been quicker: then its root stays.
    if (!(await exists(root))) await Deno.rename(draft, root);
    await removeIfThere(log);
  } catch (error) {
    if (interrupted.signal.aborted) throw new Failure("Setting up was interrupted.");
    throw error;
  } finally {
    for (const signal of signals) Deno.removeSignalListener(signal, interrupt);
    await removeDraft(draft);
  }
  return root;
}

/** Adds what an older set-up did not have. Its databases are in the root, so it is kept. */
async function complete(
  root: string,
  packages: string[],
  progress: (step: string) => void,
): Promise<void> {
  const lists = await Promise.all(
    packages.map((name) => exists(`${root}/var/lib/dpkg/info/${name}.list`)),
  );
  const missing = packages.filter((_, n) => !lists[n]);
  if (missing.length === 0) return;
  progress(`Installing ${missing.join(", ")}`);
  const log = `${root}.added.log`;
  try {
    await install(root, missing, (what) => ({ env, log, failure: `${what} failed (see ${log})` }));
    await removeIfThere(log);
  } catch (error) {
    // Without a network, say: what the older set-up has serves all the same.
    if (!(error instanceof Failure)) throw error;
    progress(`Going on without: ${error.message}`);
  }
}

/** Removes what set-ups left that were killed before they could do so themselves. */
async function removeAbandoned(prefix: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(cacheFolder())) {
    const path = `${cacheFolder()}/${name}`;
    if (!isDirectory || !path.startsWith(prefix)) continue;
    if ((await startOf(Number(path.slice(prefix.length)))) === "") await removeDraft(path);
  }
}

async function removeDraft(draft: string): Promise<void> {
  if (!(await exists(draft))) return;
  // debootstrap mounts these while it works.
  for (const mount of ["proc", "sys"]) {
    await new Deno.Command("umount", { args: ["--lazy", `${draft}/${mount}`], stderr: "null" })
      .output();
  }
  await removeIfThere(draft);
}

async function build(
  draft: string,
  log: string,
  packages: string[],
  progress: (step: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const failure = (what: string) => ({ env, log, signal, failure: `${what} failed (see ${log})` });

  if (!(await exists("/usr/sbin/debootstrap"))) {
    progress("Installing debootstrap");
    await command(["apt-get", "update"], failure("Reading the package lists"));
    await command(
      ["apt-get", "install", "--yes", "--no-install-recommends", "debootstrap"],
      failure("Installing debootstrap"),
    );
  }

  progress("Unpacking a small Debian for PostgreSQL (once a machine, about a minute)");
  await command(
    ["debootstrap", "--variant=minbase", release, draft],
    failure("Unpacking Debian"),
  );

  progress("Installing PostgreSQL 17, pg_cron, pg_partman, pgTAP and nginx in it");
  // No service of these packages is to start, and no cluster of theirs is needed.
  await Deno.writeTextFile(`${draft}/usr/sbin/policy-rc.d`, "#!/bin/sh\nexit 101\n", {
    mode: 0o755,
  });
  await Deno.mkdir(`${draft}/etc/postgresql-common`, { recursive: true });
  await Deno.writeTextFile(
    `${draft}/etc/postgresql-common/createcluster.conf`,
    "create_main_cluster = false\n",
  );
  await install(draft, packages, failure);
}

type Options = Parameters<typeof command>[1];

async function install(
  root: string,
  packages: string[],
  options: (what: string) => Options,
): Promise<void> {
  // Two stacks may start at once.
  const alone = ["flock", root];
  await command(
    [...alone, "chroot", root, "apt-get", "update"],
    options("Reading the package lists"),
  );
  await command(
    [
      ...alone,
      "chroot",
      root,
      "apt-get",
      "install",
      "--yes",
      "--no-install-recommends",
      "-o",
      "Dpkg::Options::=--force-confold",
      ...packages,
    ],
    options(`Installing ${packages[0]}`),
  );
  await command(["chroot", root, "apt-get", "clean"], options("Tidying up"));
  await removeIfThere(`${root}/var/lib/apt/lists`);
}
