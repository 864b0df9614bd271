// Plain Node, because it installs Deno.
import { spawn } from "node:child_process";

/** On a slow network the next attempt finds in npm's cache what this one brought. */
const within = 300_000;
const attempts = 3;

/**
 * Runs `npm ci` in a folder. When npm has done its work Node may hang at its end, where it hears no
 * SIGTERM (https://github.com/nodejs/node/issues/54918): what does not end is killed and begun anew.
 * @param {string} folder
 * @param {string[]} options
 * @param {{ signal?: AbortSignal, program?: string, within?: number }} [more] a program in npm's place and
 *   milliseconds for it, in tests
 * @returns {Promise<{ status: number | null, output: string }>} what npm said, and its exit code: null where there is
 *   no npm, where the signal ended it, and where no attempt came to an end
 */
export async function npmCi(folder, options, more = {}) {
  for (let attempt = 1;; attempt++) {
    const result = await once(folder, options, more);
    if (!result.isLate || attempt === attempts) return result;
  }
}

function once(folder, options, { signal, program = "npm", within: limit = within }) {
  return new Promise((resolve) => {
    const child = spawn(
      program,
      ["ci", "--ignore-scripts", "--no-audit", "--no-fund", ...options],
      {
        cwd: folder,
        stdio: ["ignore", "pipe", "pipe"],
        signal,
      },
    );
    let output = "";
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, limit);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => output += text);
    }
    const end = (status) => {
      clearTimeout(late);
      if (isLate) output += `\nIt did not end within ${limit / 1000} s.`;
      resolve({ status, output, isLate });
    };
    child.on("error", () => end(null));
    child.on("exit", end);
  });
}
