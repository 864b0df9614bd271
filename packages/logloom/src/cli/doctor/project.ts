import { type Finding, ok, wrong } from "./finding.ts";

const mends: Record<string, string> = {
  database:
    "The functions cannot call the database: see The key of the functions in docs/guides/hosted.md.",
  read_only: "Make room: see A read-only or full database in docs/guides/operations.md.",
  full: "Make room: see A read-only or full database in docs/guides/operations.md.",
  storage: "Raise max_storage_bytes, or keep less: see docs/guides/retention-and-quotas.md.",
  project:
    "alter system set cron.launch_active_jobs = on; select pg_reload_conf(); as a superuser.",
};

/** Returns the remedy for a health check that is not healthy. */
export function mendOf(name: string, state: string | undefined): string {
  return mends[state ?? name] ?? mends[name] ??
    "select logloom_private.repair(); as postgres, then see docs/guides/operations.md.";
}

/** Findings about what Logloom costs the project. A cost is not an error; the finding says how to lower it. */
export function projectFindings(
  { alerts, project, storage }: Record<string, Record<string, unknown>>,
): Finding[] {
  // Older versions report neither of the two.
  return [
    ...project === undefined ? [] : [cronFinding(project), connectionFinding(project)],
    ...storage === undefined ? [] : [storageFinding(storage)],
    ...alerts?.console_url === null ? [linkFinding] : [],
  ];
}

const linkFinding: Finding = {
  ...ok("alert messages", "without a link to the console"),
  todo: "update logloom_private.settings set console_url = '…' where singleton; adds it.",
};

function cronFinding({ log_run, log_statement, runs_a_day }: Record<string, unknown>): Finding {
  const runs = runs_a_day === null
    ? `no runs are noted (cron.log_run is ${log_run})`
    : `${runs_a_day} runs a day`;
  if (log_statement !== "on") return ok("pg_cron", `${runs}, not in PostgreSQL's log`);
  return {
    ...ok("pg_cron", `${runs}, each two lines in PostgreSQL's log`),
    todo: "supabase --experimental postgres-config update --config cron.log_statement=false ends " +
      "them, and restarts the database.",
  };
}

function connectionFinding({ free_connections: free }: Record<string, unknown>): Finding {
  if (Number(free) >= 3) return ok("connections", `${free} free`);
  return wrong(
    "connections",
    `${free} free, and each of three jobs needs one`,
    "Lower the pools, or raise max_connections: see docs/guides/costs.md.",
  );
}

function storageFinding(
  { stored_bytes, limit_bytes, percent, policy }: Record<string, unknown>,
): Finding {
  const [stored, limit] = [stored_bytes, limit_bytes].map((bytes) =>
    `${Math.round(Number(bytes) / 1e6)} MB`
  );
  if (typeof limit_bytes === "number") {
    return ok("storage", `${stored} of ${limit} (${percent} %), then ${policy}`);
  }
  return {
    ...ok("storage", `${stored}, without a limit`),
    todo: "update logloom_private.settings set max_storage_bytes = … where singleton; sets one: " +
      "see docs/guides/costs.md.",
  };
}
