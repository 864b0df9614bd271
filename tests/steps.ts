import { walk } from "./walk.ts";
import { sqlStyleFaults } from "./sql_style.ts";
import { pgtapDatabase, type TestStack } from "./test_stack.ts";
import { anonKey, serviceRoleKey } from "../local/keys.ts";
import { checkout, databasePassword, jwtSecret } from "../local/stack.ts";
import { npmProgram, postgresBin } from "../local/system.ts";

export interface StepResult {
  passed: number;
  failed: number;
}

interface Context {
  /** The files named on the command line; none means all. */
  files: string[];
  stack: TestStack | undefined;
}

export interface Step {
  name: string;
  title: string;
  needsStack: boolean;
  run(context: Context): Promise<StepResult>;
}

const sources = ["local", "cli", "tests", "bench", "supabase/functions"];

/** In the order of their cost: what is quick to tell comes first, what breaks the stack on purpose last. */
export const steps: Step[] = [
  {
    name: "format",
    title: "deno fmt --check",
    needsStack: false,
    run: ({ files }) => check(["deno", "fmt", "--check", ...files]),
  },
  {
    name: "lint",
    title: "deno lint",
    needsStack: false,
    run: ({ files }) => check(["deno", "lint", ...files]),
  },
  {
    name: "types",
    title: "deno check",
    needsStack: false,
    run: async ({ files }) =>
      await check(["deno", "check", ...(files.length ? files : await typeScript())]),
  },
  { name: "sql", title: "how the SQL is written", needsStack: false, run: sqlStyle },
  {
    name: "unit",
    title: "functions, command line and stack, each by itself",
    needsStack: false,
    run: (context) => denoTests(["supabase/functions", "cli", "local", "tests/unit"], context),
  },
  {
    name: "db-lint",
    title: "supabase db lint",
    needsStack: true,
    run: ({ stack }) =>
      check([
        "supabase",
        "db",
        "lint",
        `--remote=${stack?.stack.databaseUrl}`,
        "--level=warning",
        "--fail-on=error",
      ]),
  },
  { name: "advisors", title: "supabase db advisors", needsStack: true, run: advisors },
  { name: "pgtap", title: "the database, by pg_prove", needsStack: true, run: pgtap },
  {
    name: "query",
    title: "random queries, by the compiler and by a plain evaluator",
    needsStack: true,
    run: (context) => denoTests(["tests/query"], context),
  },
  {
    name: "e2e",
    title: "through the front door",
    needsStack: true,
    run: (context) => denoTests(["tests/e2e"], context),
  },
  {
    name: "faults",
    title: "processes killed, bodies malformed",
    needsStack: true,
    run: (context) => denoTests(["tests/faults"], context),
  },
  {
    name: "secrets",
    title: "no key and no token in what any process wrote to its log",
    needsStack: true,
    run: secretsInLogs,
  },
];

async function typeScript(): Promise<string[]> {
  return (await walk(sources)).filter((path) => path.endsWith(".ts"));
}

async function sqlStyle({ files }: Context): Promise<StepResult> {
  const all = (await walk(["supabase", "local"])).filter((path) => path.endsWith(".sql"));
  const result = { passed: 0, failed: 0 };
  for (const path of files.length ? files : all) {
    const faults = sqlStyleFaults(await Deno.readTextFile(`${checkout}/${path}`));
    for (const { line, message } of faults) console.log(`${path}:${line}: ${message}`);
    if (faults.length > 0) result.failed += 1;
    else result.passed += 1;
  }
  return result;
}

/** Runs a tool that passes or fails as a whole. */
async function check(argv: string[]): Promise<StepResult> {
  const { code } = await output(argv, {});
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1 };
}

/** What the advisors find and we mean so, by the beginning of its key. */
const committing =
  "a procedure that commits cannot carry a set clause; it qualifies every name instead";
const accepted: Record<string, string> = {
  function_search_path_mutable_private_write_logs_: committing,
  function_search_path_mutable_private_evaluate_alerts_: committing,
  function_search_path_mutable_private_run_retention_: committing,
  function_search_path_mutable_private_run_deletions_: committing,
};

async function advisors({ stack }: Context): Promise<StepResult> {
  const { code, text } = await output(
    [
      "supabase",
      "db",
      "advisors",
      `--remote=${stack?.stack.databaseUrl}`,
      "--type=all",
      "--level=warn",
      "--fail-on=none",
    ],
    {},
    () => null,
  );
  const findings = /^\[[\s\S]*^\]/m.exec(text)?.[0];
  if (code !== 0 || (!findings && !/no issues/i.test(text))) {
    console.log(text);
    return { passed: 0, failed: 1 };
  }
  const result = { passed: 1, failed: 0 };
  for (const finding of JSON.parse(findings ?? "[]") as Finding[]) {
    const key = Object.keys(accepted).find((start) => finding.cache_key.startsWith(start));
    if (key) {
      console.log(`accepted: ${finding.detail} (${accepted[key]})`);
    } else {
      console.log(`${finding.level} ${finding.name}: ${finding.detail}\n  ${finding.remediation}`);
      result.failed += 1;
    }
  }
  return result.failed > 0 ? { ...result, passed: 0 } : result;
}

