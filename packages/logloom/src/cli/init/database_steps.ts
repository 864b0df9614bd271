import { hostname } from "node:os";
import { Failure } from "../failure.ts";
import { checkApiKey } from "../key_check.ts";
import { readProfile, writeProfile } from "../profiles.ts";
import { done, left, type Look, type Step, todo } from "./steps.ts";
import { literal, type Project } from "./project.ts";
import type { Setup } from "./setup.ts";

const neededExtensions = { pg_cron: "1.5", pg_partman: "5", http: "1", pgcrypto: "1" };

/** Checks that the database has what Logloom needs. If something is missing, nothing is changed. */
export function databaseStep({ project }: Setup): Step {
  return {
    name: "database",
    async look() {
      const [found] = await project.query(`
        select current_setting('server_version') as server,
          (select json_object_agg(x.name, coalesce(x.installed_version, x.default_version))
            from pg_available_extensions x
            where x.name in (${
        Object.keys(neededExtensions).map(literal).join(", ")
      })) as extensions,
          (select string_agg(r.name, ', ')
            from unnest(array['anon', 'authenticated', 'service_role', 'authenticator']) r (name)
            where to_regrole(r.name) is null) as missing_roles,
          (select s.setting from pg_settings s where s.name = 'cron.launch_active_jobs') as launches`);
      const { server, missing_roles, launches } = found as Record<string, string | null>;
      const extensions = Object(found.extensions) as Record<string, string>;
      const lacking = Object.entries(neededExtensions)
        .filter(([name, version]) => parseFloat(extensions[name] ?? "0") < parseFloat(version))
        .map(([name, version]) => `${name} ${version}`);
      if (lacking.length > 0) {
        throw new Failure(
          `it lacks ${lacking.join(", ")}: upgrade the project's Postgres (Project Settings, ` +
            "Infrastructure), or the local Supabase CLI.",
        );
      }
      if (missing_roles !== null) throw new Failure(`it has no role ${missing_roles}.`);
      const versions = Object.entries(extensions).sort().map((pair) => pair.join(" ")).join(", ");
      if (launches !== "off") return done(`PostgreSQL ${server}, ${versions}`);
      return left(
        "cron.launch_active_jobs is off: pg_cron starts no job",
        "alter system set cron.launch_active_jobs = on; select pg_reload_conf(); as a superuser.",
      );
    },
    run: () => Promise.reject(new Error("there is nothing to run")),
  };
}

/** Applies the folder's pending migrations with the Supabase CLI. */
export function migrationsStep(setup: Setup): Step {
  const { project } = setup;
  const look = async () => {
    const added = (await setup.prepare()).migrations.map((file) => file.slice(0, -4));
    const present = (await setup.migrations()).map(({ version, name }) => `${version}_${name}`);
    const applied = await appliedMigrations(project);
    const pending = [...present, ...added].filter((migration) => !applied.has(migration));
    const own = pending.filter((migration) => !/^\d+_logloom(_|$)/.test(migration));
    if (pending.length === 0) return done("all are applied");
    const others = own.length === 0 ? "" : `, and yours that are pending: ${own.join(", ")}`;
    return todo(`applies ${pending.length - own.length} of Logloom's${others}`);
  };
  return {
    name: "migrations",
    look,
    async run() {
      await project.supabase.run(["db", "push", ...project.pushTarget, "--yes"]);
      // Schedules the jobs again, because pg_cron misses jobs that are committed while it reads its list.
      await project.query("select logloom_private.schedule_jobs()");
      return done("all are applied");
    },
  };
}

async function appliedMigrations({ query }: Project): Promise<Set<string>> {
  const [{ is_there }] = await query(
    "select to_regclass('supabase_migrations.schema_migrations') is not null as is_there",
  );
  if (!is_there) return new Set();
  const rows = await query("select version, name from supabase_migrations.schema_migrations");
  return new Set(rows.map(({ version, name }) => `${version}_${name}`));
}

const plan = "pro";

interface Found {
  readonly tenant: string;
  readonly isThere: boolean;
  readonly owner: string | null;
}

/** Finds the tenant: the named one, else the only one there is, else a new one with the project's name. */
async function findTenant({ project, tenant }: Setup): Promise<Found> {
  const named = tenant ?? project.name;
  if (named.startsWith("logloom-")) {
    throw new Failure(
      `${named} is reserved: ids that begin with logloom- are ours; say --tenant ID.`,
    );
  }
  const [{ is_there }] = await project.query(
    "select to_regclass('logloom.tenants') is not null as is_there",
  );
  const rows = is_there
    ? await project.query<{ tenant: string; is_named: boolean; owner: string | null }>(`
      select t.tenant_id as tenant, t.tenant_id = ${literal(named)} as is_named,
        (select coalesce(m.email, m.user_id) from logloom.tenant_members m
          where m.tenant_id = t.tenant_id and m.role = 'owner' order by m.created_at limit 1) as owner
      from logloom.tenants t where t.tenant_id not like 'logloom-%'
      order by is_named desc limit 2`)
    : [];
  const [first] = rows;
  if (first?.is_named || tenant === undefined && rows.length === 1) {
    return { tenant: first.tenant, isThere: true, owner: first.owner };
  }
  if (tenant === undefined && rows.length > 1) {
    throw new Failure("there are several tenants: say which by --tenant ID.");
  }
  return { tenant: named, isThere: false, owner: null };
}

