import assert from "node:assert/strict";
import process from "node:process";
import postgres from "postgres";
import { installInto } from "../../packages/logloom/src/cli/guest/installation.ts";
import { filesBelow } from "../../packages/logloom/src/cli/guest/files.ts";
import { uninstall } from "../../packages/logloom/src/cli/commands/uninstall.ts";
import { runCommand } from "../../cli/testing.ts";
import { exists } from "../../local/files.ts";
import { serviceRoleKey, signToken } from "../../local/signing_keys.ts";
import { migrations } from "../../local/migrations/released.ts";
import { checkout, databaseUrl } from "../../local/stack.ts";
import { sha256Hex } from "../../supabase/functions/_shared/auth.ts";
import { eventually } from "../support/eventually.ts";
import { ref, startManagementApi } from "./management_api.ts";
import { answers, ofClub, openShop, rows, type Shop } from "./shop_project.ts";

const ours = `${checkout}/supabase`;

const shopMigrations = ["20290101000000_shop.sql", "20290102000000_shop_jobs.sql"];

/** Calls one of Logloom's operations. */
async function operation(
  shop: Shop,
  name: string,
  token: string | null,
  parameters: unknown = {},
): Promise<[number, string]> {
  const response = await fetch(`${shop.api}/rpc/${name}`, {
    method: "POST",
    headers: {
      "content-type": typeof parameters === "string" ? "text/plain" : "application/json",
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: typeof parameters === "string" ? parameters : JSON.stringify(parameters),
  });
  return [response.status, await response.text()];
}

/** Returns the error of a failed db push on one line. */
async function refusedPush(shop: Shop): Promise<string> {
  try {
    await shop.push();
  } catch (error) {
    return (error as Error).message.replaceAll(/\s+/g, " ");
  }
  return "it was pushed";
}

function tenantToken(): string {
  const now = Math.floor(Date.now() / 1000);
  return signToken({
    aud: "authenticated",
    iat: now,
    exp: now + 3600,
    role: "authenticated",
    sub: crypto.randomUUID(),
    tenant_id: "acme",
  });
}

/** Returns which roles may call each of Logloom's operations. */
async function callers({ sql }: Shop): Promise<Record<string, string>> {
  const found = await sql`
    select p.proname as operation,
      string_agg(distinct coalesce(r.rolname, 'PUBLIC'), ', ' order by coalesce(r.rolname, 'PUBLIC')) as roles
    from pg_proc p
    cross join aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
    left join pg_roles r on r.oid = a.grantee
    where p.pronamespace = 'public'::regnamespace and strpos(p.prosrc, 'logloom_private.') > 0
      and a.grantee <> p.proowner
    group by p.oid`;
  return Object.fromEntries(found.map(({ operation, roles }) => [operation, roles]));
}

/** Asserts that every operation exists and that only the right roles may call it. */
async function assertOperations(shop: Shop): Promise<void> {
  const named = await shop.sql`
    select o.name, o.name = any (logloom_private.service_operations()) as is_of_service
    from unnest(logloom_private.operations()) o (name)`;
  assert.ok(named.length > 50);
  const expected = named.map(({ name, is_of_service }) => [
    name as string,
    is_of_service ? "service_role" : "authenticated, service_role",
  ]);
  assert.deepEqual(await callers(shop), Object.fromEntries(expected));
}

for (const grantsByDefault of [false, true]) {
  const also = grantsByDefault ? "; new objects in public are granted to everyone" : "";
  Deno.test(
    `with Logloom a project's answers stay the same to the byte, and after uninstalling nothing is left${also}`,
    () => asBefore(grantsByDefault),
  );
}

async function asBefore(grantsByDefault: boolean): Promise<void> {
  await using shop = await openShop(shopMigrations, { grantsByDefault });
  await shop.push();
  // Creates a function with the name of one of PostgreSQL's. For these arguments PostgreSQL prefers ours.
  await shop.sql.unsafe(`
    create function app.format(text, variadic text[]) returns text
    language sql as 'select null::text'`);
  await shop.serve();
  const before = { answers: await answers(shop), rows: await rows(shop), dump: await shop.dump() };
  const beforeInstall = await rows(shop, false);
  // The project's pre-request function is called for every request.
  assert.match(before.answers.join("\n"), /418/);
  assert.match(before.answers.join("\n"), /"x-shop","open"/);

  const installed = await installInto(shop.folder, ours);
  // Each of our migrations comes after the project's last one.
  assert.deepEqual(
    installed.migrations,
    (await migrations()).map((name, n) => `${20290102000001 + n}${name.slice(14)}`),
  );
  assert.match(installed.advice.join(), /access-token hook of its own/);
  await shop.push();
  await eventually("PostgREST has read its settings", async () => {
    const [status, text] = await operation(shop, "search_logs", null);
    return status === 400 && text.includes("Missing authorization header");
  });
  assert.deepEqual(await answers(shop), before.answers);
  const withLogloom = await rows(shop, false);
  assert.deepEqual(withLogloom, beforeInstall);
  const unaligned = await shop.sql`
    select c.relname as name
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
      and strpos(
        pg_get_expr(c.relpartbound, c.oid),
        quote_literal(logloom_private.day_start(to_date(c.relname, '"logs_"YYYY_MM_DD')))
      ) = 0`;
  assert.deepEqual(unaligned.map(({ name }) => name), [], "days are UTC's, whatever the project's");
  await assertOperations(shop);
  const token = tenantToken();
  assert.equal((await operation(shop, "search_logs", token))[0], 200);
  assert.equal((await operation(shop, "create_api_key", token, { p_name: "a" }))[0], 200);
  await shop.sqlAsPostgres`select logloom.audit_table('public.settings')`;
  await shop.sqlAsPostgres`select logloom.audit_table('public.settings')`;
  // The project's pre-request function is also called for Logloom's operations.
  const closed = await fetch(`${shop.api}/rpc/search_logs`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "x-shop": "closed" },
  });
  assert.equal(closed.status, 418);
  await closed.body?.cancel();

  assert.deepEqual((await installInto(shop.folder, ours)).migrations, [], "again: nothing to add");

  // Requests continue while Logloom is uninstalled. Each gets an answer, and none blocks the removal.
  const statuses: number[] = [];
  let accepted = 0;
  let going = true;
  const event = '{"p_tenant_id": "acme", "p_ts": [null], "p_msg": ["while it goes"]}';
  const senders = Array.from({ length: 4 }, async () => {
    while (going) {
      const [status, answer] = await operation(shop, "ingest_text", serviceRoleKey, event);
      statuses.push(status);
      if (status === 200 && JSON.parse(answer)[0].status === 200) accepted++;
    }
  });
  await eventually("events are accepted", () => Promise.resolve(accepted > 20));
  const said: string[] = [];
  assert.equal(await uninstall(shop.stack.databaseUrl, ours, (line) => said.push(line)), true);
  going = false;
  await Promise.all(senders);
  assert.equal(said.some((line) => line.includes("stays")), false, said.join("\n"));
  assert.equal(statuses.some((status) => status >= 500), false, `${new Set(statuses)}`);

  assert.equal(await shop.dump(), before.dump);
  assert.deepEqual(await rows(shop), before.rows);
  await eventually(
    "PostgREST has read its settings",
    async () => (await operation(shop, "search_logs", token))[0] === 404,
  );
  assert.deepEqual(await answers(shop), before.answers);
  assert.equal(
    await uninstall(shop.stack.databaseUrl, ours, () => {}),
    false,
    "it is gone already",
  );
}

