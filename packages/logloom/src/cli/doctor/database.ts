import { migrationsIn } from "../guest/installation.ts";
import type { Query } from "../init/project.ts";
import { checkNotify } from "./notify.ts";
import { clockFinding, type Finding, ok, skipped, wrong } from "./finding.ts";

const repair = "select logloom_private.repair(); as postgres.";

/** Checks what only the database knows. */
export async function checkDatabase(
  query: Query,
  source: string,
  projectUrl: string | undefined,
  signal: AbortSignal,
): Promise<Finding[]> {
  try {
    const before = Date.now();
    const [{ now, is_there }] = await query<{ now: number; is_there: boolean }>(`
      select extract(epoch from clock_timestamp())::float8 * 1000 as now,
        to_regclass('logloom_private.installation') is not null as is_there`);
    const clock = clockFinding("database's clock", now, before);
    if (!is_there) {
      const todo = "Name the right database, or run logloom init.";
      return [clock, wrong("database", "Logloom is not installed there", todo)];
    }
    return [
      clock,
      await checkExtensions(query),
      await checkMigrations(query, source),
      ...await checkJobs(query),
      await checkPrivileges(query),
      await checkRowSecurity(query),
      await checkPreRequest(query),
      await checkHook(query),
      await checkNotify(query, projectUrl, signal),
      await checkKeys(query),
      await checkRestored(query),
    ];
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    const todo = "Check address, user and password; docs/guides/hosted.md names the connection.";
    return [wrong("database", code === undefined ? message : `${code}: ${message}`, todo)];
  }
}

async function checkExtensions(query: Query): Promise<Finding> {
  const rows = await query(`
    select w.name, x.extversion as version
    from unnest(array['http', 'pg_cron', 'pg_partman', 'pgcrypto']) w (name)
    left join pg_extension x on x.extname = w.name
    order by w.name`);
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

/** Compares migrations by name, because their versions differ between projects. */
async function checkMigrations(query: Query, source: string): Promise<Finding> {
  const [{ is_kept }] = await query(`
    select to_regclass('supabase_migrations.schema_migrations') is not null as is_kept`);
  if (!is_kept) return skipped("migrations", "the database keeps no list of them");
  const rows = await query(`
    select name from supabase_migrations.schema_migrations
    where name ~ '^logloom(_|$)' and name !~ '^logloom_storage_limit_'`);
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
      "Run logloom upgrade in the project's folder.",
    );
  }
  return ok("migrations", `all ${ours.length}, up to ${ours.at(-1)}`);
}

interface JobHealth {
  status: string;
  reason: string | null;
  last_success: string | null;
}

/** Checks that pg_cron runs each lane, that no job is paused, and that the last steps of each job succeeded. */
async function checkJobs(query: Query): Promise<Finding[]> {
  const [{ health }] = await query<{ health: Record<string, JobHealth> }>(`
    select logloom_private.job_health(clock_timestamp()) as health`);
  const lanes = await query<{ name: string; active: boolean | null }>(`
    select 'logloom_' || l.lane as name, c.active
    from (select distinct j.lane from logloom_private.jobs j where j.lane <> 'ingest') l
    left join cron.job c on c.jobname = 'logloom_' || l.lane
    order by 1`);
  const stopped = lanes.filter(({ active }) => !active).map(({ name, active }) => {
    if (active === null) return wrong(`pg_cron's job ${name}`, "not scheduled", repair);
    const todo = `select cron.alter_job(jobid, active => true) from cron.job where jobname = ` +
      `'${name}';`;
    return wrong(`pg_cron's job ${name}`, "switched off", todo);
  });
  const paused = await query<{ name: string }>(`
    select name from logloom_private.jobs where is_paused`);
  const jobs = Object.entries(health);
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

/** Finds operations and tables that can be used without signing in. */
async function checkPrivileges(query: Query): Promise<Finding> {
  const rows = await query<{ name: string }>(`
    select distinct o.kind || ' ' || o.name as name
    from (
      select 'function' as kind, p.oid::regprocedure::text as name,
        coalesce(p.proacl, acldefault('f', p.proowner)) as acl
      from pg_proc p
      where p.pronamespace = 'public'::regnamespace
        and p.proname = any (logloom_private.operations())
      union all
      select 'table', c.oid::regclass::text, c.relacl
      from pg_class c
      where c.relkind in ('r', 'p')
        and c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
    ) o
    cross join aclexplode(o.acl) a
    where a.grantee in (0, 'anon'::regrole)
    order by 1`);
  if (rows.length === 0) return ok("privileges", "anon has none");
  return wrong(
    "privileges",
    `anon may use ${listOf(rows)}`,
    `revoke all on … from anon, public; for each. For functions also ${repair}`,
  );
}

async function checkRowSecurity(query: Query): Promise<Finding> {
  const rows = await query<{ name: string }>(`
    select c.oid::regclass::text as name
    from pg_class c
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and c.relkind in ('r', 'p') and not (c.relrowsecurity and c.relforcerowsecurity)
    order by 1`);
  if (rows.length === 0) return ok("row-level security", "forced on every table");
  return wrong(
    "row-level security",
    `off on ${listOf(rows)}`,
    "alter table … enable row level security, force row level security; for each.",
  );
}

/** Lists the first five names. */
const listOf = (rows: readonly { name: string }[]): string =>
  rows.slice(0, 5).map(({ name }) => name).join(", ") +
  (rows.length > 5 ? ` and ${rows.length - 5} more` : "");

async function checkPreRequest(query: Query): Promise<Finding> {
  const [{ health }] = await query<{ health: { status: string; reason?: string | null } }>(
    "select logloom_private.pre_request_health() as health",
  );
  if (health.status === "healthy") return ok("pre-request", "PostgREST calls Logloom's check");
  return wrong(
    "pre-request",
    health.reason ?? health.status,
    "select logloom_private.adopt_pre_request(); as postgres.",
  );
}

async function checkHook(query: Query): Promise<Finding> {
  const [{ is_granted }] = await query(`
    select exists (
      select
      from pg_proc p
      cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
      where p.oid = to_regprocedure('logloom_private.custom_access_token_hook(jsonb)')
        and a.grantee = to_regrole('supabase_auth_admin') and a.privilege_type = 'EXECUTE'
    ) as is_granted`);
  if (is_granted) return ok("hook's function", "Auth may call it");
  return wrong(
    "hook's function",
    "Auth may not call it, so nobody can sign in while the hook is on",
    "grant execute on function logloom_private.custom_access_token_hook(jsonb) to " +
      "supabase_auth_admin; as postgres.",
  );
}

async function checkKeys(query: Query): Promise<Finding> {
  const [{ active, tenants }] = await query<{ active: number; tenants: number }>(`
    select count(*)::integer as active, count(distinct k.tenant_id)::integer as tenants
    from logloom.api_keys k
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > now())`);
  if (active === 0) return skipped("keys", "there is no active key: only signed-in users can send");
  return ok("keys", `${active} active, of ${tenants} ${tenants === 1 ? "tenant" : "tenants"}`);
}

async function checkRestored(query: Query): Promise<Finding> {
  const [{ is_restored, is_copied }] = await query(`
    select logloom_private.is_restored() as is_restored, logloom_private.is_copied() as is_copied`);
  if (is_restored) return wrong("installation", "restored from a dump, and not repaired", repair);
  if (!is_copied) return ok("installation", "complete");
  return wrong(
    "installation",
    "a copy of another project's database: it sends and archives nothing",
    "See A copy of the database in docs/guides/operations.md.",
  );
}