interface Finding {
  name: string;
  level: string;
  detail: string;
  remediation: string;
  cache_key: string;
}

async function denoTests(folders: string[], { files, stack }: Context): Promise<StepResult> {
  const tests = files.length
    ? files
    : (await walk(folders)).filter((path) => /_test\.ts$/.test(path));
  if (tests.length === 0) return { passed: 0, failed: 0 };
  const { code, text } = await output(
    ["deno", "test", "--allow-all", "--no-check", "--cached-only", ...tests],
    stack ? stackEnv(stack) : {},
  );
  const counts = /(\d+) passed[^|\n]*\| (\d+) failed/.exec(text);
  return atLeastOneFailure(code, Number(counts?.[1] ?? 0), Number(counts?.[2] ?? 0));
}

/** What a test needs to find the stack and to do to it what it has in mind. */
function stackEnv({ stack }: TestStack): Record<string, string> {
  return {
    LOGLOOM_URL: stack.url,
    LOGLOOM_DB_URL: stack.databaseUrl,
    LOGLOOM_ADMIN_DB_URL: stack.adminDatabaseUrl,
    LOGLOOM_ANON_KEY: anonKey,
    LOGLOOM_SERVICE_ROLE_KEY: serviceRoleKey,
    LOGLOOM_JWT_SECRET: jwtSecret,
    LOGLOOM_STATE_FILE: stack.stateFile,
  };
}

async function pgtap({ files, stack: testStack }: Context): Promise<StepResult> {
  if (!testStack) throw new Error("pgTAP needs a stack");
  const { stack, system } = testStack;
  // What tests include is named .psql, so that no runner takes it for a test.
  const all = (await walk(["supabase/tests"])).filter((path) => /\.p?sql$/.test(path));
  const tests = (files.length ? files : all).filter((path) => path.endsWith(".test.sql"));
  if (tests.length === 0) return { passed: 0, failed: 0 };

  // pg_prove sees the stack's folder, not necessarily the checkout.
  const folder = `${system.folder(stack)}/tests`;
  for (const path of all) {
    const copy = `${folder}/${path}`;
    await system.makeFolder("postgres", copy.slice(0, copy.lastIndexOf("/")));
    await system.writeFile("postgres", copy, await Deno.readTextFile(`${checkout}/${path}`));
  }
  const { code, text } = await output(
    system.command("postgres", "/usr/bin/pg_prove", [
      "--psql-bin",
      `${postgresBin}/psql`,
      "--host=127.0.0.1",
      `--port=${stack.ports.postgres}`,
      "--username=postgres",
      `--dbname=${pgtapDatabase}`,
      ...tests.map((path) => `${folder}/${path}`),
    ]),
    { PGPASSWORD: databasePassword, TZ: "UTC", LC_ALL: "C.UTF-8" },
    (line) => line.replaceAll(`${folder}/supabase/tests/`, ""),
  );
  const run = Number(/^Files=\d+, Tests=(\d+)/m.exec(text)?.[1] ?? 0);
  const failed = [...text.matchAll(/Failed (\d+)\/\d+ subtests/g)]
    .reduce((sum, [, count]) => sum + Number(count), 0);
  return atLeastOneFailure(code, run - failed, failed);
}

/** What no log may show: an API key (its first characters may), and a token of three parts. */
const secrets = [/ll_[0-9A-Za-z]{9,}/, /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/];

async function secretsInLogs({ stack: testStack }: Context): Promise<StepResult> {
  if (!testStack) throw new Error("logs need a stack");
  const folder = `${testStack.stack.folder}/logs`;
  const result = { passed: 0, failed: 0 };
  for await (const { name } of Deno.readDir(folder)) {
    const lines = (await Deno.readTextFile(`${folder}/${name}`)).split("\n");
    const found = lines.findIndex((line) => secrets.some((secret) => secret.test(line)));
    if (found < 0) {
      result.passed += 1;
    } else {
      console.log(`${name}:${found + 1}: a secret`);
      result.failed += 1;
    }
    console.log(`${name}: ${lines.length - 1} lines`);
  }
  return result.passed + result.failed > 0 ? result : { passed: 0, failed: 1 };
}

/** A tool that fails without saying which test did so has failed all the same. */
function atLeastOneFailure(code: number, passed: number, failed: number): StepResult {
  return { passed, failed: code === 0 ? failed : Math.max(failed, 1) };
}

/** Runs a command, shows what it says as it says it, and gives it back as well. */
async function output(
  [program, ...args]: string[],
  env: Record<string, string>,
  shown: (line: string) => string | null = (line) => line,
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
  const take = async (stream: ReadableStream<Uint8Array>) => {
    let rest = "";
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) show(line);
    }
    if (rest !== "") show(rest);
  };
  const [status] = await Promise.all([child.status, take(child.stdout), take(child.stderr)]);
  return { code: status.code, text };
}