/** Returns the line of init's output about a step. */
const stepOf = (said: string, step: string) =>
  new RegExp(`^  (.*?) +${step} +(.*)$`, "m").exec(said)?.slice(1) ?? [];

/** A user's machine: no profile, and the Supabase CLI in PATH. */
async function person(): Promise<AsyncDisposable & { env: Record<string, string> }> {
  const folder = await Deno.makeTempDir();
  const path = `${checkout}/node_modules/.bin:${Deno.env.get("PATH")}`;
  return {
    env: { XDG_CONFIG_HOME: folder, HOME: folder, PATH: path, SUPABASE_TELEMETRY_DISABLED: "1" },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Runs init up to its proof in a local project with a hook of its own, and starts the stack anew where it waits. */
async function initLocally(
  project: Shop,
  machine: Record<string, string>,
  ...options: string[]
): Promise<void> {
  const running = runCommand(["init", project.folder, "--yes", ...options], machine);
  const path = `${project.folder}/supabase/functions/.env`;
  await eventually("init waits for the stack", () => exists(path));
  const lines = (await Deno.readTextFile(path)).trim().split("\n");
  const env = Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2)));
  await project.serveFunctions(env);
  const { code, out, err } = await running;
  assert.equal(code, 0, err);
  assert.match(out, /^ {2}LEFT {3}hook +the project has an access-token hook of its own$/m);
  assert.match(out, /^ +found {2}.* logloom-init Logloom works proof=/m);
}

/** Presses Ctrl-C at the first line, or the first request, that begins with this text. */
function interrupting(start: string, isSent = false) {
  let isOver = false;
  return (line: string) => {
    if (isOver || !(isSent ? line : line.trim().replace(/ +/g, " ")).startsWith(start)) return;
    isOver = true;
    process.emit("SIGINT", "SIGINT");
  };
}

