import postgres from "postgres";
import { readManifest } from "../../packages/logloom/src/cli/guest/files.ts";
import { command } from "../../local/run_command.ts";
import {
  makeProject,
  prepareCluster,
  pushMigrations,
  removeCluster,
} from "../../local/database.ts";
import { removeIfThere } from "../../local/files.ts";
import { anonKey, serviceRoleKey, signToken } from "../../local/signing_keys.ts";
import { functionProcesses, oneOfEach, writePrograms } from "../../local/processes/functions.ts";
import { gatewayProcess, writeGatewayConfig } from "../../local/processes/gateway.ts";
import { postgresProcess } from "../../local/processes/postgres.ts";
import { postgrestProcess } from "../../local/processes/postgrest.ts";
import {
  checkout,
  databasePassword,
  functionNames,
  type Stack,
  stackNamed,
} from "../../local/stack.ts";
import { Supervisor } from "../../local/supervisor.ts";
import { prepareSystem, type System } from "../../local/system.ts";
import { endLeftovers } from "../../local/start_stack.ts";
import { grantsUntilOctober2026 } from "../support/legacy_grants.ts";

/** A foreign project: its folder, PostgreSQL and PostgREST. */
export interface Shop extends AsyncDisposable {
  stack: Stack;
  folder: string;
  api: string;
  sql: postgres.Sql;
  sqlAsPostgres: postgres.Sql;
  push(databaseUrl?: string): Promise<void>;
  serve(): Promise<void>;
  /** Serves the functions in the project's folder behind a gateway, with these variables. */
  serveFunctions(env: Record<string, string>): Promise<void>;
  /** Returns the schema as pg_dump prints it. */
  dump(): Promise<string>;
}

export interface ShopOptions {
  /** The project's folder: `shop`, or `club`, which uses starter kits and libraries. */
  project?: "shop" | "club";
  /** The schemas that the API exposes. */
  schemas?: string;
  /** All roles get rights on new objects in public, as in projects until 30 October 2026. */
  grantsByDefault?: boolean;
}

/** Opens a project with only these migrations. Without any, the project is empty. */
export async function openShop(
  migrations: readonly string[],
  { project = "shop", schemas = "public,app", grantsByDefault = false }: ShopOptions = {},
): Promise<Shop> {
  const stack = stackNamed("scratch");
  const system = await prepareSystem(() => {});
  await endLeftovers(stack);
  await removeCluster(system, stack);
  await removeIfThere(stack.folder);
  const folder = `${stack.folder}/shop`;
  await Deno.mkdir(`${folder}/supabase/migrations`, { recursive: true });
  const source = `${checkout}/tests/guest/${project}/supabase`;
  const config = await Deno.readTextFile(`${source}/config.toml`);
  await Deno.writeTextFile(
    `${folder}/supabase/config.toml`,
    `${config.replace("[api]", `[api]\nport = ${stack.ports.gateway}`)}
[db]
port = ${stack.ports.postgres}
`,
  );
  for (const name of migrations) {
    await Deno.copyFile(`${source}/migrations/${name}`, `${folder}/supabase/migrations/${name}`);
  }
  await Deno.mkdir(`${stack.folder}/logs`, { recursive: true });
  const supervisor = new Supervisor(`${stack.folder}/logs`, () => {});
  await prepareCluster(system, stack, new AbortController().signal);
  await supervisor.start(postgresProcess(system, stack));
  await makeProject(stack);
  const sql = postgres(stack.adminDatabaseUrl, { max: 2, onnotice: () => {} });
  await sql.unsafe(authUsers);
  const sqlAsPostgres = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
  if (grantsByDefault) await sql.unsafe(grantsUntilOctober2026);
  return {
    stack,
    folder,
    api: `http://127.0.0.1:${stack.ports.postgrest}`,
    sql,
    sqlAsPostgres,
    push: async (databaseUrl = stack.databaseUrl) => {
      const output = await pushMigrations(databaseUrl, undefined, folder);
      if (output !== null) throw new Error(output);
    },
    serve: async () => {
      const definition = postgrestProcess(stack);
      const env = { ...definition.env, PGRST_DB_SCHEMAS: schemas };
      await supervisor.start({ ...definition, env });
    },
    serveFunctions: (env) => serveFunctions(system, stack, supervisor, folder, env),
    dump: () => dump(system, stack),
    [Symbol.asyncDispose]: async () => {
      await sql.end();
      await sqlAsPostgres.end();
      await supervisor.stop();
      await removeCluster(system, stack);
    },
  };
}

