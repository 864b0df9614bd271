import { headlessShell, installBrowser } from "../../local/browser.ts";
import { command } from "../../local/run_command.ts";
import { buildConsole, installConsolePackages, publishConsole } from "../../local/build_console.ts";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";
import { type Context, denoTests, quickTests, type Step, type StepResult } from "../runner/step.ts";
import type { TestStack } from "../runner/test_stack.ts";

export const consoleJourneys: Step = {
  name: "console",
  title: "the console: in a real browser, on the stack",
  needsStack: true,
  run: async (context) => await inBrowser(context, await quickTests("tests/console")),
};

export const consoleAll: Step = {
  name: "console-all",
  title: "every journey through the console, and every screen",
  needsStack: true,
  run: (context) => inBrowser(context, ["tests/console/long"]),
};

async function inBrowser({ files, stack }: Context, tests: string[]): Promise<StepResult> {
  if (!stack) throw new Error("the console needs a stack");
  await prepare(stack);
  return await denoTests(tests, { files, stack });
}

const log = `${checkout}/.logloom/console.log`;

/** Installs the test packages and a browser, checks types, builds the page and puts it on the stack. */
async function prepare({ stack, system }: TestStack): Promise<void> {
  const progress = (step: string) => console.log(`  ${step} …`);
  await Deno.mkdir(`${checkout}/.logloom`, { recursive: true });
  await installConsolePackages("all");
  await installBrowser(headlessShell, progress);
  await command(["node", "node_modules/typescript/bin/tsc", "--project", "."], {
    cwd: `${checkout}/console`,
    log,
    failure: `The console's types are wrong (see ${log})`,
  });
  const tests = (await walk(["tests/console", "console/shots", "console/bench"]))
    .filter((path) => path.endsWith(".ts") && !path.endsWith("/step.ts"));
  await command([Deno.execPath(), "check", "--quiet", ...tests], {
    cwd: checkout,
    log,
    failure: `The types of the console's tests are wrong (see ${log})`,
  });
  await buildConsole(progress);
  await publishConsole(system, stack);
}