Deno.test("init puts Logloom into a hosted project, however often it is interrupted, and uninstall takes it out", async () => {
  await using shop = await openShop(shopMigrations);
  await shop.push();
  await shop.serve();
  await using api = await startManagementApi(shop);
  await using machine = await person();
  const env = { ...machine.env, ...api.env, LOGLOOM_DATABASE_URL: shop.stack.databaseUrl };
  const before = { dump: await shop.dump(), rows: await rows(shop), auth: { ...api.auth } };
  const files = await texts(shop.folder);

  const target = [shop.folder, "--remote", "--url", shop.stack.url];
  const init = async (onLine: (line: string) => void = () => {}, ...more: string[]) => {
    const running = runCommand(["init", ...target, ...more], env);
    const { log } = console;
    console.log = (line: string) => {
      log(line);
      for (const part of line.split("\n")) onLine(part);
    };
    return await running;
  };
  assert.deepEqual(await init(), {
    code: 1,
    out: "",
    err: `logloom: ${shop.folder} is not linked: supabase link --project-ref <ref> there.\n`,
  });
  await Deno.mkdir(`${shop.folder}/supabase/.temp`, { recursive: true });
  await Deno.writeTextFile(`${shop.folder}/supabase/.temp/project-ref`, ref);

  const plan = await init(undefined, "--dry-run");
  assert.equal(plan.code, 0, plan.err);
  assert.deepEqual(stepOf(plan.out, "migrations"), [
    "to do",
    `applies ${(await migrations()).length + 1} of Logloom's`,
  ]);
  assert.deepEqual(stepOf(plan.out, "tenant"), [
    "to do",
    "makes shop on the plan pro, owned by ann@example.com",
  ]);
  assert.deepEqual(await texts(shop.folder), files, "a plan changes nothing");

  let isServed = false;
  api.onRequest = (request) => {
    if (request !== "PUT /functions" || isServed) return;
    isServed = true;
    void shop.serveFunctions(Object.fromEntries(api.secrets));
  };
  const serve = api.onRequest;
  for (
    const [start, isSent] of [
      ["ok files"],
      ["POST /secrets", true],
      ["POST /functions/deploy", true],
      ["PATCH /config/auth", true],
      ["ok tenant"],
      ["ok keys"],
    ] as const
  ) {
    const interrupt = interrupting(start, isSent);
    api.onRequest = (request) => {
      serve(request);
      if (isSent) interrupt(request);
    };
    const { code, err } = await init(isSent ? undefined : interrupt, "--yes");
    assert.deepEqual([code, err], [130, ""], start);
  }
  api.onRequest = serve;
  const whole = await init(undefined, "--yes");
  assert.equal(whole.code, 0, whole.err);
  for (const step of ["migrations", "secrets", "functions", "hook", "tenant", "keys", "doctor"]) {
    assert.equal(stepOf(whole.out, step)[0], "ok", `${step}: ${whole.out}`);
  }
  const [, sent] = /sent {3}(.*)/.exec(whole.out) ?? [];
  assert.match(
    whole.out,
    new RegExp(`found {2}.* info {2}logloom-init Logloom works proof=${JSON.parse(sent).proof}`),
  );
  assert.deepEqual(api.auth, {
    site_url: "https://shop.example.com",
    hook_custom_access_token_enabled: true,
    hook_custom_access_token_uri:
      "pg-functions://postgres/logloom_private/custom_access_token_hook",
  });
  const [{ secret, keys, revoked }] = await shop.sql`
    select e.secret, (select count(*)::integer from logloom.api_keys where revoked_at is null) as keys,
      (select count(*)::integer from logloom.api_keys where revoked_at is not null) as revoked
    from logloom_private.notify_endpoint e`;
  assert.deepEqual([keys, revoked], [2, 0]);
  assert.equal(api.secrets.get("LOGLOOM_NOTIFY_SECRET"), secret);
  assert.equal(whole.out.includes(secret), false);

  // Correct secrets stay. A secret that was changed is set again.
  const sealing = api.secrets.get("LOGLOOM_SECRETS_KEY");
  api.secrets.set("LOGLOOM_NOTIFY_SECRET", "another");
  const upgraded = await runCommand(["upgrade", ...target, "--yes", "--json"], env);
  assert.equal(upgraded.code, 0, upgraded.err);
  const { steps } = JSON.parse(upgraded.out);
  assert.deepEqual(
    steps.map(({ step, state }: Record<string, string>) => `${step} ${state}`),
    ["database", "files", "migrations", "secrets", "functions", "hook", "doctor"].map((step) =>
      `${step} done`
    ),
  );
  assert.deepEqual([
    api.secrets.get("LOGLOOM_NOTIFY_SECRET"),
    api.secrets.get("LOGLOOM_SECRETS_KEY"),
  ], [secret, sealing]);

  // The project's own hook stays, whether it is on or off.
  for (const isOn of [true, false]) {
    const foreign = {
      ...before.auth,
      hook_custom_access_token_enabled: isOn,
      hook_custom_access_token_uri: "pg-functions://postgres/app/token_hook",
    };
    Object.assign(api.auth, foreign);
    const { out } = await runCommand(["upgrade", ...target, "--dry-run"], env);
    assert.equal(stepOf(out, "hook")[0], "LEFT");
    assert.deepEqual(api.auth, foreign);
  }
  Object.assign(api.auth, {
    hook_custom_access_token_uri:
      "pg-functions://postgres/logloom_private/custom_access_token_hook",
    hook_custom_access_token_enabled: true,
  });
  const removed = await runCommand(
    ["uninstall", ...target.slice(0, 2), "--yes-delete-all-logs"],
    env,
  );
  assert.equal(removed.code, 0, removed.err);
  assert.equal(await shop.dump(), before.dump);
  assert.deepEqual(await rows(shop), before.rows);
  assert.equal(api.auth.hook_custom_access_token_enabled, false);
  assert.deepEqual([[...api.deployed], [...api.secrets]], [[], []]);
  assert.deepEqual(await texts(shop.folder), files);
});

