// Plain Node, because it installs Deno.
import { spawn } from "node:child_process";

/** The milliseconds of an attempt. On a slow network the next attempt goes on with what npm has cached. */
const within = 300_000;
const attempts = 3;

/**
 * Runs `npm ci` in a folder. Node may hang at its end and ignore SIGTERM then
 * (https://github.com/nodejs/node/issues/54918), so a run that does not end is killed and repeated.
 * @param {string} folder
 * @param {string[]} options
 * @param {{ signal?: AbortSignal, program?: string, within?: number }} [more] a program in npm's place and
 *   milliseconds for it, in tests
 * @returns {Promise<{ status: number | null, output: string }>} npm's output and exit code; null if npm is missing, was
 *   ended by the signal, or never ended by itself
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
