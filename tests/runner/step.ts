import type { TestStack } from "./test_stack.ts";
import { walk } from "../../local/list_files.ts";
import { anonKey, serviceRoleKey } from "../../local/signing_keys.ts";
import { checkout, jwtSecret } from "../../local/stack.ts";
import { outputOf, signalIfRunning } from "../../local/process_output.ts";
import { npmProgram } from "../../local/system.ts";
import { DenoFileTimes, type FileTimes, sumOfTimes } from "./file_times.ts";

export interface StepResult {
  passed: number;
  failed: number;
  /** The number of tests that could not run here, and the reason. */
  skipped?: number;
  notRun?: string[];
  /** The failed tests, each with the beginning of its error. */
  failures?: string[];
  files?: FileTimes;
}

export interface Context {
  /** The files named on the command line; none means all. */
  files: string[];
  stack: TestStack | undefined;
}

export interface Step {
  name: string;
  title: string;
  needsStack: boolean;
  /** Whether the step is independent: in a full run it runs beside the steps that share a stack. */
  isBeside?: boolean;
  /** Whether the step uses the stack "scratch", so that it waits for other steps with this stack. */
  isOnScratch?: boolean;
  /** Whether the step needs no stack, only the processor, so that in a full run it begins at once. */
  isPure?: boolean;
  run(context: Context): Promise<StepResult>;
}

/** Runs a tool that passes or fails as a whole. */
export async function check(argv: string[]): Promise<StepResult> {
  const { code } = await output(argv, {});
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
}

interface DenoOptions {
  program: string;
  options: string[];
  env: Record<string, string>;
}

// Stops after a few failures, because with a broken service every test would wait in vain.
const denoTestOptions = [
  "--allow-all",
  "--no-check",
  "--no-lock",
  "--cached-only",
  "--fail-fast=3",
];

/** Runs Deno tests: the named files, or all files of the folders. */
export async function denoTests(
  folders: string[],
  { files, stack }: { files: string[]; stack: Pick<TestStack, "stack"> | undefined },
  { program = "deno", options = [], env = {} }: Partial<DenoOptions> = {},
): Promise<StepResult> {
  const tests = await chosenTests(files.length ? files : folders, "_test.ts");
  if (tests.length === 0) return { passed: 0, failed: 0 };
  const run = async (paths: string[], part = Deno.env.get(partName)): Promise<StepResult> => {
    const times = new DenoFileTimes();
    // Runs a share of the tests of each named file, or a share of all files.
    const preload = `--preload=${checkout}/tests/support/choose_tests.ts`;
    const ofPart = !part ? [] : files.length > 0 ? [preload] : [`--shard=${part}`];
    const { code, text } = await output(
      [program, "test", ...denoTestOptions, ...options, ...ofPart, ...paths],
      { ...stack && stackEnv(stack), ...env, ...part && { [partName]: part } },
      (line) => (times.hear(line), line),
    );
    return { ...denoResult(text, code), files: times.end() };
  };
  const given = Deno.env.get(turnName);
  if (given === undefined) return await run(tests);
  const { until, shares }: TurnOfStep = JSON.parse(given);
  const results: StepResult[] = [];
  for (const test of tests) {
    for (const share of shares[test] ?? [undefined]) {
      const name = [test, share].filter(Boolean).join(" ");
      results.push(Date.now() < until ? await run([test], share) : outOfTime(name));
    }
  }
  return sum(results);
}

/** Runs each file by itself until a moment (in milliseconds), and only shares of some files: "2/4" and "3/4". */
export interface TurnOfStep {
  until: number;
  shares: Record<string, string[]>;
}

export const turnName = "LOGLOOM_TURN";

/** The variable with the share of tests to run: "2/4" is the second of four. */
export const partName = "LOGLOOM_PART";

export function outOfTime(name: string): StepResult {
  return { passed: 0, failed: 0, skipped: 1, notRun: [`no time was left for ${name}`] };
}

/** Reads the result from the output of `deno test`. */
export function denoResult(text: string, code: number): StepResult {
  const [, passed, failed, skipped] =
    /^\w+ \| (\d+) passed[^|\n]*\| (\d+) failed(?: \| (\d+) ignored)?/m.exec(text) ?? [];
  const reasons = [...text.matchAll(/^not run: (.+)$/gm)].map(([, reason]) => reason);
  return {
    ...atLeastOneFailure(code, Number(passed ?? 0), Number(failed ?? 0)),
    failures: failuresIn(text, code),
    ...skipped && { skipped: Number(skipped), notRun: [...new Set(reasons)] },
  };
}

const reasonLength = 600;

