import { createHash } from "node:crypto";
import { command } from "./run_command.ts";
import { exists, removeIfThere, replaceFile } from "./files.ts";
import { installPackages, type PackageOptions } from "./npm.ts";
import { consoleFolder, portalOrigins } from "./processes/gateway.ts";
import { checkout, type Stack } from "./stack.ts";
import type { System } from "./system.ts";

/** The console's sources, and their build. */
const sources = `${checkout}/console`;
export const consoleBuild = `${checkout}/.logloom/console`;
const log = `${checkout}/.logloom/console.log`;

/** The files outside `src` that the build depends on. */
const files = ["index.html", "portal.html", "package-lock.json", "vite.config.js"];

/**
 * Builds the console unless the build is up to date. Its packages have their own lock file, and packages that only its
 * tests need are left out.
 */
export async function buildConsole(
  progress: (step: string) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<void> {
  const wanted = await stamp();
  const stampFile = `${consoleBuild}.stamp`;
  if (await exists(`${consoleBuild}/index.html`) && await exists(stampFile)) {
    if (await Deno.readTextFile(stampFile) === wanted) return;
  }
  await Deno.mkdir(`${checkout}/.logloom`, { recursive: true });
  await installConsolePackages("build", progress, signal);
  await progress("Building the console");
  await command(["node", "node_modules/vite/bin/vite.js", "build", "--logLevel=error"], {
    cwd: sources,
    env: { LOGLOOM_CONSOLE_OUT: consoleBuild },
    log,
    signal,
    failure: `Building the console failed (see ${log})`,
  });
  await replaceFile(stampFile, wanted);
}

/** Installs the console's packages that a build needs, or also the packages of its tests. */
export async function installConsolePackages(
  packages: "build" | "all",
  progress?: PackageOptions["progress"],
  signal?: AbortSignal,
): Promise<void> {
  await installPackages(sources, {
    what: "the console's packages",
    withoutDev: packages === "build",
    progress,
    signal,
  });
}

/** Copies the build to where the gateway serves it, with a config.json for this machine. */
export async function publishConsole(system: System, stack: Stack): Promise<void> {
  const folder = consoleFolder(system, stack);
  // Remove every file of an older build.
  await removeIfThere(system.outside(folder));
  await system.makeFolder("www-data", folder);
  await system.makeFolder("www-data", `${folder}/assets`);
  for await (const name of filesBelow(consoleBuild)) {
    // Only tests read the build's report.
    if (name.startsWith(".")) continue;
    const text = await Deno.readTextFile(`${consoleBuild}/${name}`);
    await system.writeFile("www-data", `${folder}/${name}`, text);
  }
  const config = JSON.stringify({ url: "", auth: "token", portalOrigins });
  await system.writeFile("www-data", `${folder}/config.json`, `${config}\n`);
}

/** Returns a digest of the sources. */
async function stamp(): Promise<string> {
  const hash = createHash("sha256");
  const names = [...files];
  for await (const name of filesBelow(`${sources}/src`)) names.push(`src/${name}`);
  for (const name of names.sort()) {
    hash.update(`${name}\0`).update(await Deno.readFile(`${sources}/${name}`));
  }
  return hash.digest("hex");
}

async function* filesBelow(folder: string, prefix = ""): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${prefix}`)) {
    if (isDirectory) yield* filesBelow(folder, `${prefix}${name}/`);
    else yield `${prefix}${name}`;
  }
}