/** The columns of Auth's table users that Logloom reads, and a user who can be an owner. */
const authUsers = `
  create schema auth;
  create table auth.users (
    id uuid primary key, email text, email_confirmed_at timestamptz, created_at timestamptz,
    deleted_at timestamptz, is_anonymous boolean not null default false
  );
  insert into auth.users (id, email, email_confirmed_at, created_at)
  values ('5e1f8a44-8f0d-4b77-9a4a-2b4dfb4ad5d1', 'ann@example.com', now(), now());
  grant usage on schema auth to postgres;
  grant select on auth.users to postgres`;

async function serveFunctions(
  system: System,
  stack: Stack,
  supervisor: Supervisor,
  folder: string,
  env: Record<string, string>,
): Promise<void> {
  const { health } = await readManifest(`${folder}/supabase/functions`);
  await writePrograms(stack, [...functionNames], `${folder}/supabase/functions`, health);
  await writeGatewayConfig(system, stack, [...functionNames], 1, health);
  for (const process of functionProcesses(stack, [...functionNames], oneOfEach)) {
    await supervisor.start({ ...process, env: { ...process.env, ...env } });
  }
  await supervisor.start(gatewayProcess(system, stack));
}

function dump(system: System, stack: Stack): Promise<string> {
  return command(
    system.command("postgres", `${system.postgresBin}/pg_dump`, [
      "--schema-only",
      // Without this option pg_dump would print a random key.
      "--restrict-key=shop",
      "--host=127.0.0.1",
      `--port=${stack.ports.postgres}`,
      "--username=supabase_admin",
      "postgres",
    ]),
    { failure: "pg_dump failed", cwd: "/", env: { PGPASSWORD: databasePassword } },
  );
}

const now = Math.floor(Date.now() / 1000);
const tokenOf = (role: string) =>
  signToken({
    aud: "authenticated",
    iat: now,
    exp: now + 3600,
    role,
    sub: "11111111-1111-4111-8111-111111111111",
  });
const user = tokenOf("authenticated");
const editor = tokenOf("editor");
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const json = { "content-type": "application/json" };

export type Request = [
  method: string,
  path: string,
  headers?: Record<string, string>,
  body?: unknown,
];

/** Requests of the shop's own clients. */
const ofShop: Request[] = [
  ["GET", "/"],
  ["GET", "/orders"],
  ["HEAD", "/orders"],
  ["GET", "/orders?select=price&id=eq.1", bearer(user)],
  ["GET", "/orders?id=eq.x"],
  ["POST", "/orders", json, { customer: 7, price: "no" }],
  ["GET", "/logs"],
  ["GET", "/settings"],
  ["GET", "/settings", bearer(user)],
  ["GET", "/orders", bearer(serviceRoleKey)],
  ["GET", "/orders", bearer(anonKey)],
  ["GET", "/orders", bearer("no.token.this")],
  ["GET", "/orders", bearer(editor)],
  ["POST", "/rpc/place_order", { ...json, ...bearer(editor) }, { p_customer: "ada" }],
  ["GET", "/orders", { "x-shop": "closed" }],
  ["POST", "/rpc/place_order", json, { p_customer: "ada" }],
  ["GET", "/rpc/place_order?p_customer=ada"],
  ["POST", "/rpc/place_order", { ...json, "x-shop": "closed" }, { p_customer: "ada" }],
  ["POST", "/rpc/who_am_i", json, {}],
  ["GET", "/rpc/who_am_i", bearer(user)],
  ["POST", "/rpc/search_logs", { ...json, "content-profile": "app" }, {}],
  ["GET", "/rpc/search_logs", { "accept-profile": "app" }],
  ["POST", "/rpc/ingest_text", { ...json, "content-profile": "app" }, {}],
  ["GET", "/settings", { "accept-profile": "app" }],
  ["GET", "/nothing"],
  ["DELETE", "/orders?id=eq.1"],
  ["OPTIONS", "/orders"],
];

const portal = tokenOf("portal");
const group = { p_group_id: "33333333-3333-4333-8333-333333333333" };
const member = { ...group, p_user_id: "44444444-4444-4444-8444-444444444444" };

