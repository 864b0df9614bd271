import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";
import { check, type Context, type Step, type StepResult } from "../runner/step.ts";
import { sqlStyleFaults } from "./style.ts";

export const sql: Step = {
  name: "sql",
  title: "SQL, by a linter, and how it is written",
  needsStack: false,
  run: sqlSources,
};

/** Runs a linter that reads SQL like PostgreSQL, function bodies included, and checks our style rules. */
async function sqlSources({ files }: Context): Promise<StepResult> {
  const all = (await walk(["supabase", "citus", "local"])).filter((path) => path.endsWith(".sql"));
  // Migrations are left out, because they are generated from the files that are checked here.
  const chosen = (files.length ? files : all)
    .filter((path) => !path.startsWith("supabase/migrations/"));
  // Tests are written for psql and have its commands, which the linter does not know.
  const linted = chosen.filter((path) => !/^(supabase|citus)\/tests\//.test(path));
  const result = linted.length === 0 ? { passed: 0, failed: 0 } : await check([
    `${checkout}/node_modules/.bin/postgres-language-server`,
    "check",
    "--error-on-warnings",
    "--max-diagnostics=50",
    ...linted,
  ]);
  for (const path of chosen) {
    const faults = sqlStyleFaults(await Deno.readTextFile(`${checkout}/${path}`));
    for (const { line, message } of faults) console.log(`${path}:${line}: ${message}`);
    if (faults.length > 0) result.failed += 1;
    else result.passed += 1;
  }
  return result;
}
