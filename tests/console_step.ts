import { installChromium } from "../local/browser.ts";
import { command } from "../local/command.ts";
import { buildConsole, installConsolePackages, publishConsole } from "../local/console.ts";
import { checkout } from "../local/stack.ts";
import { walk } from "./walk.ts";
import type { TestStack } from "./test_stack.ts";

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
  const tests = (await walk(["tests/console", "console/shots", "console/bench"]))
    .filter((path) => path.endsWith(".ts"));
  await command([Deno.execPath(), "check", "--quiet", ...tests], {
    cwd: checkout,
    log,
    failure: `The types of the console's tests are wrong (see ${log})`,
  });
  await buildConsole(progress);
  await publishConsole(system, stack);
}
