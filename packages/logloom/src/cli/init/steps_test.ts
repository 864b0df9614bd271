import assert from "node:assert/strict";
import { tempFolder } from "../../../../../tests/support/temp_folder.ts";
import type { Cli } from "../command_line.ts";
import { databaseStep, migrationsStep, tenantStep } from "./database_steps.ts";
import { hookStep } from "./folder_steps.ts";
import { lookAt, runSteps, type Step } from "./steps.ts";
import type { Setup } from "./setup.ts";
import { findSupabaseCli } from "./supabase_cli.ts";

const cli = { signal: new AbortController().signal, call: (name: string) => name } as Cli;

/** A setup with a fake database. A statement gets the rows of the word that it contains. */
function setupOf(rows: Record<string, unknown[]>, more: Partial<Setup> = {}): Setup {
  const query = (sql: string) => {
    const [, found] = Object.entries(rows).find(([word]) => sql.includes(word)) ?? [];
    return Promise.resolve(found ?? [{ is_there: true }]);
  };
  return { cli, project: { name: "shop", query }, ...more } as unknown as Setup;
}

const extensions = { pg_cron: "1.6", pg_partman: "5.2.4", http: "1.6", pgcrypto: "1.3" };
const database = { server: "17.6", extensions, missing_roles: null, launches: "on" };

async function said(step: Step): Promise<string> {
  try {
    const [{ state, message, mend }] = await lookAt(cli, [step]);
    return [state, message, mend].filter((part) => part !== undefined).join(" | ");
  } catch (error) {
    return (error as Error).message;
  }
}

Deno.test("init checks what the database has before it changes anything", async () => {
  const says = (found: object) => said(databaseStep(setupOf({ server_version: [found] })));
  assert.equal(
    await says(database),
    "done | PostgreSQL 17.6, http 1.6, pg_cron 1.6, pg_partman 5.2.4, pgcrypto 1.3",
  );
  assert.match(
    await says({ ...database, extensions: { ...extensions, pg_partman: "4.7", http: undefined } }),
    /^database: it lacks pg_partman 5, http 1: upgrade the project's Postgres/,
  );
  assert.equal(
    await says({ ...database, missing_roles: "authenticator" }),
    "database: it has no role authenticator.",
  );
  assert.match(
    await says({ ...database, launches: "off" }),
    /^left \| cron\.launch_active_jobs is off/,
  );
});

Deno.test("the plan names the project's own migrations that the push applies too", async () => {
  const setup = setupOf({ "select version, name": [{ version: "1", name: "orders" }] }, {
    prepare: () => Promise.resolve({ migrations: ["3_logloom_roles.sql"] }),
    migrations: () =>
      Promise.resolve(
        ["orders", "prices"].map((name, n) => ({ version: `${n + 1}`, name, text: "" })),
      ),
  } as unknown as Partial<Setup>);
  assert.equal(
    await said(migrationsStep(setup)),
    "todo | applies 1 of Logloom's, and yours that are pending: 2_prices",
  );
});

Deno.test("the tenant gets the project's name, and the only user as its owner", async () => {
  const [ann, bob] = ["ann", "bob"].map((name) => ({ id: name, email: `${name}@example.com` }));
  const shop = { tenant: "shop", is_named: true, owner: null };
  const says = (tenants: unknown[], users: unknown[], more: Partial<Setup> = {}) =>
    said(tenantStep(setupOf({ "t.tenant_id as": tenants, "u.email::text": users }, more)));
  assert.equal(
    await says([], [ann]),
    "todo | makes shop on the plan pro, owned by ann@example.com",
  );
  assert.equal(await says([], [ann, bob]), "todo | makes shop on the plan pro, without an owner");
  assert.match(
    await says([shop], [ann, bob]),
    /^left \| shop has no owner: the project has several users \| run this again with --owner EMAIL/,
  );
  assert.match(await says([shop], []), /^left \| shop has no owner: the project has no user/);
  assert.equal(await says([{ ...shop, owner: "bob" }], [ann]), "done | shop, owned by bob");
  assert.equal(
    await says([{ ...shop, is_named: false }, { ...shop, is_named: false }], [ann]),
    "tenant: there are several tenants: say which by --tenant ID.",
  );
  assert.match(
    await says([], [], { tenant: "logloom-shop" }),
    /^tenant: logloom-shop is reserved: ids that begin with logloom- are ours/,
  );
  assert.match(
    await says([], [], { owner: "cy@example.com" }),
    /no user of the project has the address cy@example\.com/,
  );
});

