import { command } from "../../local/command.ts";
import { installConsolePackages } from "../../local/console.ts";
import { exists } from "../../local/files.ts";
import { checkout } from "../../local/stack.ts";

const program = "/usr/bin/chromium";

export interface Browser {
  /** The program of the browser. */
  readonly program: string;
  /** What drives it, as a module of Node. */
  readonly driver: string;
}

/** Debian's Chromium and what drives it, installed where root may; undefined where it is not to be had. */
export async function findBrowser(): Promise<Browser | undefined> {
  if (!(await exists(program))) {
    if (Deno.uid() !== 0 || !(await exists("/etc/debian_version"))) return undefined;
    const env = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
    const failure = "Installing Chromium failed";
    await command(["apt-get", "update"], { env, failure });
    const packages = ["--yes", "--no-install-recommends", "chromium"];
    await command(["apt-get", "install", ...packages], { env, failure });
  }
  await installConsolePackages("all");
  return { program, driver: `${checkout}/console/node_modules/playwright-core/index.mjs` };
}
