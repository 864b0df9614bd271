import { Failure } from "./exit_on_failure.ts";
import { installPackages } from "./npm.ts";
import { checkout } from "./stack.ts";

/** The Deno version of Supabase's edge runtime. */
export const hostedVersion = "2.1.4";

/** The runtimes of the edge functions. */
export interface Runtime {
  version: string;
  /** The Deno program. */
  program: string;
}

/** The Deno that runs everything else of the stack. */
export const currentRuntime: Runtime = { version: Deno.version.deno, program: Deno.execPath() };

/** Finds a version of Deno; the hosted one is installed on first use. */
export async function findRuntime(
  version: string | undefined,
  progress: (step: string) => void,
): Promise<Runtime> {
  if (version === undefined || version === currentRuntime.version) return currentRuntime;
  if (version !== hostedVersion) {
    throw new Failure(
      `There is no functions runtime ${version}; there are ${currentRuntime.version} and ` +
        `${hostedVersion}, which is what hosted functions run on.`,
    );
  }
  const folder = `${checkout}/local/hosted-runtime`;
  const program = `${folder}/node_modules/@deno/${platform()}/${
    Deno.build.os === "windows" ? "deno.exe" : "deno"
  }`;
  await installPackages(folder, {
    what: `Deno ${hostedVersion}, on which hosted functions run`,
    progress,
  });
  return { version, program };
}

/** Returns the names of the packages with Deno's programs. */
function platform(): string {
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  if (Deno.build.os === "windows") return `win32-${arch}`;
  return Deno.build.os === "darwin" ? `darwin-${arch}` : `linux-${arch}-glibc`;
}