/** Requests of the club's clients. */
export const ofClub: Request[] = [
  ["GET", "/accounts", bearer(serviceRoleKey)],
  ["GET", "/accounts"],
  ["GET", "/accounts", bearer(user)],
  ["GET", "/account_names", bearer(portal)],
  ["GET", "/accounts", bearer(portal)],
  ["POST", "/rpc/list_members", { ...json, ...bearer(user) }, group],
  ["POST", "/rpc/list_members", json, group],
  ["POST", "/rpc/list_members", { ...json, ...bearer(portal) }, group],
  ["POST", "/rpc/add_member", { ...json, ...bearer(user) }, { ...member, p_roles: ["member"] }],
  ["POST", "/rpc/add_member", { ...json, ...bearer(user) }, { p_name: "ada" }],
  ["POST", "/rpc/list_members", { ...json, ...bearer(user) }, group],
  ["POST", "/rpc/remove_member", { ...json, ...bearer(user) }, member],
  ["POST", "/rpc/set_member_role", { ...json, ...bearer(user) }, {
    p_user_id: member.p_user_id,
    p_role: "owner",
  }],
  ["GET", "/rpc/get_usage", bearer(user)],
  ["POST", "/rpc/list_audit_entries", { ...json, ...bearer(user) }, {}],
  ["POST", "/rpc/list_retention_runs", { ...json, ...bearer(user) }, {}],
  ["POST", "/rpc/rotate_webhook_secret", { ...json, ...bearer(user) }, {}],
  ["POST", "/rpc/claim_notifications", { ...json, ...bearer(user) }, {}],
  ["GET", "/members?select=roles", { "accept-profile": "rbac", ...bearer(user) }],
  ["GET", "/members?select=roles", { "accept-profile": "rbac" }],
  ["GET", "/nothing", bearer(portal)],
];

/** Returns all answers, byte for byte, without the date. */
export async function answers(shop: Shop, requests = ofShop): Promise<string[]> {
  const all: string[] = [];
  for (const [method, path, headers, body] of requests) {
    const response = await fetch(`${shop.api}${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    const said = [...response.headers].filter(([name]) => name !== "date");
    all.push(`${method} ${path} ${JSON.stringify([response.status, said.sort(), text])}`);
  }
  return all;
}

/**
 * Returns what a dump of the schema does not show: rows of extensions, settings of roles, default privileges, history.
 */
export async function rows(shop: Shop, withHistory = true): Promise<Record<string, unknown>> {
  const { sql } = shop;
  const [history] = await sql`select to_regclass('supabase_migrations.schema_migrations') as name`;
  const hasCron = (await sql`select from pg_extension where extname = 'pg_cron'`).length > 0;
  const hasPartman = (await sql`select from pg_extension where extname = 'pg_partman'`).length > 0;
  return {
    jobs: hasCron
      ? await sql`
        select jobid::text, schedule, command, username, active, jobname from cron.job
        where command not like '%logloom_private.%' order by jobid`
      : [],
    partitioned: hasPartman
      ? await sql`
        select to_jsonb(c) as config from partman.part_config c
        where parent_table not like 'logloom%' order by parent_table`
      : [],
    roles: await sql`
      select setrole::regrole::text as role, setdatabase <> 0 as here, setconfig
      from pg_db_role_setting
      where ${withHistory} or setrole <> 'authenticator'::regrole
      order by 1, 2`,
    privileges: await sql`
      select defaclrole::regrole::text as role, defaclnamespace::regnamespace::text as schema,
        defaclobjtype, defaclacl::text
      from pg_default_acl order by 1, 2, 3`,
    extensions: await sql`
      select extname, extnamespace::regnamespace::text as schema, extowner::regrole::text as owner
      from pg_extension order by extname`,
    history: history.name && withHistory
      ? await sql`select version, name from supabase_migrations.schema_migrations order by version`
      : [],
    hook: await hookAnswer(sql),
  };
}

/** Returns the token hook's answer for a user, if there is a hook. */
async function hookAnswer(sql: postgres.Sql): Promise<string | null> {
  const event = { user_id: "11111111-1111-4111-8111-111111111111", claims: { sub: "x" } };
  for (const name of ["app.token_hook", "public.custom_access_token_hook"]) {
    const [{ is_there }] = await sql`select to_regproc(${name}) is not null as is_there`;
    if (!is_there) continue;
    const [{ answer }] = await sql`select ${sql.unsafe(name)}(${sql.json(event)})::text as answer`;
    return answer;
  }
  return null;
}
