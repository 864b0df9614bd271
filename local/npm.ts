import { createHash } from "node:crypto";
import { reason } from "./run_command.ts";
import { Failure } from "./exit_on_failure.ts";
import { exists, oneAtATime } from "./files.ts";
import { npmCi } from "./npm.mjs";

export interface PackageOptions {
  /** The installed thing, as a part of a sentence. */
  what: string;
  /** Leaves out packages that only tests need. */
  withoutDev?: boolean;
  progress?: (step: string) => Promise<void> | void;
  signal?: AbortSignal;
}

/** Installs the npm packages of a folder, unless they match its lock file already. */
export async function installPackages(
  folder: string,
  { what, withoutDev = false, progress, signal }: PackageOptions,
): Promise<void> {
  const lock = createHash("sha256")
    .update(await Deno.readFile(`${folder}/package-lock.json`)).digest("hex");
  const note = `${folder}/node_modules/.installed`;
  const isThere = async () => {
    const there = await exists(note) ? (await Deno.readTextFile(note)).trim() : "";
    return there === `all ${lock}` || withoutDev && there === `build ${lock}`;
  };
  if (await isThere()) return;
  await oneAtATime(async () => {
    if (await isThere()) return;
    await progress?.(`Installing ${what}`);
    const { status, output } = await npmCi(
      folder,
      ["--loglevel=error", "--prefer-offline", ...withoutDev ? ["--omit=dev"] : []],
      { signal },
    );
    if (status !== 0) throw new Failure(`Installing ${what} failed: ${reason(output)}`);
    await Deno.writeTextFile(note, `${withoutDev ? "build" : "all"} ${lock}\n`);
  });
}
