import { dirname } from "node:path";
import { command } from "./run_command.ts";
import { buildConsole, consoleBuild } from "./build_console.ts";
import { removeIfThere } from "./files.ts";
import {
  filesBelow,
  functionFiles,
  installableFunctions,
  ourShared,
} from "../packages/logloom/src/cli/guest/files.ts";
import { installPackages } from "./npm.ts";
import { checkout } from "./stack.ts";

/** The tools that build and check the npm package have a lock file of their own. */
export const packages = `${checkout}/packages`;
const source = `${packages}/logloom`;

/** The packed package, as npm would publish it. */
export async function tarball(): Promise<string> {
  const { name, version } = JSON.parse(await Deno.readTextFile(`${source}/package.json`));
  return `${checkout}/.logloom/${name}-${version}.tgz`;
}

/** Runs a tool of the package on its own Node, which is newer than the stack's. */
export function packageTool(program: string, args: string[], failure: string): Promise<string> {
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  const node = `${packages}/node_modules/node-${Deno.build.os}-${arch}/bin/node`;
  const env = { NO_COLOR: "1" };
  return command([node, `${packages}/node_modules/${program}`, ...args], {
    cwd: source,
    env,
    failure,
  });
}

/** Builds the package and packs it. */
export async function buildPackage(progress: (step: string) => void): Promise<string> {
  await installPackages(packages, { what: "the package's tools", progress });
  progress("Building the package");
  await removeIfThere(`${source}/dist`);
  for (const part of [".", "src/cli"]) {
    await packageTool("typescript/bin/tsc", ["--project", part], "The package's types are wrong");
  }
  await packageTool("tsdown/dist/run.mjs", ["--logLevel=error"], "Building the package failed");
  await Deno.copyFile(`${checkout}/LICENSE`, `${source}/dist/LICENSE`);
  await copyInstallation();
  await buildConsole(progress);
  for (const file of await filesBelow(consoleBuild)) {
    const name = file.slice(consoleBuild.length);
    // The portal is left out, because it is hosted beside an application. The report is left out, because only tests
    // need it.
    if (!/^\/(portal\.html|\.vite)/.test(name)) await copy(file, `${source}/dist/console${name}`);
  }
  const packed = await tarball();
  await Deno.mkdir(`${checkout}/.logloom`, { recursive: true });
  await removeIfThere(packed);
  await command(["npm", "pack", "--silent", `--pack-destination=${checkout}/.logloom`], {
    cwd: source,
    failure: "Packing the package failed",
  });
  return packed;
}

/** Copies the files that init, upgrade and uninstall need, and the licences of bundled packages. */
async function copyInstallation(): Promise<void> {
  const folder = `${checkout}/supabase`;
  const functions = await functionFiles(`${folder}/functions`, installableFunctions, "health");
  const files = [
    ...await filesBelow(`${folder}/migrations`),
    ...[...functions.keys()].map((path) =>
      `${folder}/functions/${path.replace(`${ourShared}/`, "_shared/")}`
    ),
    `${folder}/schemas/foundations/operations.sql`,
    `${folder}/uninstall.sql`,
  ];
  for (const file of files) await copy(file, `${source}/dist/supabase${file.slice(folder.length)}`);
  for (const [library, file] of Object.entries(licences)) {
    await copy(`${checkout}/node_modules/${library}/${file}`, `${source}/dist/licences/${library}`);
  }
}

const licences = { commander: "LICENSE", "smol-toml": "LICENSE", yaml: "LICENSE" };

async function copy(from: string, to: string): Promise<void> {
  await Deno.mkdir(dirname(to), { recursive: true });
  await Deno.copyFile(from, to);
}
