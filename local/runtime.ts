import { command } from "./command.ts";
import { exists } from "./files.ts";
import { Failure } from "./failure.ts";
import { checkout } from "./stack.ts";

/** What Supabase's edge runtime is compatible with. */
export const hostedVersion = "2.1.4";

/** What the edge functions run on. */
export interface Runtime {
  version: string;
  /** The Deno program. */
  program: string;
}

/** The Deno that everything else of the stack runs on, too. */
export const currentRuntime: Runtime = { version: Deno.version.deno, program: Deno.execPath() };

/** Finds the Deno of a version; that of hosted functions is installed when it is first asked for. */
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
  if (!(await exists(program))) {
    progress(`Installing Deno ${hostedVersion}, on which hosted functions run`);
    await command(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: folder,
      failure: `Installing Deno ${hostedVersion} failed`,
    });
  }
  return { version, program };
}

/** As the packages of Deno's programs are named. */
function platform(): string {
  const arch = Deno.build.arch === "aarch64" ? "arm64" : "x64";
  if (Deno.build.os === "windows") return `win32-${arch}`;
  return Deno.build.os === "darwin" ? `darwin-${arch}` : `linux-${arch}-glibc`;
}
