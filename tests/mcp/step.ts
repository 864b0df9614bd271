import { command } from "../../local/command.ts";
import { installPackages } from "../../local/npm.ts";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/walk.ts";
import { denoTests, type Step } from "../runner/step.ts";

export const mcp: Step = {
  name: "mcp",
  title: "real clients of the Model Context Protocol, and signing in by OAuth",
  needsStack: true,
  run: async (context) => {
    await installClients((step) => console.log(`  ${step} …`));
    const sources = (await walk(["tests/mcp"])).filter((path) => path.endsWith(".ts"));
    await command([Deno.execPath(), "check", "--quiet", ...sources], {
      cwd: checkout,
      failure: "The types of the tests of MCP are wrong",
    });
    return await denoTests(["tests/mcp"], context);
  },
};

/** Installs the packages that only these tests need, unless they are there. */
export async function installClients(progress: (step: string) => void): Promise<void> {
  await installPackages(`${checkout}/tests/mcp`, { what: "the clients of MCP", progress });
}
