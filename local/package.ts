import { createHash } from "node:crypto";
import { command } from "./command.ts";
import { exists, removeIfThere } from "./files.ts";
import { checkout } from "./stack.ts";

/** The tools that build and check the npm package have a lock file of their own. */
export const packages = `${checkout}/packages`;
const source = `${packages}/logloom`;

/** The packed package, as npm would publish it. */
export async function tarball(): Promise<string> {
  const { name, version } = JSON.parse(await Deno.readTextFile(`${source}/package.json`));
  return `${checkout}/.logloom/${name}-${version}.tgz`;
}

/** Runs a tool of the package on the Node that it needs, which is newer than what all else needs. */
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
  await installTools(progress);
  progress("Building the package");
  await removeIfThere(`${source}/dist`);
  await packageTool("typescript/bin/tsc", ["--project", "."], "The package's types are wrong");
  await packageTool("tsdown/dist/run.mjs", ["--logLevel=error"], "Building the package failed");
  await Deno.copyFile(`${checkout}/LICENSE`, `${source}/dist/LICENSE`);
  const packed = await tarball();
  await Deno.mkdir(`${checkout}/.logloom`, { recursive: true });
  await removeIfThere(packed);
  await command(["npm", "pack", "--silent", `--pack-destination=${checkout}/.logloom`], {
    cwd: source,
    failure: "Packing the package failed",
  });
  return packed;
}

async function installTools(progress: (step: string) => void): Promise<void> {
  const lock = createHash("sha256")
    .update(await Deno.readFile(`${packages}/package-lock.json`)).digest("hex");
  const note = `${packages}/node_modules/.installed`;
  if (await exists(note) && await Deno.readTextFile(note) === lock) return;
  progress("Installing the package's tools");
  await command(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], {
    cwd: packages,
    failure: "Installing the package's tools failed",
  });
  await Deno.writeTextFile(note, lock);
}
