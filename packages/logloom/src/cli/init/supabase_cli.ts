import { spawn } from "node:child_process";
import { access, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../failure.ts";

/** The scopes that an access token needs for all steps. The Supabase CLI takes the token in place of its own login. */
export const scopes = [
  "auth_config_read",
  "auth_config_write",
  "database_pooling_config_read",
  "database_read",
  "database_write",
  "edge_functions_read",
  "edge_functions_secrets_read",
  "edge_functions_secrets_write",
  "edge_functions_write",
  "project_admin_read",
  "project_admin_write",
  "projects_read",
];

export const scopeHelp = `A token with scopes needs all of these: ${scopes.join(", ")}.`;

/** The Supabase CLI, run in a project's folder. */
export interface SupabaseCli {
  readonly version: string;
  /** Returns a command's standard output. A failed command throws a Failure with its reason. */
  run(args: readonly string[], env?: Record<string, string>): Promise<string>;
}

const neededMajor = 3;
const install = "npm install --save-dev supabase@3 in the project, or brew install supabase";

/** Finds the CLI that the project has installed, or else the one in PATH. */
export async function findSupabaseCli(folder: string, signal: AbortSignal): Promise<SupabaseCli> {
  const program = await programOf(folder);
  const run: SupabaseCli["run"] = (args, env) => runProgram(program, args, { folder, signal, env });
  const said = await versionInPackage(program) ?? await run(["--version"]);
  const [version = ""] = /\d+\.\d+\.\d+/.exec(said) ?? [];
  if (Number(version.split(".")[0]) < neededMajor) {
    throw new Failure(
      `the Supabase CLI ${version} is too old, ${neededMajor}.0.0 is needed: ${install}.`,
    );
  }
  return { version, run };
}

async function programOf(folder: string): Promise<string> {
  const name = process.platform === "win32" ? "supabase.cmd" : "supabase";
  for (let at = folder;; at = dirname(at)) {
    const path = join(at, "node_modules", ".bin", name);
    if (await access(path).then(() => true, () => false)) return path;
    if (dirname(at) === at) return name;
  }
}

/** Reads the version of an installed npm package without starting the program. */
async function versionInPackage(program: string): Promise<string | undefined> {
  try {
    const manifest = join(dirname(program), "..", "supabase", "package.json");
    return JSON.parse(await readFile(manifest, "utf8")).version;
  } catch {
    return undefined;
  }
}

interface Place {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly env?: Record<string, string>;
}

function runProgram(
  program: string,
  args: readonly string[],
  { folder, signal, env }: Place,
): Promise<string> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
    signal,
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text) => out += text);
  child.stderr.setEncoding("utf8").on("data", (text) => err += text);
  return new Promise((resolve, reject) => {
    child.once("error", (error: Error & { code?: string }) => {
      reject(
        error.code === "ENOENT" ? new Failure(`the Supabase CLI is missing: ${install}.`) : error,
      );
    });
    child.once("close", (code) => {
      if (code === 0) return resolve(out);
      const reason = reasonIn(out, err);
      const mend = /\b403\b/.test(reason) ? `. ${scopeHelp}` : "";
      reject(new Failure(`supabase ${args[0]} ${args[1] ?? ""}: ${reason}${mend}`));
    });
  });
}

/** Lines of the CLI's output that are not the reason of a failure. */
const noise =
  /^(Target: |Confirmed by |Connecting to |Initialising |Retry \(|Applying migration |Using workdir |Try rerunning |A new version |We recommend |WARN: |$)/;

function reasonIn(out: string, err: string): string {
  try {
    return JSON.parse(out).error.message;
  } catch {
    const lines = `${err}\n${out}`.split("\n").map((line) => line.trim());
    return lines.filter((line) => !noise.test(line)).slice(-8).join("\n") || "it gave no reason";
  }
}
