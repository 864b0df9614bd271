import { command } from "./run_command.ts";
import { exists, removeIfThere } from "./files.ts";
import { Failure } from "./exit_on_failure.ts";
import { startOf } from "./process_identity.ts";
import { statfs } from "node:fs/promises";

/** A part of the folder's name. Increase it when the packages change, so that no older root is used. */
const revision = 1;
const release = "trixie";

const env = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };

/** Space to unpack the packages, and a little for data. */
const neededBytes = 2 * 1024 ** 3;

/**
 * A Debian release in a folder, because Debian 12 and Ubuntu have an older PostgreSQL, and the machine's own packages
 * stay untouched. It is outside the checkout, so that a machine needs it only once.
 */
export function rootPath(): string {
  return `${cacheFolder()}/debian-${release}-postgresql-17.r${revision}`;
}

/** Returns the folder of everything that a machine sets up once. */
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

  // The folder is built under another name and renamed when it is complete.
  const draft = `${root}.building-${Deno.pid}`;
  const log = `${draft}.log`;
  await removeAbandoned(`${root}.building-`);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  const signals: Deno.Signal[] = ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, interrupt);
  try {
    await build(draft, log, packages, progress, interrupted.signal);
    // If another stack has built the root meanwhile, that root stays.
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

/** Adds packages that an older set-up lacks. Its databases are in the root, so the root is kept. */
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
    // The older set-up still works, for example without a network.
    if (!(error instanceof Failure)) throw error;
    progress(`Continuing without: ${error.message}`);
  }
}

/** Adds optional packages to the root. Without a root they must be installed already. */
export async function addPackages(
  program: string,
  packages: string[],
  progress: (step: string) => void,
): Promise<void> {
  const root = (await exists(rootPath())) ? rootPath() : "";
  if (await exists(`${root}${program}`)) return;
  if (root === "") {
    throw new Failure(`${program} is missing: install the packages ${packages.join(" ")}.`);
  }
  progress(`Installing ${packages.join(", ")}`);
  const log = `${root}.added.log`;
  await install(root, packages, (what) => ({ env, log, failure: `${what} failed (see ${log})` }));
  await removeIfThere(log);
}

/** Removes the remains of killed set-ups. */
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
  await command(["debootstrap", "--variant=minbase", release, draft], failure("Unpacking Debian"));

  progress("Installing PostgreSQL 17, pg_cron, pg_partman, pgTAP and nginx in it");
  // The packages must not start services or create clusters when they are installed.
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
  // Two stacks may start at the same time.
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
