import { command } from "./run_command.ts";
import { Failure } from "./exit_on_failure.ts";
import { exists, oneAtATime } from "./files.ts";

/**
 * The browser for the console's tests, pictures and benchmark: Chromium's headless shell, which has no hidden window and
 * takes a quarter less time.
 */
export const headlessShell = Deno.env.get("LOGLOOM_CHROMIUM") ?? "/usr/bin/chromium-headless-shell";

/** The whole of Chromium, which also sends the beacons of a closed page. */
export const chromium = Deno.env.get("LOGLOOM_CHROMIUM") ?? "/usr/bin/chromium";

/** Installs one of the two browsers from Debian if it is missing and we are root. */
export async function installBrowser(
  program: string,
  progress: (step: string) => void,
): Promise<void> {
  if (await exists(program)) return;
  await oneAtATime(() => install(program, progress));
}

async function install(program: string, progress: (step: string) => void): Promise<void> {
  if (await exists(program)) return;
  const name = program.slice(program.lastIndexOf("/") + 1);
  if (Deno.uid() !== 0 || !(await exists("/etc/debian_version"))) {
    throw new Failure(`a browser is missing: install ${name}, or name one by LOGLOOM_CHROMIUM.`);
  }
  progress(`Installing ${name}`);
  const env = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const options = { env, failure: `Installing ${name} failed` };
  await command(["apt-get", "update"], options);
  const packages = [name, "fonts-dejavu-core"];
  await command(["apt-get", "install", "--yes", "--no-install-recommends", ...packages], options);
}