/** Returns the files of a folder, except the Supabase CLI's own. */
async function texts(folder: string): Promise<Record<string, string>> {
  const paths = (await filesBelow(folder)).filter((path) => !path.includes("/.temp/"));
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [path, await Deno.readTextFile(path)])),
  );
}

Deno.test("starter kits and libraries, and functions with operations' former names, work beside Logloom", async () => {
  await using club = await openShop(
    ["20290101000000_club.sql", "20290102235959_club_workers.sql"],
    { project: "club", schemas: "public,rbac" },
  );
  const { sql } = club;
  await club.push();
  // On hosted projects postgres may create event triggers. One revokes rights on each new table, the other keeps a log.
  await sql.unsafe(`
    create table flow.ddl_log (tag text, object text);
    create function flow.close_table() returns event_trigger language plpgsql as $$
      declare v_table record;
      begin
        for v_table in
          select * from pg_event_trigger_ddl_commands() where schema_name = 'public'
        loop
          execute format('alter table %s enable row level security', v_table.object_identity);
        end loop;
      end $$;
    create event trigger close_table on ddl_command_end when tag in ('CREATE TABLE')
    execute function flow.close_table();
    create function flow.note_drop() returns event_trigger
    language plpgsql security definer as $$
      begin
        insert into flow.ddl_log
        select tg_tag, d.object_identity from pg_event_trigger_dropped_objects() d where d.original;
      end $$;
    create event trigger note_drop on sql_drop execute function flow.note_drop()`);
  const functions = `${club.folder}/supabase/functions`;
  await Deno.mkdir(`${functions}/health`, { recursive: true });
  await Deno.writeTextFile(`${functions}/health/index.ts`, "// the club's\n");
  await club.serve();
  const asked = async () => await answers(club, ofClub);
  // Runs the clients' requests once before, because they change the project.
  await asked();
  const before = { answers: await asked(), rows: await rows(club), dump: await club.dump() };
  const text = before.answers.join("\n");
  for (const said of ["club: ada", "club: owner", '{\\"name\\":\\"chess\\"}', '"[{\\"user_id']) {
    assert.ok(text.includes(said), `${said} in ${text}`);
  }

  await using machine = await person();
  const refused = await runCommand(["init", club.folder, "--yes"], machine.env);
  assert.match(
    refused.err,
    /functions\/health\n {2}\[functions\.health\] in config\.toml\n.*--health-as NAME/,
  );
  await initLocally(club, machine.env, "--health-as", "logs-health", "--collect", "jobs");
  const added = (await migrations(`${club.folder}/supabase/migrations`))[2];
  assert.equal(added, "20290103000000_logloom_foundations.sql");
  await eventually("PostgREST has read its settings", async () => {
    const [status, said] = await operation(club, "search_logs", null);
    return status === 400 && said.includes("Missing authorization header");
  });
  assert.deepEqual(await asked(), before.answers);
  assert.deepEqual(await rows(club, false), { ...before.rows, ...await changed(club) });
  await assertOperations(club);
  const token = tenantToken();
  assert.equal((await operation(club, "search_logs", token))[0], 200);
  assert.equal((await operation(club, "create_api_key", token, { p_name: "a" }))[0], 200);
  assert.equal((await operation(club, "list_tenant_members", token))[0], 200);
  assert.equal((await operation(club, "get_tenant_usage", token))[0], 200);
  const runs = async () => Number((await sql`select runs from flow.worker_runs`)[0].runs);
  const ran = await runs();
  await eventually("its workers run", async () => await runs() > ran);

  const said: string[] = [];
  assert.equal(await uninstall(club.stack.databaseUrl, ours, (line) => said.push(line)), true);
  assert.deepEqual(said.filter((line) => line.includes("stays")), []);
  assert.equal(await club.dump(), before.dump);
  assert.deepEqual(await rows(club), before.rows);
  await eventually(
    "PostgREST has read its settings",
    async () => (await operation(club, "search_logs", token))[0] !== 200,
  );
  assert.deepEqual(await asked(), before.answers);
  const left = await runs();
  await eventually("its workers run", async () => await runs() > left);
});

/** Returns what an installation changes: PostgREST's pre-request function, and the list of migrations. */
async function changed(shop: Shop): Promise<Record<string, unknown>> {
  const { roles, history } = await rows(shop, false);
  return { roles, history };
}

