import { command } from "./command.ts";
import { Failure } from "./failure.ts";
import { exists } from "./files.ts";

/** The browser for the console's tests, pictures and benchmark: without the window that the whole Chromium draws unseen. */
export const chromium = Deno.env.get("LOGLOOM_CHROMIUM") ?? "/usr/bin/chromium-headless-shell";

/** Installs Debian's Chromium, the part that shows pages, if it is missing and we are root. */
export async function installChromium(progress: (step: string) => void): Promise<void> {
  if (await exists(chromium)) return;
  if (Deno.uid() !== 0 || !(await exists("/etc/debian_version"))) {
    throw new Failure(
      "a browser is missing: install chromium-headless-shell, or name one by LOGLOOM_CHROMIUM.",
    );
  }
  progress("Installing chromium");
  const env = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const options = { env, failure: "Installing chromium failed" };
  await command(["apt-get", "update"], options);
  const packages = ["chromium-headless-shell", "fonts-dejavu-core"];
  await command(["apt-get", "install", "--yes", "--no-install-recommends", ...packages], options);
}
