import postgres from "postgres";
import { type Context, output, type Step, type StepResult } from "../runner/step.ts";

export const advisors: Step = {
  name: "advisors",
  title: "supabase db advisors",
  needsStack: true,
  run: adviceOn,
};

/** Lists findings of the advisors that are intended, by the beginning of their keys. */
const committing =
  "a procedure that commits cannot carry a set clause; it qualifies every name instead";
const hosts =
  "the project's own pre-request function runs inside and has the search_path of the request";
const accepted: Record<string, string> = {
  function_search_path_mutable_logloom_private_check_request_: hosts,
  function_search_path_mutable_logloom_private_call_host_pre_request_: hosts,
  function_search_path_mutable_logloom_private_work_: committing,
  function_search_path_mutable_logloom_private_run_step_: committing,
  function_search_path_mutable_logloom_private_run_job_: committing,
  function_search_path_mutable_logloom_private_verify_: committing,
};

async function adviceOn({ stack }: Context): Promise<StepResult> {
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
  const expressions = await expressionsOf(stack!.stack.databaseUrl);
  const result = { passed: 1, failed: 0 };
  for (const finding of JSON.parse(findings ?? "[]") as Finding[]) {
    if (expressions.some((start) => finding.cache_key.startsWith(start))) continue;
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

/** These private expressions are in standard SQL. PostgreSQL resolved their names when they were created. */
async function expressionsOf(databaseUrl: string): Promise<string[]> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const found = await sql`
      select 'function_search_path_mutable_logloom_private_' || p.proname || '_' as start
      from pg_proc p
      where p.pronamespace = 'logloom_private'::regnamespace and p.prosqlbody is not null
        and not p.prosecdef and p.proconfig is null`;
    return found.map(({ start }) => start);
  } finally {
    await sql.end();
  }
}

interface Finding {
  name: string;
  level: string;
  detail: string;
  remediation: string;
  cache_key: string;
}