/** An empty project without extensions, in which Logloom is installed. */
async function openEmpty(): Promise<Shop & { before: { rows: unknown; dump: string } }> {
  const shop = await openShop([]);
  await shop.sql.unsafe(`
    drop extension pg_cron; drop extension pg_partman; drop schema partman;
    drop extension http; drop extension pgcrypto;
    create schema supabase_migrations;
    create table supabase_migrations.schema_migrations (
      version text not null primary key, statements text[], name text
    )`);
  // On hosted projects postgres may create these extensions without being a superuser.
  await shop.sql.unsafe("alter role postgres superuser");
  await shop.push();
  const before = { rows: await rows(shop), dump: await shop.dump() };
  await installInto(shop.folder, ours);
  await shop.push();
  assert.equal((await shop.sql`select from logloom.plans`).length > 0, true);
  return { ...shop, before };
}

/** Uninstalls Logloom and returns what is left of it. */
async function uninstalled(shop: Shop): Promise<string[]> {
  const said: string[] = [];
  assert.equal(await uninstall(shop.stack.databaseUrl, ours, (line) => said.push(line)), true);
  return said.filter((line) => line.includes("stays"));
}

Deno.test("uninstalling removes the extensions that Logloom created", async () => {
  await using shop = await openEmpty();
  // One function of the image calls pg_net's net.http_get. Logloom must not take it for the extension http.
  assert.equal(
    (await shop.sql`select from pg_proc where prosrc like '% net.http\_get(%'`).length,
    1,
  );
  // PostgreSQL's function has priority over pgcrypto's.
  await shop.sql.unsafe(`
    create function public.new_id() returns uuid language plpgsql as
      'begin return gen_random_uuid(); end'`);
  assert.deepEqual(await uninstalled(shop), []);
  await shop.sql.unsafe("drop function public.new_id()");
  assert.equal(await shop.dump(), shop.before.dump);
  assert.deepEqual(await rows(shop), shop.before.rows);
});

/** Runs `npm run uninstall` like a user. */
async function uninstallCommand(shop: Shop, ...options: string[]): Promise<[number, string]> {
  const { code, stdout, stderr } = await new Deno.Command("npm", {
    args: ["run", "-s", "uninstall", "--", shop.stack.databaseUrl, ...options],
    cwd: checkout,
    env: { NO_COLOR: "1" },
  }).output();
  return [code, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr)];
}

type Made = (name: string, parameters: unknown) => Promise<Record<string, string>>;

