import { command } from "../../local/run_command.ts";
import { exists, oneAtATime } from "../../local/files.ts";
import { installPackages } from "../../local/npm.ts";
import { cacheFolder } from "../../local/system_root.ts";
import { checkout } from "../../local/stack.ts";

/** Installs the senders from npm: the few of every test run, or all. */
export async function installSenders(
  which: "few" | "all",
  progress: (step: string) => void,
): Promise<void> {
  await installPackages(`${checkout}/tests/senders`, {
    what: "the senders' packages",
    withoutDev: which === "few",
    progress,
  });
}

/** Part of the folder's name: raised when the packages change. */
const revision = 2;

/** Packages that conflict are downloaded separately and unpacked into the same folder. */
const debianPackages = [
  [
    "python3-minimal",
    "rsyslog",
    "rsyslog-elasticsearch",
    "python3-graypy",
    "python3-elasticsearch",
    "nginx",
  ],
  ["syslog-ng-core", "syslog-ng-mod-http"],
];

/**
 * A folder with Debian's senders, unpacked but not installed, so that the machine stays unchanged. Undefined without
 * Debian.
 */
export async function debianSenders(): Promise<string | undefined> {
  if (Deno.uid() !== 0 || !(await exists("/etc/debian_version"))) return undefined;
  const place = `${cacheFolder()}/senders.r${revision}`;
  await oneAtATime(() => unpackInto(place));
  return place;
}

async function unpackInto(place: string): Promise<void> {
  if (await exists(place)) return;
  const draft = `${place}.unpacking-${Deno.pid}`;
  await Deno.mkdir(`${draft}.archives/partial`, { recursive: true });
  const env = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const failure = (what: string) => ({ env, failure: `${what} failed` });
  await command(["apt-get", "update"], failure("Reading the package lists"));
  for (const packages of debianPackages) {
    await command([
      "apt-get",
      "-o",
      `Dir::Cache::archives=${draft}.archives`,
      ...["install", "--download-only", "--yes", "--no-install-recommends"],
      ...packages,
    ], failure("Downloading Debian's senders"));
  }
  await Deno.mkdir(draft, { recursive: true });
  for await (const { name } of Deno.readDir(`${draft}.archives`)) {
    if (!name.endsWith(".deb")) continue;
    await command(["dpkg-deb", "-x", `${draft}.archives/${name}`, draft], failure("Unpacking"));
  }
  await Deno.remove(`${draft}.archives`, { recursive: true });
  await Deno.rename(draft, place);
}

/** Returns the variables by which unpacked programs find their libraries and modules. */
export function debianEnv(place: string): Record<string, string> {
  const arch = Deno.build.arch === "aarch64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return {
    LD_LIBRARY_PATH: [`usr/lib/${arch}`, `lib/${arch}`, "usr/lib/syslog-ng"]
      .map((path) => `${place}/${path}`).join(":"),
    PYTHONPATH: `${place}/usr/lib/python3/dist-packages:/usr/lib/python3/dist-packages`,
    PYTHONDONTWRITEBYTECODE: "1",
  };
}
