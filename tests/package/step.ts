import { chromium, installBrowser } from "../../local/browser.ts";
import { command } from "../../local/run_command.ts";
import { installConsolePackages } from "../../local/build_console.ts";
import { buildPackage, packageTool } from "../../local/npm_package.ts";
import { findRuntime, hostedVersion } from "../../local/deno_runtimes.ts";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";
import { denoTests, type Step } from "../runner/step.ts";
import { addLibraries, makeProject } from "./project.ts";

export const npmPackage: Step = {
  name: "package",
  title: "the npm package: built, packed, installed, on Node, Deno and in a browser",
  needsStack: true,
  run: async (context) => {
    const progress = (step: string) => console.log(`  ${step} …`);
    const tarball = await buildPackage(progress);
    progress("Checking the package");
    await packageTool("publint/src/cli.js", [tarball, "--strict"], "publint has objections");
    await packageTool(
      "@arethetypeswrong/cli/dist/index.js",
      [tarball, "--profile=node16", "--no-emoji"],
      "The packed types are wrong",
    );
    await makeProject(tarball);
    await addLibraries();
    await installBrowser(chromium, progress);
    await installConsolePackages("all");
    const { program } = await findRuntime(hostedVersion, progress);
    const sources = (await walk(["tests/package"])).filter((path) =>
      path.endsWith(".ts") && !path.endsWith("/step.ts")
    );
    await command([Deno.execPath(), "check", "--quiet", ...sources], {
      cwd: checkout,
      failure: "The types of the package's tests are wrong",
    });
    return await denoTests(["tests/package"], context, { env: { LOGLOOM_HOSTED_DENO: program } });
  },
};
