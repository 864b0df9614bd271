import { isAbsolute, join } from "node:path";
import { Failure } from "../packages/logloom/src/cli/failure.ts";
import { type Host, run } from "../packages/logloom/src/cli/command_line.ts";
import { makeProgram } from "../packages/logloom/src/cli/main.ts";
import { leave } from "../packages/logloom/src/cli/output.ts";
import { buildConsole, consoleBuild } from "../local/build_console.ts";
import { checkout, stackNamed } from "../local/stack.ts";
import { runningState } from "../local/stack_state.ts";
import { refuseTaken } from "./options.ts";
import { token } from "./token.ts";

// Runs the package's command line in a clone: from its sources, with the local stack.

/** The commands that are also npm scripts. */
const scripts = ["search", "tail", "ship", "token", "uninstall"];

const host: Host = {
  version: "in a clone",
  call(command) {
    const [name] = command.split(" ");
    return scripts.includes(name)
      ? `npm run ${name} --`
      : `npm run logloom -- ${command}`.trimEnd();
  },
  supabase: `${checkout}/supabase`,
  async consoleFolder() {
    await buildConsole((step) => console.error(`  ${step} …`));
    return consoleBuild;
  },
  /** npm runs scripts in the package's folder. INIT_CWD has the caller's folder. */
  path(path) {
    if (isAbsolute(path)) return path;
    const folder = Deno.env.get("INIT_CWD");
    return folder === undefined ? path : join(folder, path);
  },
  async localStack() {
    const state = await runningState(stackNamed("dev"));
    if (state === null) {
      throw new Failure("no local stack is running: npm start, or name a project by LOGLOOM_URL.");
    }
    const { url, demo } = state;
    return { url, token: demo?.userTokens[0], apiKey: demo?.apiKey };
  },
  inspect: (command) => refuseTaken(command.options.map(({ long }) => long?.slice(2) ?? "")),
};

/** Runs a command line and returns its exit code. */
export function runInClone(args: readonly string[]): Promise<number> {
  return run(args, host, (cli) => makeProgram(cli, [token]));
}

if (import.meta.main) await leave(await runInClone(Deno.args));
