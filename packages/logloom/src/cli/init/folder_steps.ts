import { Failure } from "../failure.ts";
import { ourHook, settingsOf } from "../guest/config.ts";
import { readText } from "../guest/files.ts";
import { type Exchange, exchange } from "../shipping/http_exchange.ts";
import { accessTokenOf, hookSettings, switchHook, tokenHelp } from "./management_api.ts";
import { done, left, type Look, type Step, todo } from "./steps.ts";
import type { Setup } from "./setup.ts";

/** Writes migrations, functions and the block of config.toml into the project's folder. */
export function filesStep(setup: Setup): Step {
  const look = async () => {
    const { isChange, files, migrations, advice } = await setup.prepare();
    const what =
      `${files} files of functions, ${migrations.length} new migrations, a block in config.toml`;
    // The hook step reports what concerns the hook.
    const hints = advice.filter((line) => !/access.token/.test(line));
    if (hints.length > 0 && !isChange) return left(what, hints.join(" "));
    return isChange ? todo(`writes into supabase/: ${what}`) : done("as this version has them");
  };
  return {
    name: "files",
    look,
    async run() {
      const { write, files, migrations, formerFunctions } = await setup.prepare();
      await write();
      setup.formerFunctions = formerFunctions;
      setup.forgetPrepared();
      const after = await look();
      return after.state === "left"
        ? after
        : done(`${files} files of functions, ${migrations.length} migrations`);
    },
  };
}

/** Deploys the functions. A local stack serves them from the folder after a restart. */
export function functionsStep(setup: Setup): Step {
  const { project, cli } = setup;
  const askHealth = (name: string) =>
    exchange(`${project.url}/functions/v1/${name}`, { signal: cli.signal });
  /** Waits until the function answers 200, at most the given time. Returns the last answer. */
  const awaitHealth = async (name: string, seconds: number): Promise<Exchange> => {
    for (const end = Date.now() + seconds * 1000;;) {
      const answer = await askHealth(name);
      if (answer.status === 200 || Date.now() > end) return answer;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  return {
    name: "functions",
    async look() {
      const { functions, health } = await setup.prepare();
      if (project.ref !== undefined) return todo(`deploys ${functions.join(", ")}`);
      return (await askHealth(health)).status === 200
        ? done("the local stack serves them")
        : todo("waits until the local stack serves them");
    },
    async run() {
      const { functions, health } = await setup.prepare();
      if (project.ref === undefined) {
        setup.say("  Start the local stack anew, in another terminal:\n");
        setup.say(`    cd ${project.folder} && supabase stop && supabase start\n`);
        const { status } = await awaitHealth(health, 600);
        if (status === 200) return done("the local stack serves them");
        throw new Failure(
          "the local stack does not serve the functions: supabase stop && supabase start.",
        );
      }
      // --use-api needs no Docker.
      const args = ["functions", "deploy", ...functions, "--use-api", "--remote", "--yes"];
      await project.supabase.run(args);
      for (const name of setup.formerFunctions ?? []) {
        await project.supabase.run(["functions", "delete", name, "--remote", "--yes"]);
      }
      const { status, reason } = await awaitHealth(health, 60);
      if (status === 200) return done(`deployed ${functions.join(", ")}`);
      throw new Failure(`deployed, but ${project.url}/functions/v1 answers ${reason}.`);
    },
  };
}

const ownHook = "let your hook call Logloom's, as docs/background/identity.md shows.";

/** Switches on the hook that adds tenant_id to tokens, unless the project has its own hook. */
export function hookStep(setup: Setup): Step {
  const { project } = setup;
  const dashboard = "in the dashboard: Authentication, Hooks, Customize Access Token, schema " +
    "logloom_private, function custom_access_token_hook";
  return {
    name: "hook",
    async look(): Promise<Look> {
      if (project.ref === undefined) {
        const settings = settingsOf(await readText(`${project.supabaseFolder}/config.toml`));
        const hook = settings("auth", "hook", "custom_access_token");
        const { enabled, uri } = Object(hook);
        // Without the section the step files adds it.
        if (hook === undefined || uri === ourHook && enabled === true) {
          return done("in config.toml");
        }
        if (uri !== undefined && uri !== ourHook) {
          return left("the project has an access-token hook of its own", ownHook);
        }
        return left(
          "config.toml has it switched off",
          `write into [auth.hook.custom_access_token]: enabled = true, uri = "${ourHook}"`,
        );
      }
      const token = await accessTokenOf();
      if (token === undefined) {
        return left("no access token", `${tokenHelp} Or switch it on ${dashboard}.`);
      }
      const { uri, isOn } = await hookSettings(setup, token);
      if (uri === ourHook && isOn) return done("is on");
      if (uri !== null && uri !== "" && uri !== ourHook) {
        return left(`the project has an access-token hook of its own: ${uri}`, ownHook);
      }
      return todo("switches on Auth's access-token hook, and changes no other setting");
    },
    async run() {
      await switchHook(setup, await accessTokenOf() ?? "", true);
      return done("is on");
    },
  };
}
