import { walk } from "./walk.ts";
import { firstMigrations } from "../local/migrations/schemas.ts";
import { sqlStyleFaults } from "./sql_style.ts";
import { startReleasedStack } from "./migrations/stack.ts";
import { prepareConsoleTests } from "./console_step.ts";
import { pgtapDatabase } from "./test_stack.ts";
import { restore } from "./restore.ts";
import { citus } from "../citus/tests/step.ts";
import { hosted, hostedAll } from "./hosted.ts";
import { installSenders } from "./senders/packages.ts";
import {
  atLeastOneFailure,
  check,
  type Context,
  denoTests,
  output,
  type Step,
  type StepResult,
  sum,
} from "./step.ts";
import { checkout, databasePassword } from "../local/stack.ts";

const sources = ["local", "cli", "tests", "bench", "citus", "supabase/functions"];

/** In the order of their cost: what is quick to tell comes first. */
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
  {
    name: "sql",
    title: "SQL, by a linter, and how it is written",
    needsStack: false,
    run: sqlSources,
  },
  {
    name: "unit",
    title: "functions, command line and stack, each by itself",
    needsStack: false,
    run: (context) =>
      denoTests(["supabase/functions", "cli", "local", "citus/local", "tests/unit"], context),
  },
  {
    name: "migrations",
    title: "schemas and migrations agree, and an upgrade under load loses nothing",
    needsStack: false,
    isBeside: true,
    run: migrationTests,
  },
  {
    name: "restore",
    title: "a dump, restored into an empty database and repaired",
    needsStack: false,
    isBeside: true,
    run: restore,
  },
  {
    name: "guest",
    title: "a project of somebody else, before, with and after Logloom",
    needsStack: false,
    isBeside: true,
    run: (context) => denoTests(["tests/guest"], context),
  },
  {
    name: "faults",
    title: "processes killed, bodies malformed",
    needsStack: true,
    isBeside: true,
    run: (context) => withoutSecrets(context, denoTests(["tests/faults"], context)),
  },
  {
    name: "hosted",
    title: "on the Deno of hosted functions, three processes of each behind the gateway",
    needsStack: true,
    isBeside: true,
    run: (context) => withoutSecrets(context, hosted(context)),
  },
  {
    name: "citus",
    title: "sharded over a coordinator and two workers, where Citus is installed",
    needsStack: false,
    run: citus,
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
    title: "random queries, by the compiler and by a plain evaluator; random records, sealed",
    needsStack: true,
    run: (context) => denoTests(["tests/query", "tests/sealing"], context),
  },
  {
    name: "e2e",
    title: "through the front door",
    needsStack: true,
    run: (context) => denoTests(["tests/e2e"], context),
  },
  {
    name: "console",
    title: "the console: in a real browser, on the stack",
    needsStack: true,
    run: (context) => consoleTests(context, /tests\/console\/\w+_test\.ts$/),
  },
  {
    name: "senders",
    title: "three senders of other services, as their pages show them",
    needsStack: true,
    run: async (context) => {
      if (context.files.length > 0) return await senders("all", context);
      return await senders("few", { ...context, files: representativeSenders });
    },
  },
  {
    name: "secrets",
    title: "no key and no token in what any process wrote to its log",
    needsStack: true,
    run: secretsInLogs,
  },
];

/** All shapes take ten minutes: among the other long trials are those that come near the bounds. */
function worstShapes(): Record<string, string> {
  if (Deno.args[0] !== "long") return {};
  const shapes = [
    "ordinary",
    "long runs of digits",
    "150,000 numbers",
    "as many keys",
    "by the dozen",
  ];
  return { MEMORY_SHAPES: shapes.join(",") };
}

/** What takes too long for every change: `npm test -- long`. */
export const longSteps: Step[] = [
  {
    name: "senders-all",
    title: "every sender, each also through an outage of five seconds",
    needsStack: true,
    run: (context) => senders("all", context, { LOGLOOM_LONG: "1" }),
  },
  {
    name: "console-all",
    title: "every journey through the console, and every screen",
    needsStack: true,
    run: (context) => consoleTests(context, /tests\/console\/long\/\w+_test\.ts$/),
  },
  {
    name: "memory",
    title: "what a backend needs for itself, whatever is stored",
    needsStack: true,
    run: (context) => denoTests(["tests/memory"], context, "deno", [], worstShapes()),
  },
  {
    name: "chaos",
    title: "kills and cuts at random, under load",
    needsStack: true,
    run: (context) => denoTests(["tests/chaos"], context),
  },
  {
    name: "hosted-all",
    title: "everything through the front door, and every fault, served as hosted",
    needsStack: true,
    run: hostedAll,
  },
];

async function consoleTests({ files, stack }: Context, chosen: RegExp): Promise<StepResult> {
  if (!stack) throw new Error("the console needs a stack");
  await prepareConsoleTests(stack);
  const tests = (await walk(["tests/console"])).filter((path) => chosen.test(path));
  return denoTests([], { files: files.length ? files : tests, stack });
}

async function migrationTests({ files }: Context): Promise<StepResult> {
  const released = await startReleasedStack();
  try {
    Deno.env.set("LOGLOOM_PROJECT", released.project);
    return await denoTests(["tests/migrations"], { files, stack: released });
  } finally {
    await released.stop();
  }
}

const representativeSenders = ["otlp", "elasticsearch_bulk", "curl"]
  .map((name) => `tests/senders/${name}_test.ts`);

