import { command } from "./run_command.ts";
import { exists } from "./files.ts";
import { run } from "./exit_on_failure.ts";
import { cacheFolder } from "./system_root.ts";
import { findRuntime, hostedVersion, type Runtime } from "./deno_runtimes.ts";
import { checkout, functionNames } from "./stack.ts";

const functions = `${checkout}/supabase/functions`;

/** The environment in which Deno loads the functions with their own packages, as on a hosted project. */
export const packageEnv = {
  DENO_DIR: `${cacheFolder()}/deno`,
  DENO_NO_UPDATE_CHECK: "1",
  // Accepts a company's own certificates, like npm.
  DENO_TLS_CA_STORE: "mozilla,system",
  NO_COLOR: "1",
};

if (import.meta.main) {
  await run(async () => {
    const runtime = await findRuntime(hostedVersion, (step) => console.log(`  ${step} …`));
    await using copy = await copyFunctions();
    for (const name of functionNames) {
      const lock = `${name}/deno.lock`;
      await Deno.remove(`${copy.path}/${lock}`).catch(() => {});
      await load(runtime, `${copy.path}/${name}`, []);
      if (!(await exists(`${copy.path}/${lock}`))) continue;
      await Deno.copyFile(`${copy.path}/${lock}`, `${functions}/${lock}`);
      console.log(`supabase/functions/${lock}`);
    }
  });
}

/** Copies the functions out of the checkout, so that they cannot use its packages. */
export async function copyFunctions(): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir({ prefix: "logloom-functions-" });
  await copyFolder(functions, path);
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Downloads a function's imports into the machine's cache folder. */
export function load(runtime: Runtime, folder: string, options: string[]): Promise<string> {
  return command([runtime.program, "cache", ...options, "index.ts"], {
    cwd: folder,
    env: packageEnv,
    failure: "Loading the function failed",
  });
}