/** Returns the errors that `deno test` lists at its end, or without a list its last output. */
function failuresIn(text: string, code: number): string[] {
  const at = text.lastIndexOf("\n ERRORS ");
  if (at < 0) return code === 0 ? [] : [text.trim().slice(-reasonLength)];
  return text.slice(at).split("\n FAILURES ")[0].split(/\n(?=[^\n]* => \.)/).slice(1)
    .map((failure) => failure.trim().slice(0, reasonLength));
}

/** Finds the test files at these paths, which may be folders. */
export async function chosenTests(paths: string[], ending: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    if (path.endsWith(ending)) found.push(path);
    else {found.push(...(await walk([path.replace(/\/$/, "")])).filter((file) =>
        file.endsWith(ending)
      ));}
  }
  return found;
}

/** Returns the variables by which tests find the stack. */
function stackEnv({ stack }: Pick<TestStack, "stack">): Record<string, string> {
  return {
    LOGLOOM_URL: stack.url,
    LOGLOOM_DB_URL: stack.databaseUrl,
    LOGLOOM_ADMIN_DB_URL: stack.adminDatabaseUrl,
    LOGLOOM_ANON_KEY: anonKey,
    LOGLOOM_SERVICE_ROLE_KEY: serviceRoleKey,
    LOGLOOM_JWT_SECRET: jwtSecret,
    LOGLOOM_STATE_FILE: stack.stateFile,
    LOGLOOM_BUCKET_PORT: `${stack.ports.bucket}`,
  };
}

/** Returns the tests of a folder without those in `long`. */
export async function quickTests(folder: string): Promise<string[]> {
  return (await chosenTests([folder], "_test.ts")).filter((path) => !path.includes("/long/"));
}

/** A tool that fails without naming a failed test counts as one failure. */
export function atLeastOneFailure(code: number, passed: number, failed: number): StepResult {
  return { passed, failed: code === 0 ? failed : Math.max(failed, 1) };
}

/**
 * A tool without output for this time hangs: a test takes at most three minutes, and five times as long beside others.
 */
const longestSilence = 1_200_000;

/**
 * Runs a command, prints its output as it comes, and returns the output. A command that hangs is ended, so that the
 * other steps can run.
 */
export async function output(
  [program, ...args]: string[],
  env: Record<string, string>,
  shown: (line: string) => string | null = (line) => line,
  silence = longestSilence,
): Promise<{ code: number; text: string }> {
  const child = new Deno.Command(
    program === "deno" || program === "supabase" ? npmProgram(program) : program,
    {
      args,
      cwd: program === "chroot" ? "/" : checkout,
      env: {
        ...env,
        NO_COLOR: "1",
        DENO_NO_UPDATE_CHECK: "1",
        SUPABASE_TELEMETRY_DISABLED: "1",
        DO_NOT_TRACK: "1",
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    },
  ).spawn();
  let text = "";
  const show = (line: string) => {
    const words = shown(line);
    if (words !== null) console.log(words);
  };
  const late = new AbortController();
  let watch: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(watch);
    watch = setTimeout(() => late.abort(), silence);
  };
  const rest = { stdout: "", stderr: "" };
  // A run that ends must not leave processes behind. SIGKILL, because a browser's driver ignores SIGTERM.
  const end = () => signalIfRunning(child, "SIGKILL");
  globalThis.addEventListener("unload", end);
  heard();
  try {
    const { code } = await outputOf(child, late.signal, (chunk, from) => {
      // Messages about waiting do not count as output.
      if (!chunk.includes("has been running for over")) heard();
      text += chunk;
      const lines = (rest[from] + chunk).split("\n");
      rest[from] = lines.pop() ?? "";
      for (const line of lines) show(line);
    });
    for (const last of Object.values(rest)) if (last !== "") show(last);
    if (late.signal.aborted) {
      const words = `\nNo output for ${silence / 1000} s: it is ended.`;
      console.log(words);
      text += words;
    }
    return { code, text };
  } finally {
    clearTimeout(watch);
    globalThis.removeEventListener("unload", end);
  }
}

/** Returns the sum of several results. */
export function sum(results: StepResult[]): StepResult {
  return {
    passed: results.reduce((total, { passed }) => total + passed, 0),
    failed: results.reduce((total, { failed }) => total + failed, 0),
    failures: results.flatMap(({ failures = [] }) => failures),
    skipped: results.reduce((total, { skipped = 0 }) => total + skipped, 0),
    notRun: [...new Set(results.flatMap(({ notRun = [] }) => notRun))],
    files: sumOfTimes(results.map(({ files = {} }) => files)),
  };
}