interface User {
  readonly id: string;
  readonly email: string | null;
}

/** Finds the named user. Without a name it finds the first two users, to see whether there is only one. */
async function findUsers({ project, owner }: Setup): Promise<User[]> {
  const [{ is_there }] = await project.query(
    "select to_regclass('auth.users') is not null as is_there",
  );
  if (!is_there) return [];
  const rows = await project.query<User>(`
    select u.id::text as id, u.email::text as email from auth.users u
    where u.deleted_at is null and not u.is_anonymous
      ${owner === undefined ? "" : `and u.email = lower(${literal(owner)})`}
    order by u.created_at limit 2`);
  if (owner !== undefined && rows.length === 0) {
    throw new Failure(
      `no user of the project has the address ${owner}: sign up, then run this again.`,
    );
  }
  return rows;
}

const later = "run this again with --owner EMAIL, an address with which somebody has signed up.";

/** Creates the first tenant and its owner. */
export function tenantStep(setup: Setup): Step {
  const look = async (): Promise<Look> => {
    const { tenant, isThere, owner } = await findTenant(setup);
    if (owner !== null) return done(`${tenant}, owned by ${owner}`);
    const users = await findUsers(setup);
    if (users.length === 1) {
      return todo(
        `${isThere ? "" : "makes "}${tenant} on the plan ${plan}, owned by ${nameOf(users[0])}`,
      );
    }
    if (!isThere) return todo(`makes ${tenant} on the plan ${plan}, without an owner`);
    return left(
      `${tenant} has no owner: the project has ${users.length === 0 ? "no user" : "several users"}`,
      later,
    );
  };
  return {
    name: "tenant",
    look,
    async run() {
      const { tenant } = await findTenant(setup);
      const [user, other] = await findUsers(setup);
      const makes = `insert into logloom.tenants (tenant_id, plan_id)
        values (${literal(tenant)}, ${literal(plan)}) on conflict do nothing`;
      await setup.project.query(makes);
      if (user !== undefined && other === undefined) {
        await setup.project.query(`
          insert into logloom.tenant_members (tenant_id, user_id, email, role)
          values (
            ${literal(tenant)}, ${literal(user.id)},
            ${user.email === null ? "null" : literal(user.email)}, 'owner'
          )
          on conflict (tenant_id, user_id) do update set role = 'owner', view_id = null`);
      }
      return await look();
    },
  };
}

/** Turns on the collectors of --collect. Their events go to the first tenant, unless another one is set. */
export function collectStep(setup: Setup): Step {
  const names = setup.collect.join(", ");
  return {
    name: "collectors",
    look: () => Promise.resolve(todo(`turns on ${names}`)),
    async run() {
      const { tenant } = await findTenant(setup);
      await setup.project.query(`
        with tenant as (
          update logloom_private.settings
          set project_tenant_id = coalesce(project_tenant_id, ${literal(tenant)}) where singleton
        )
        update logloom_private.collectors set is_on = true, next_at = now()
        where name in (${setup.collect.map(literal).join(", ")})`);
      return done(`${names} are on`);
    },
  };
}

const nameOf = ({ id, email }: User) => email ?? id;

const appKeyName = "first app";

/** Creates a key for an app, which is shown once, and a key for this command line, which may also read. */
export function keysStep(setup: Setup): Step {
  const { project, profile } = setup;
  return {
    name: "keys",
    async look() {
      const known = await readProfile(profile);
      if (known?.url === project.url && known.api_key !== undefined) {
        const { scope } = await checkApiKey(project.url, known.api_key, setup.cli.signal);
        if (scope === "sends") return done(`the profile ${profile} has one`);
      }
      return todo(`makes one for an app, and one for this command line (profile ${profile})`);
    },
    async run() {
      const { tenant } = await findTenant(setup);
      const ownName = `command line of ${hostname()}`.slice(0, 100);
      const issue = (name: string, scopes: string) =>
        `(logloom_private.issue_api_key(${literal(tenant)}, ${literal(name)}, null, ` +
        `${literal(scopes)}, null)).key_value`;
      // Revokes the keys of an interrupted run, which nobody has seen.
      await project.query(`
        update logloom.api_keys set revoked_at = now()
        where tenant_id = ${literal(tenant)} and revoked_at is null
          and name in (${literal(appKeyName)}, ${literal(ownName)})`);
      const [{ app, own }] = await project.query<{ app: string; own: string }>(
        `select ${issue(appKeyName, "{ingest}")} as app, ${issue(ownName, "{ingest,read}")} as own`,
      );
      const known = await readProfile(profile);
      const before = known?.url === project.url ? known : undefined;
      const { health } = await setup.prepare();
      await writeProfile(profile, { ...before, url: project.url, api_key: own, health });
      setup.appKey = app;
      return done(`for an app: ${app} (shown only now); for this command line: profile ${profile}`);
    },
  };
}