Deno.test("without an access token the hook is left to the user, with how to get a token", async () => {
  const before = { token: Deno.env.get("SUPABASE_ACCESS_TOKEN"), home: Deno.env.get("HOME") };
  const home = await Deno.makeTempDir();
  Deno.env.delete("SUPABASE_ACCESS_TOKEN");
  Deno.env.set("HOME", home);
  try {
    const text = await said(hookStep(setupOf({}, { project: { ref: "x" } } as unknown as Setup)));
    assert.match(
      text,
      /^left \| no access token \| Make one at https:.*auth_config_read, auth_config_write, .*projects_read/,
    );
    assert.match(text, /Or switch it on in the dashboard: Authentication, Hooks/);
  } finally {
    for (const [name, value] of [["SUPABASE_ACCESS_TOKEN", before.token], ["HOME", before.home]]) {
      if (value !== undefined) Deno.env.set(name!, value);
    }
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("on a local stack the hook is done only if config.toml switches Logloom's hook on", async () => {
  await using folder = await tempFolder();
  const supabaseFolder = folder.path;
  const says = async (section: string) => {
    await Deno.writeTextFile(`${supabaseFolder}/config.toml`, section);
    const project = { ref: undefined, supabaseFolder };
    return await said(hookStep(setupOf({}, { project } as unknown as Setup)));
  };
  const section = "[auth.hook.custom_access_token]\n";
  const uri = 'uri = "pg-functions://postgres/logloom_private/custom_access_token_hook"\n';
  assert.equal(await says(""), "done | in config.toml");
  assert.equal(await says(`${section}enabled = true\n${uri}`), "done | in config.toml");
  for (const off of ["", "enabled = true\n", `enabled = false\n${uri}`]) {
    assert.match(
      await says(section + off),
      /^left \| config\.toml has it switched off \| write into .*: enabled = true, uri = "pg-f/,
      off,
    );
  }
  for (const isOn of [true, false]) {
    assert.match(
      await says(`${section}enabled = ${isOn}\nuri = "pg-functions://postgres/app/hook"`),
      /^left \| the project has an access-token hook of its own/,
    );
  }
});

Deno.test("a missing, old or failing Supabase CLI is an error of one sentence", async () => {
  const folder = await Deno.makeTempDir();
  const path = Deno.env.get("PATH") ?? "";
  const program = async (text: string) => {
    await Deno.mkdir(`${folder}/node_modules/.bin`, { recursive: true });
    await Deno.writeTextFile(`${folder}/node_modules/.bin/supabase`, `#!/bin/sh\n${text}\n`, {
      mode: 0o755,
    });
  };
  try {
    Deno.env.set("PATH", folder);
    await assert.rejects(findSupabaseCli(folder, cli.signal), {
      name: "Failure",
      message: /^the Supabase CLI is missing: npm install --save-dev supabase@3/,
    });
    Deno.env.set("PATH", path);
    await program("echo 2.40.7");
    await assert.rejects(findSupabaseCli(folder, cli.signal), {
      name: "Failure",
      message: /^the Supabase CLI 2\.40\.7 is too old, 3\.0\.0 is needed: npm install/,
    });
    await program(`
      [ "$1" = --version ] && { echo 3.1.0; exit; }
      echo "Retry (1/8): no connection" >&2
      echo "WARN: auth.email.enable_signup is deprecated" >&2
      echo 'unexpected status 403: {"message":"Forbidden action"}' >&2
      exit 1`);
    await assert.rejects((await findSupabaseCli(folder, cli.signal)).run(["db", "query"]), {
      name: "Failure",
      message:
        /^supabase db query: unexpected status 403: \{.*\}\. A token with scopes needs all of these: .*database_write, /,
    });
    await program(`
      [ "$1" = --version ] && { echo 3.1.0; exit; }
      echo "Target: project Shop" >&2
      echo "failed to fetch: getaddrinfo ENOTFOUND api.supabase.com" >&2
      exit 1`);
    await assert.rejects((await findSupabaseCli(folder, cli.signal)).run(["secrets", "list"]), {
      name: "Failure",
      message: "supabase secrets list: failed to fetch: getaddrinfo ENOTFOUND api.supabase.com",
    });
  } finally {
    Deno.env.set("PATH", path);
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a failure names its step, and the next run skips the steps that are done", async () => {
  const ran: string[] = [];
  let isBroken = true;
  const step = (name: string): Step => ({
    name,
    look: () => Promise.resolve({ state: ran.includes(name) ? "done" : "todo", message: "m" }),
    run() {
      if (name === "second" && isBroken) return Promise.reject(new Error("no network"));
      ran.push(name);
      return Promise.resolve({ state: "done", message: "m" });
    },
  });
  const steps = ["first", "second", "third"].map(step);
  await assert.rejects(runSteps(cli, steps, () => {}), {
    name: "Failure",
    message: /^second: no network .*\nThen run the same command again: it skips what is done\.$/,
  });
  isBroken = false;
  await runSteps(cli, steps, () => {});
  assert.deepEqual(ran, ["first", "second", "third"]);
});
