import { command } from "../local/command.ts";
import { buildConsole, installConsolePackages, publishConsole } from "../local/console.ts";
import { Failure } from "../local/failure.ts";
import { exists } from "../local/files.ts";
import { checkout } from "../local/stack.ts";
import { walk } from "./walk.ts";
import type { TestStack } from "./test_stack.ts";

const chromium = "/usr/bin/chromium";
const log = `${checkout}/.logloom/console.log`;

/** What the console's tests need and nothing else does: its test packages, a browser, the built page on the stack. */
export async function prepareConsoleTests({ stack, system }: TestStack): Promise<void> {
  const progress = (step: string) => console.log(`  ${step} …`);
  await Deno.mkdir(`${checkout}/.logloom`, { recursive: true });
  await installConsolePackages("all");
  await installChromium(progress);
  await command(["node", "node_modules/typescript/bin/tsc", "--project", "."], {
    cwd: `${checkout}/console`,
    log,
    failure: `The console's types are wrong (see ${log})`,
  });
  const tests = (await walk(["tests/console"])).filter((path) => path.endsWith(".ts"));
  await command([Deno.execPath(), "check", "--quiet", ...tests], {
    cwd: checkout,
    log,
    failure: `The types of the console's tests are wrong (see ${log})`,
  });
  await buildConsole(progress);
  await publishConsole(system, stack);
}

async function installChromium(progress: (step: string) => void): Promise<void> {
  if (Deno.env.get("LOGLOOM_CHROMIUM") || await exists(chromium)) return;
  if (Deno.uid() !== 0 || !(await exists("/etc/debian_version"))) {
    throw new Failure("a browser is missing: install chromium, or name one by LOGLOOM_CHROMIUM.");
  }
  progress("Installing chromium");
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  const options = { env, log, failure: `Installing chromium failed (see ${log})` };
  await command(["apt-get", "update"], options);
  await command(
    ["apt-get", "install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"],
    options,
  );
}