/** Creates a view with a viewer, a key and a portal session. Each reads something. */
async function makeReaders({ sql, api }: Shop, made: Made): Promise<void> {
  const { view_id } = await made("create_log_view", {
    p_name: "errors",
    p_query_dsl: "level:error",
    p_hidden_fields: ["user_id"],
  });
  await made("add_tenant_member", {
    p_user_id: crypto.randomUUID(),
    p_role: "viewer",
    p_view_id: view_id,
  });
  const { key_value } = await made("create_api_key", {
    p_name: "dashboard",
    p_scopes: ["read"],
    p_view_id: view_id,
  });
  const { token } = await made("create_log_portal_session", { p_view_id: view_id });
  for (const secret of [key_value, token]) {
    // Calls read_logs like the function logloom-read, which the shop does not serve.
    const answer = await fetch(`${api}/rpc/read_logs`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${serviceRoleKey}` },
      body: JSON.stringify({ p_key_digest: sha256Hex(secret), p_operation: "search_logs" }),
    });
    assert.equal(answer.status, 200, await answer.text());
  }
  const readers = await sql`
    select (select count(*)::integer from logloom.log_views) as views,
      (select count(*)::integer from logloom.tenant_members where role = 'viewer') as viewers,
      (select count(*)::integer from logloom_private.key_reads) as key_reads,
      (select count(*)::integer from logloom.portal_sessions) as sessions,
      (select count(*)::integer from logloom_private.portal_reads) as session_reads`;
  assert.deepEqual([...readers], [
    { views: 1, viewers: 1, key_reads: 1, sessions: 1, session_reads: 1 },
  ]);
}

Deno.test("uninstalling removes log streams, channels, silences, readers of views and the list of archive files", async () => {
  await using shop = await openEmpty();
  const { sql } = shop;
  await shop.serve();
  const token = tenantToken();
  const made: Made = async (name, parameters) => {
    const [status, text] = await operation(shop, name, token, parameters);
    assert.equal(status, 200, `${name}: ${text}`);
    return JSON.parse(text);
  };
  const sealed = (letter: string) => `lls1.abcdefgh.${letter.repeat(40)}`;
  await eventually(
    "PostgREST has read its settings",
    async () => (await operation(shop, "search_logs", token))[0] === 200,
  );
  await made("create_log_stream", {
    p_name: "errors",
    p_kind: "webhook",
    p_config: { url: "https://logs.example.com" },
    p_query_dsl: "level:error",
    p_secrets: { "header.authorization": sealed("a") },
  });
  await made("create_alert_rule", {
    p_name: "errors",
    p_query_dsl: "level:error",
    p_threshold: 1,
    p_comparison: "gte",
    p_window_minutes: 5,
    p_cooldown_minutes: 5,
    p_enabled: true,
    p_notification_destinations: ["slack", "pagerduty"],
    p_secrets: { slack_url: sealed("b"), pagerduty_key: sealed("c") },
  });
  await made("create_alert_silence", {
    p_matcher: {},
    p_from: new Date().toISOString(),
    p_to: new Date(Date.now() + 3_600_000).toISOString(),
    p_comment: "while it goes",
  });
  await makeReaders(shop, made);
  await sql.unsafe(`
    update logloom_private.settings set archive_bucket = 'years', archive_prefix = 'shop'
    where singleton;
    insert into logloom.archive_parts (
      tenant_id, first_day, last_day, write_seq, object_key, status, first_ts, last_ts, records,
      bytes, sha256, verified_at
    )
    select
      'acme', d, d, 1, format('shop/v1/tenant=acme/%s.parquet', d), 'verified', d, d, 5, 900, 'x',
      now()
    from unnest('{2026-01-01,2026-01-02}'::date[]) d;
    insert into logloom_private.archived_days (tenant_id, day, write_seq)
    values ('acme', '2026-01-01', 1), ('acme', '2026-01-02', 1)`);
  const kept = await sql`
    select (select count(*)::integer from logloom.log_streams) as streams,
      (select count(*)::integer from logloom.alert_rules where notification_secrets <> '{}') as rules,
      (select count(*)::integer from logloom.alert_silences) as silences,
      (select count(*)::integer from logloom.archive_parts) as files`;
  assert.deepEqual([...kept], [{ streams: 1, rules: 1, silences: 1, files: 2 }]);

  const yes = "--yes-delete-all-logs";
  const [refusedCode, refused] = await uninstallCommand(shop, yes);
  assert.equal(refusedCode, 1);
  assert.match(
    refused,
    /Logloom is not removed: its archive has 2 files\nnpm run uninstall deletes them with --delete-archive, or leaves them where they are with --keep-archive/,
  );
  const [bothCode, both] = await uninstallCommand(shop, yes, "--keep-archive", "--delete-archive");
  assert.equal(bothCode, 1);
  assert.match(both, /Say --keep-archive or --delete-archive, not both\./);
  assert.equal((await operation(shop, "list_log_streams", token))[0], 200, "nothing was done yet");

  const [code, said] = await uninstallCommand(shop, yes, "--keep-archive");
  assert.equal(code, 0, said);
  assert.match(said, /^ {2}2 files of the archive stay in years\/shop\/v1\/$/m);
  assert.match(said, /Logloom is removed from the database\./);
  assert.doesNotMatch(said, /The (extension|schema) \w+ stays/);
  assert.equal(await shop.dump(), shop.before.dump);
  assert.deepEqual(await rows(shop), shop.before.rows);
  const [gone, text] = await uninstallCommand(shop, yes, "--keep-archive");
  assert.equal(gone, 0);
  assert.match(text, /Logloom is not in this database\./);
});

Deno.test("uninstalling leaves the extensions that the project uses by now", async () => {
  await using shop = await openEmpty();
  await shop.sql.unsafe(`
    create function public.ask() returns integer language plpgsql as
      'begin return (select status from EXTENSIONS . "http_get"(''http://127.0.0.1'')); end';
    select cron.schedule('digests', '0 0 1 1 *', 'select digest(''a'', ''sha256'')')`);
  assert.deepEqual(await uninstalled(shop), [
    "  The extension http stays: the project uses it.",
    "  The extension pg_cron stays: the project uses it.",
    "  The extension pgcrypto stays: the project uses it.",
  ]);
});

Deno.test("in a project with many objects of its own", async (t) => {
  await using shop = await openShop(shopMigrations);
  const { sql, stack } = shop;
  await shop.push();
  await sql.unsafe(`
    -- Without quotes in names, messages are easier to compare.
    alter database postgres reset quote_all_identifiers;
    -- Here days begin later than in UTC; in the other project they begin earlier.
    alter database postgres set timezone = 'America/New_York'`);
  await installInto(shop.folder, ours);

  await t.step("installing names the objects that are in its way, and stops", async () => {
    // Created directly in the database, without one of the project's migrations.
    await sql.unsafe(
      "create function public.search_logs(a integer) returns integer language sql as 'select 1'",
    );
    await assert.rejects(
      shop.push(),
      /public has functions of its names: public\.search_logs\(integer\)/,
    );
    await sql.unsafe("drop function public.search_logs(integer); create schema logloom");
    await assert.rejects(shop.push(), /these are there already: schema logloom/);
    await sql.unsafe("drop schema logloom; alter extension pgcrypto set schema public");
    await assert.rejects(shop.push(), /extensions are in other schemas: pgcrypto in public/);
    await sql.unsafe("alter extension pgcrypto set schema extensions");

    // pg_cron would replace a job with the same name and owner, and would add a second one if the owner is different.
    for (const owner of ["postgres", "app_owner"]) {
      await sql.unsafe(`
        create role app_owner login;
        select cron.schedule('logloom_write_logs', '0 0 1 1 *', 'select 1');
        update cron.job set username = '${owner}' where jobname = 'logloom_write_logs'`);
      const jobs = await sql`select * from cron.job order by jobid`;
      await assert.rejects(shop.push(), /these are there already: job logloom_write_logs\b/);
      assert.deepEqual(await sql`select * from cron.job order by jobid`, jobs);
      await sql.unsafe(`
        delete from cron.job where jobname = 'logloom_write_logs'; drop role app_owner`);
    }
    // A job that an earlier installation left is Logloom's.
    await sql.unsafe(`
      select cron.schedule('logloom_old', '0 0 1 1 *', 'call logloom_private.write_logs()');
      update cron.job set username = 'postgres' where jobname = 'logloom_old'`);

    for (
      const [extension, schema, taken] of [
        ["pg_partman", "partman", "all on schema partman"],
        ["pg_partman", "partman", "create on schema partman"],
        ["pg_partman", "partman", "update on partman.part_config"],
        ["pg_partman", "partman", "execute on routine partman.create_parent"],
        ["pg_cron", "cron", "execute on function cron.unschedule(bigint)"],
      ]
    ) {
      await sql.unsafe(`revoke ${taken} from postgres, public`);
      const message = await refusedPush(shop);
      const sentence = `ERROR: Logloom cannot be installed: ${extension} belongs to ` +
        `supabase_admin, who has to grant postgres all on the schema ${schema}, its tables and ` +
        "its routines (SQLSTATE 42501)";
      assert.ok(message.includes(sentence), `${taken}: ${message}`);
      await sql.unsafe(`
        grant all on schema ${schema} to postgres;
        grant all on all tables in schema ${schema} to postgres;
        grant execute on all routines in schema ${schema} to postgres`);
    }
    assert.equal((await sql`select from pg_namespace where nspname like 'logloom%'`).length, 0);
    await shop.push();
    await sql`delete from cron.job where jobname = 'logloom_old'`;
  });

  await t.step("uninstalling stops while objects of the project use Logloom", async () => {
    await sql.unsafe(`
    create function app.hook(event jsonb) returns jsonb language sql as
      'select logloom_private.custom_access_token_hook(event)';
    create view app.plans as select * from logloom.plans;
    create table app.levels (level public.logloom_alert_comparison);
    create function app.log_order() returns trigger language plpgsql as
      'begin perform public.ingest_text(''{"p_tenant_id": "acme"}''); return new; end';
    create function app.count_tenants() returns bigint language sql as
      'select count(*) from "logloom"."tenants"';
    create function app.members_of() returns void language plpgsql as
      'begin perform list_tenant_members(); end';
    create function app.greet() returns trigger language plpgsql as 'begin return new; end';
    create trigger greet after insert on logloom.tenants
      for each row execute function app.greet();
    set role postgres;
    select cron.schedule('nightly report', '0 0 1 1 *', 'select public.get_tenant_usage()');
    reset role`);
    // None of these objects belongs to Logloom.
    await sql.unsafe(`
    create function app.shop_logs() returns void language plpgsql as
      'begin perform ingest_text(); perform app.search_logs(); perform "app"."search_logs"(); end';
    create function app.address() returns text language sql as
      'select ''https://logloom.example.com/'' || ''my_list_members()''';
    create table public.logloom_notes (note text);
    create function app.notes() returns setof public.logloom_notes language sql as
      'select * from public.logloom_notes'`);
    await assert.rejects(uninstall(stack.databaseUrl, ours, () => {}), {
      name: "Failure",
      message: `Logloom is not removed, because these objects of the project use it:
  function app.count_tenants()
  function app.hook(jsonb)
  function app.log_order()
  function app.members_of()
  table column app.levels.level
  the job "nightly report" of pg_cron
  trigger greet on logloom.tenants
  view app.plans
Change or remove them, then run this again.`,
    });
    const stranger = databaseUrl("supabase_auth_admin", stack.ports.postgres, "postgres");
    await assert.rejects(uninstall(stranger, ours, () => {}), {
      name: "Failure",
      message: "Logloom is not removed: it is owned by postgres, not by supabase_auth_admin\n" +
        "Connect as postgres, then run this again.",
    });
    assert.equal((await sql`select from logloom.plans`).length > 0, true);
    await sql.unsafe(`
    drop function app.hook(jsonb), app.log_order(), app.count_tenants(), app.members_of();
    drop view app.plans;
    drop table app.levels;
    drop function app.greet() cascade;
    set role postgres;
    select cron.unschedule('nightly report');
    reset role`);
  });

  await t.step(
    "if the project replaces the request check, operations stay safe, and health says so",
    async () => {
      const report = async () =>
        (await sql`select logloom_private.pre_request_health() ->> 'status' as status`)[0].status;
      assert.equal(await report(), "healthy");
      await sql.unsafe("alter role authenticator set pgrst.db_pre_request = 'app.check_request'");
      assert.equal(await report(), "degraded");
      await shop.serve();
      assert.equal((await operation(shop, "list_api_keys", null))[0], 401);
      const noTenant = signToken({
        exp: Math.floor(Date.now() / 1000) + 60,
        role: "authenticated",
        sub: "x",
      });
      for (const name of ["list_api_keys", "search_logs", "get_tenant_usage", "list_alert_rules"]) {
        assert.equal((await operation(shop, name, noTenant))[0], 401, name);
      }

      await sql`select logloom_private.adopt_pre_request()`;
      assert.equal(await report(), "healthy");
      await eventually(
        "PostgREST has read its settings",
        async () => (await operation(shop, "list_api_keys", null))[0] === 400,
      );
      await sql.unsafe(`
    create or replace function app.check_request() returns void language plpgsql as
      'begin perform logloom_private.check_request(); end';
    alter role authenticator in database postgres set pgrst.db_pre_request = 'app.other'`);
      assert.equal(await report(), "degraded");
      await sql.unsafe(
        "alter role authenticator in database postgres set pgrst.db_pre_request = 'app.check_request'",
      );
      assert.equal(await report(), "healthy", "a function of the project that calls ours");
    },
  );

  await t.step("the project's token hook can call Logloom's", async () => {
    const page = await Deno.readTextFile(
      new URL("../../docs/background/identity.md", import.meta.url),
    );
    const example = /```sql\n(create or replace function [\s\S]*?)```/.exec(page)?.[1];
    assert.ok(example, "docs/background/identity.md has an example");
    await sql.unsafe(example.replaceAll("public.my_token_hook", "app.token_hook"));
    await sql.unsafe(`
    insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
    insert into logloom.tenant_members (tenant_id, user_id, role)
    values ('acme', '11111111-1111-4111-8111-111111111111', 'owner')`);
    const auth = databaseUrl("supabase_auth_admin", stack.ports.postgres, "postgres");
    const asAuth = postgres(auth, { max: 1 });
    await using _end = { [Symbol.asyncDispose]: () => asAuth.end() };
    const [{ answer }] = await asAuth`
    select app.token_hook(${
      asAuth.json({
        user_id: "11111111-1111-4111-8111-111111111111",
        claims: { sub: "11111111-1111-4111-8111-111111111111", role: "authenticated" },
      })
    }) as answer`;
    assert.equal(answer.claims.tenant_id, "acme");
    assert.equal(answer.claims.shop, "north");
    assert.equal(answer.claims.role, "authenticated");
  });

  await t.step(
    "after uninstalling the project's own logloom_ objects stay, and Logloom can be installed again",
    async () => {
      await sql.unsafe(`
    drop function app.token_hook(jsonb);
    create or replace function app.check_request() returns void language plpgsql as 'begin end'`);
      // The setting now names Logloom's function, for the role and for the database.
      await sql`select logloom_private.adopt_pre_request()`;
      const folder = `${shop.folder}/supabase/migrations`;
      await Deno.writeTextFile(`${folder}/20290301000000_logloom_notes.sql`, "select 1;\n");
      await shop.push();

      const said: string[] = [];
      assert.equal(await uninstall(stack.databaseUrl, ours, (line) => said.push(line)), true);
      assert.equal(said.some((line) => line.includes("stays")), false, said.join("\n"));
      assert.equal((await sql`select from app.notes()`).length, 0);
      const history = await sql`
      select name from supabase_migrations.schema_migrations order by version`;
      assert.deepEqual(history.map(({ name }) => name), ["shop", "shop_jobs", "logloom_notes"]);
      const settings = await sql`
      select c.entry
      from pg_db_role_setting s
      cross join unnest(s.setconfig) c (entry)
      where c.entry like 'pgrst.db\\_pre\\_request=%'`;
      assert.deepEqual(settings.map(({ entry }) => entry), [
        "pgrst.db_pre_request=app.check_request",
        "pgrst.db_pre_request=app.check_request",
      ]);

      for (const name of await migrations(folder)) {
        if (/_logloom(_|\.)/.test(name) && !name.endsWith("_logloom_notes.sql")) {
          await Deno.remove(`${folder}/${name}`);
        }
      }
      await sql.unsafe("drop function app.notes(); drop table public.logloom_notes");
      await using machine = await person();
      await initLocally(shop, machine.env);
      assert.ok((await migrations(folder)).includes("20290301000001_logloom_foundations.sql"));
      assert.equal((await sql`select from logloom.plans`).length > 0, true);
    },
  );
});
