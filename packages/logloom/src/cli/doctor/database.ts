import type postgres from "postgres";
import { migrationsIn } from "../commands/install_into.ts";
import { connect } from "../database.ts";
import { clockFinding, type Finding, ok, skipped, wrong } from "./finding.ts";

const repair = "select logloom_private.repair(); as postgres.";

/** What only the database knows. */
export async function checkDatabase(databaseUrl: string, source: string): Promise<Finding[]> {
  const sql = connect(databaseUrl);
  try {
    const before = Date.now();
    const [{ now, is_there }] = await sql`
      select extract(epoch from clock_timestamp())::float8 * 1000 as now,
        to_regclass('logloom_private.installation') is not null as is_there`;
    const clock = clockFinding("database's clock", now, before);
    if (!is_there) {
      const todo = "Run install-into and supabase db push --remote, or name the right database.";
      return [clock, wrong("database", "Logloom is not installed there", todo)];
    }
    return [
      clock,
      await checkExtensions(sql),
      await checkMigrations(sql, source),
      ...await checkJobs(sql),
      await checkHook(sql),
      await checkKeys(sql),
      await checkRestored(sql),
    ];
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const todo = "Check address, user and password; docs/guides/hosted.md names the connection.";
    return [wrong("database", code === undefined ? message : `${code}: ${message}`, todo)];
  } finally {
    await sql.end({ timeout: 5 });
  }
}

async function checkExtensions(sql: postgres.Sql): Promise<Finding> {
  const rows = await sql`
    select w.name, x.extversion as version
    from unnest(array['http', 'pg_cron', 'pg_partman', 'pgcrypto']) w (name)
    left join pg_extension x on x.extname = w.name
    order by w.name`;
  const missing = rows.filter(({ version }) => version === null).map(({ name }) => name);
  if (missing.length === 0) {
    return ok("extensions", rows.map(({ name, version }) => `${name} ${version}`).join(", "));
  }
  return wrong(
    "extensions",
    `missing: ${missing.join(", ")}`,
    `create extension …; for each (dashboard: Database, Extensions), then ${repair}`,
  );
}

/** Migrations keep their names in every project; the versions differ. */
async function checkMigrations(sql: postgres.Sql, source: string): Promise<Finding> {
  const [{ is_kept }] = await sql`
    select to_regclass('supabase_migrations.schema_migrations') is not null as is_kept`;
  if (!is_kept) return skipped("migrations", "the database keeps no list of them");
  const rows = await sql`
    select name from supabase_migrations.schema_migrations
    where name ~ '^logloom(_|$)' and name !~ '^logloom_storage_limit_'`;
  const applied = new Set(rows.map(({ name }) => String(name)));
  const ours = (await migrationsIn(`${source}/migrations`)).map(({ name }) => name);
  const missing = ours.filter((name) => !applied.has(name));
  const newer = [...applied].filter((name) => !ours.includes(name));
  if (newer.length > 0) {
    return wrong(
      "migrations",
      `the database has newer ones: ${newer.join(", ")}`,
      "Use the doctor of that version.",
    );
  }
  if (missing.length > 0) {
    return wrong(
      "migrations",
      `not applied: ${missing.join(", ")}`,
      "Run install-into, then supabase db push --remote in the project.",
    );
  }
  return ok("migrations", `all ${ours.length}, up to ${ours.at(-1)}`);
}

interface JobHealth {
  status: string;
  reason: string | null;
  last_success: string | null;
}

/** Each lane: whether pg_cron has it. Each job: whether it is paused, and how its last steps went. */
async function checkJobs(sql: postgres.Sql): Promise<Finding[]> {
  const [{ health }] = await sql`
    select logloom_private.job_health(clock_timestamp()) as health`;
  const lanes = await sql<{ name: string; active: boolean | null }[]>`
    select 'logloom_' || l.lane as name, c.active
    from (select distinct j.lane from logloom_private.jobs j where j.lane <> 'ingest') l
    left join cron.job c on c.jobname = 'logloom_' || l.lane
    order by 1`;
  const stopped = lanes.filter(({ active }) => !active).map(({ name, active }) => {
    if (active === null) return wrong(`pg_cron's job ${name}`, "not scheduled", repair);
    const todo = `select cron.alter_job(jobid, active => true) from cron.job where jobname = ` +
      `'${name}';`;
    return wrong(`pg_cron's job ${name}`, "switched off", todo);
  });
  const paused = await sql<{ name: string }[]>`
    select name from logloom_private.jobs where is_paused`;
  const jobs = Object.entries(health as Record<string, JobHealth>);
  const bad = jobs.flatMap(([name, { status, reason, last_success }]) => {
    const last = last_success === null ? "it never succeeded" : `last success ${last_success}`;
    if (paused.some((job) => job.name === name)) {
      const todo = `update logloom_private.jobs set is_paused = false where name = '${name}';`;
      return [wrong(`job ${name}`, `paused; ${last}`, todo)];
    }
    if (status === "healthy") return [];
    const todo = "See logloom_private.jobs, and docs/guides/operations.md.";
    return [wrong(`job ${name}`, `${reason ?? status}; ${last}`, todo)];
  });
  const found = [...stopped, ...bad];
  return found.length > 0 ? found : [ok("jobs", `all ${jobs.length} scheduled, and in time`)];
}

async function checkHook(sql: postgres.Sql): Promise<Finding> {
  const [{ is_granted }] = await sql`
    select exists (
      select
      from pg_proc p
      cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
      where p.oid = to_regprocedure('logloom_private.custom_access_token_hook(jsonb)')
        and a.grantee = to_regrole('supabase_auth_admin') and a.privilege_type = 'EXECUTE'
    ) as is_granted`;
  if (is_granted) return ok("hook's function", "Auth may call it");
  return wrong(
    "hook's function",
    "Auth may not call it, so nobody can sign in while the hook is on",
    "grant execute on function logloom_private.custom_access_token_hook(jsonb) to " +
      "supabase_auth_admin; as postgres.",
  );
}

async function checkKeys(sql: postgres.Sql): Promise<Finding> {
  const [{ active, tenants }] = await sql`
    select count(*)::integer as active, count(distinct k.tenant_id)::integer as tenants
    from logloom.api_keys k
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`;
  if (active === 0) return skipped("keys", "there is no active key: only signed-in users can send");
  return ok("keys", `${active} active, of ${tenants} ${tenants === 1 ? "tenant" : "tenants"}`);
}

async function checkRestored(sql: postgres.Sql): Promise<Finding> {
  const [{ is_restored, is_copied }] = await sql`
    select logloom_private.is_restored() as is_restored, logloom_private.is_copied() as is_copied`;
  if (is_restored) return wrong("installation", "restored from a dump, and not repaired", repair);
  if (!is_copied) return ok("installation", "complete");
  return wrong(
    "installation",
    "a copy of another project's database: it sends and archives nothing",
    "See A copy of the database in docs/guides/operations.md.",
  );
}