async function senders(
  which: "few" | "all",
  context: Context,
  env: Record<string, string> = {},
): Promise<StepResult> {
  await installSenders(which, (step) => console.log(`  ${step} …`));
  return await denoTests(["tests/senders"], context, "deno", [], env);
}

async function typeScript(): Promise<string[]> {
  // The console's tests stand on packages of its own, and are checked when those are there.
  return (await walk(sources)).filter((path) =>
    path.endsWith(".ts") && !path.startsWith("tests/console/")
  );
}

/** What a linter reads as PostgreSQL does, function bodies included; and how it is written. */
async function sqlSources({ files }: Context): Promise<StepResult> {
  const all = (await walk(["supabase", "citus", "local"])).filter((path) => path.endsWith(".sql"));
  const chosen = files.length ? files : all;
  // Tests are psql's, with commands of its own.
  const linted = chosen.filter((path) => !/^(supabase|citus)\/tests\//.test(path));
  const result = linted.length === 0 ? { passed: 0, failed: 0 } : await check([
    `${checkout}/node_modules/.bin/postgres-language-server`,
    "check",
    "--error-on-warnings",
    "--max-diagnostics=50",
    ...linted,
  ]);
  // Later migrations are the comparing tool's text, as far as nobody has to correct it.
  const first = (await firstMigrations()).map(({ name }) => `supabase/migrations/${name}`);
  const written = chosen.filter((path) =>
    !path.startsWith("supabase/migrations/") || first.includes(path)
  );
  for (const path of written) {
    const faults = sqlStyleFaults(await Deno.readTextFile(`${checkout}/${path}`));
    for (const { line, message } of faults) console.log(`${path}:${line}: ${message}`);
    if (faults.length > 0) result.failed += 1;
    else result.passed += 1;
  }
  return result;
}

/** What the advisors find and we mean so, by the beginning of its key. */
const committing =
  "a procedure that commits cannot carry a set clause; it qualifies every name instead";
const hosts =
  "the project's own pre-request function runs inside and has the search_path of the request";
const accepted: Record<string, string> = {
  function_search_path_mutable_logloom_private_check_request_: hosts,
  function_search_path_mutable_logloom_private_call_host_pre_request_: hosts,
  function_search_path_mutable_logloom_private_write_logs_: committing,
  function_search_path_mutable_logloom_private_evaluate_alerts_: committing,
  function_search_path_mutable_logloom_private_run_retention_: committing,
  function_search_path_mutable_logloom_private_run_job_: committing,
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

async function pgtap({ files, stack: testStack }: Context): Promise<StepResult> {
  if (!testStack) throw new Error("pgTAP needs a stack");
  const { stack, system } = testStack;
  // What tests include is named .psql, so that no runner takes it for a test.
  const all = (await walk(["supabase/tests", "citus"])).filter((path) => /\.p?sql$/.test(path));
  const tests = (files.length ? files : all).filter((path) => path.endsWith(".test.sql"));
  if (tests.length === 0) return { passed: 0, failed: 0 };

  // pg_prove sees the stack's folder, not necessarily the checkout.
  const folder = `${system.folder(stack)}/tests`;
  for (const path of all) {
    const copy = `${folder}/${path}`;
    await system.makeFolder("postgres", copy.slice(0, copy.lastIndexOf("/")));
    await system.writeFile("postgres", copy, await Deno.readTextFile(`${checkout}/${path}`));
  }
  const prove = async (paths: string[], sealed?: string) => {
    if (paths.length === 0) return { passed: 0, failed: 0 };
    if (sealed) console.log(`with the records of each test ${sealed}:`);
    return await pgProve(paths, sealed);
  };
  const pgProve = async (paths: string[], sealed: string | undefined) => {
    const { code, text } = await output(
      system.command("postgres", "/usr/bin/pg_prove", [
        "--psql-bin",
        `${system.postgresBin}/psql`,
        "--host=127.0.0.1",
        `--port=${stack.ports.postgres}`,
        "--username=postgres",
        `--dbname=${pgtapDatabase}`,
        ...paths.map((path) => `${folder}/${path}`),
      ]),
      {
        PGPASSWORD: databasePassword,
        TZ: "UTC",
        LC_ALL: "C.UTF-8",
        PGOPTIONS: sealed ? `-c logloom_test.sealed=${sealed}` : "",
      },
      (line) => line.replaceAll(`${folder}/`, "").replaceAll("supabase/tests/", ""),
    );
    const run = Number(/^Files=\d+, Tests=(\d+)/m.exec(text)?.[1] ?? 0);
    const failed = [...text.matchAll(/Failed (\d+)\/\d+ subtests/g)]
      .reduce((sum, [, count]) => sum + Number(count), 0);
    return atLeastOneFailure(code, run - failed, failed);
  };
  // What reads records answers the same whether they are rows, sealed, or some of them sealed.
  const reading = tests.filter((path) =>
    /\/tests\/search\/(?!plans|counts_|days\.|a_slow)/.test(path)
  );
  const result = await prove(tests);
  for (const sealed of ["all", "some"]) {
    const { passed, failed } = await prove(reading, sealed);
    result.passed += passed;
    result.failed += failed;
  }
  return result;
}

/** What no log may show: an API key (its first characters may), and a token of three parts. */
const secrets = [/ll_[0-9A-Za-z]{9,}/, /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/];

/** A step on a stack of its own looks into its logs as well. */
async function withoutSecrets(
  context: Context,
  result: Promise<StepResult>,
): Promise<StepResult> {
  return sum([await result, await secretsInLogs(context)]);
}

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
