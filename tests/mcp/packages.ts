import { command } from "../../local/run_command.ts";
import { installPackages } from "../../local/npm.ts";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";

/** Installs the packages of these tests and checks the tests' types, which need the packages. */
export async function installClients(progress: (step: string) => void): Promise<void> {
  await installPackages(`${checkout}/tests/mcp`, { what: "the clients of MCP", progress });
  const sources = (await walk(["tests/mcp"])).filter((path) => path.endsWith(".ts"));
  await command([Deno.execPath(), "check", "--quiet", ...sources], {
    cwd: checkout,
    failure: "The types of the tests of MCP are wrong",
  });
}
