import assert from "node:assert/strict";
import { exists } from "../../../../../local/files.ts";
import { takenSections, withLogloom } from "./config.ts";
import { digest, filesBelow } from "./files.ts";
import { functionsMadeIn, migrationsToAdd } from "./migrations.ts";
import { installInto } from "./installation.ts";
import { functionsOfProject, removeInstallation } from "./removal.ts";
import { checkout } from "../../../../../local/stack.ts";

const ours = `${checkout}/supabase`;

/** A project's folder with these files in its supabase/. */
async function project(files: Record<string, string>): Promise<AsyncDisposable & { path: string }> {
  const path = await Deno.makeTempDir();
  for (const [name, text] of Object.entries({ "config.toml": 'project_id = "x"\n', ...files })) {
    const target = `${path}/supabase/${name}`;
    await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(target, text);
  }
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

async function refusal(path: string, healthAs?: string): Promise<string> {
  try {
    await installInto(path, ours, { healthAs });
  } catch (error) {
    return (error as Error).message;
  }
  return "installed";
}

Deno.test("names that the project uses are refused, all at once, and nothing is written", async () => {
  await using shop = await project({
    "migrations/1_a.sql": "create or replace function search_logs(a int) returns int as '';",
    "schemas/a/b.sql": 'CREATE FUNCTION "public" . "get_tenant_usage"() RETURNS int AS $$$$;',
    "functions/health/index.ts": "",
    "functions/_shared/mine.ts": "",
    "config.toml": 'project_id = "x"\n[functions.logloom-notify]\nverify_jwt = true\n',
  });
  const before = await filesBelow(shop.path);
  assert.equal(
    await refusal(shop.path),
    `Nothing was installed. The project has these, and Logloom needs their names:
  the function public.get_tenant_usage
  the function public.search_logs
  the folder supabase/functions/health
  [functions.logloom-notify] in config.toml
Logloom's function health can have another name in this project: --health-as NAME.`,
  );
  assert.deepEqual(await filesBelow(shop.path), before);
});

/** The names of the functions that the block in config.toml has a section for. */
async function sections(path: string): Promise<string[]> {
  const config = await Deno.readTextFile(`${path}/supabase/config.toml`);
  return [...config.matchAll(/^\[functions\.(.+)\]$/gm)].map(([, name]) => name);
}

async function functionFolders(path: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(`${path}/supabase/functions`)) names.push(name);
  return names.sort();
}

Deno.test("if the project has a function health, Logloom's gets the name that the user chooses", async () => {
  const own = { "functions/health/index.ts": "// mine\n" };
  await using shop = await project(own);
  await using section = await project({
    "config.toml": 'project_id = "x"\n[functions.health]\nverify_jwt = true\n',
  });
  const hint = "Logloom's function health can have another name in this project: --health-as NAME.";
  for (
    const [{ path }, taken] of [
      [shop, "the folder supabase/functions/health"],
      [section, "[functions.health] in config.toml"],
    ] as const
  ) {
    const refused =
      `Nothing was installed. The project has these, and Logloom needs their names:\n  ${taken}\n`;
    assert.equal(await refusal(path), `${refused}${hint}`);
    assert.equal(await refusal(path, "logs-health"), "installed");
  }
  const { functions } = await installInto(shop.path, ours);
  assert.deepEqual(
    functions,
    [
      "ingest",
      "logs-health",
      "logloom-archive",
      "logloom-notify",
      "logloom-read",
      "logloom-stream",
    ],
    "it is remembered",
  );
  assert.deepEqual(await sections(shop.path), functions);
  assert.match(
    await Deno.readTextFile(`${shop.path}/supabase/config.toml`),
    /^\[functions\.logs-health\]\nverify_jwt = false\nimport_map = "\.\/functions\/logs-health\/deno\.json"$/m,
  );
  assert.deepEqual(await functionFolders(shop.path), [
    "_logloom",
    "health",
    "ingest",
    "logloom-archive",
    "logloom-notify",
    "logloom-read",
    "logloom-stream",
    "logs-health",
  ]);
  const folder = `${shop.path}/supabase/functions`;
  assert.deepEqual(await filesBelow(`${folder}/health`), [`${folder}/health/index.ts`]);
  assert.equal(await Deno.readTextFile(`${folder}/health/index.ts`), "// mine\n");
  assert.ok(await exists(`${folder}/logs-health/index.ts`));

  const removed = await functionsOfProject(`${shop.path}/supabase`);
  assert.deepEqual(removed, [...functions, "logloom-platform"]);
  // The function that has to be asked for stays from then on.
  await using other = await project({});
  for (const withPlatform of [true, undefined]) {
    const added = await installInto(other.path, ours, { withPlatform });
    assert.equal(added.functions.at(-1), "logloom-platform");
  }

  // A new name for health removes the folder with the old name.
  const renamed = await installInto(shop.path, ours, { healthAs: "status" });
  assert.deepEqual(renamed.functions, [
    "ingest",
    "status",
    "logloom-archive",
    "logloom-notify",
    "logloom-read",
    "logloom-stream",
  ]);
  assert.deepEqual(renamed.formerFunctions, ["logs-health"]);
  assert.deepEqual(await sections(shop.path), renamed.functions);
  assert.equal(await exists(`${folder}/logs-health`), false);
  assert.deepEqual((await installInto(shop.path, ours)).formerFunctions, []);

  for (const name of ["ingest", "logloom-notify", "_health", "a/b", ""]) {
    assert.match(await refusal(shop.path, name), /^Nothing was installed\. --health-as takes /);
  }
  assert.equal(
    (await refusal(shop.path, "health")).split("\n")[1],
    "  the folder supabase/functions/health",
  );
});

Deno.test("the project's own function ingest stops an installation, whatever name health gets", async () => {
  await using shop = await project({
    "functions/ingest/index.ts": "",
    "functions/health/index.ts": "",
  });
  const needed = "Nothing was installed. The project has these, and Logloom needs their names:";
  const keeps =
    "Logloom's function ingest keeps its name: it is in the addresses that senders know.";
  assert.deepEqual((await refusal(shop.path)).split("\n"), [
    needed,
    "  the folder supabase/functions/ingest",
    "  the folder supabase/functions/health",
    "Logloom's function health can have another name in this project: --health-as NAME.",
    keeps,
  ]);
  assert.deepEqual((await refusal(shop.path, "logs-health")).split("\n"), [
    needed,
    "  the folder supabase/functions/ingest",
    keeps,
  ]);
});

Deno.test("a function with a new name in this version is renamed in the project, with its section", async () => {
  const files = {
    "functions/notify/index.ts": "// notify\n",
    "functions/notify/deno.json": "{}\n",
    "functions/_logloom/auth.ts": "// auth\n",
  };
  const digests = Object.entries(files).map(([path, text]) =>
    [path.replace("functions/", ""), digest(text)] as const
  );
  const block = "# >>> Logloom: install-into writes what stands between these two lines.\n" +
    "[functions.notify]\nverify_jwt = false\n# <<< Logloom\n";
  const old = {
    ...files,
    "functions/_logloom/manifest.json": JSON.stringify({
      health: "health",
      files: Object.fromEntries(digests),
    }),
    "config.toml": `project_id = "x"\n\n${block}`,
  };
  await using shop = await project(old);
  const { functions, formerFunctions } = await installInto(shop.path, ours);
  assert.deepEqual(functions, [
    "ingest",
    "health",
    "logloom-archive",
    "logloom-notify",
    "logloom-read",
    "logloom-stream",
  ]);
  assert.deepEqual(formerFunctions, ["notify"]);
  assert.deepEqual(await functionFolders(shop.path), ["_logloom", ...[...functions].sort()].sort());
  assert.deepEqual(await sections(shop.path), functions);

  // Files that the user added stay, and so do our files that the user edited.
  await using beside = await project({ ...old, "functions/notify/mine.ts": "// mine\n" });
  await installInto(beside.path, ours);
  assert.deepEqual(await filesBelow(`${beside.path}/supabase/functions/notify`), [
    `${beside.path}/supabase/functions/notify/mine.ts`,
  ]);
  await using edited = await project({ ...old, "functions/notify/index.ts": "// mine\n" });
  assert.match(
    await refusal(edited.path),
    /were edited[\s\S]*supabase\/functions\/notify\/index\.ts\n/,
  );
});

Deno.test("every file that a function imports is installed, and the project's own files stay", async () => {
  await using shop = await project({ "functions/_shared/auth.ts": "// mine\n" });
  await installInto(shop.path, ours);
  const folder = `${shop.path}/supabase/functions`;
  assert.equal(await Deno.readTextFile(`${folder}/_shared/auth.ts`), "// mine\n");
  let imports = 0;
  for (const path of await filesBelow(folder)) {
    if (!path.endsWith(".ts")) continue;
    const text = await Deno.readTextFile(path);
    for (const [, specifier] of text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)) {
      const target = new URL(specifier, `file://${path}`).pathname;
      assert.ok(await exists(target), `${path} imports ${specifier}`);
      assert.ok(!target.includes("/_shared/"), `${path} imports ${specifier}`);
      imports += 1;
    }
  }
  assert.ok(imports > 20);
});

Deno.test("a second run renews its files and removes obsolete ones, but refuses to replace edited ones", async () => {
  await using shop = await project({});
  await installInto(shop.path, ours);
  const functions = `${shop.path}/supabase/functions`;
  const all = await filesBelow(shop.path);
  const texts = () => Promise.all(all.map((path) => Deno.readTextFile(path)));
  const before = await texts();

  // A manifest of an older version.
  const manifestPath = `${functions}/_logloom/manifest.json`;
  const manifest = JSON.parse(await Deno.readTextFile(manifestPath));
  await Deno.writeTextFile(`${functions}/ingest/old.ts`, "");
  manifest.files["ingest/old.ts"] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  await Deno.writeTextFile(manifestPath, JSON.stringify(manifest));
  await installInto(shop.path, ours);
  assert.deepEqual(await filesBelow(shop.path), all);
  assert.deepEqual(await texts(), before);

  await Deno.writeTextFile(`${functions}/ingest/index.ts`, "// mine");
  assert.match(
    await refusal(shop.path),
    /were edited[\s\S]*supabase\/functions\/ingest\/index\.ts\n/,
  );
});

Deno.test("a storage limit is its own migration, is remembered, and is changed by a further migration", async () => {
  await using shop = await project({});
  const run = (storageLimit?: string) => installInto(shop.path, ours, { storageLimit });
  const added = async (storageLimit?: string) => {
    const { migrations } = await run(storageLimit);
    return migrations.filter((name) => name.includes("storage_limit")).map((name) =>
      name.slice(15)
    );
  };
  const text = async (number: number) => {
    const files = await filesBelow(`${shop.path}/supabase/migrations`);
    return Deno.readTextFile(files.find((path) => path.endsWith(`storage_limit_${number}.sql`))!);
  };
  assert.deepEqual(await added("none"), []);
  assert.deepEqual(await added("300MB"), ["logloom_storage_limit_1.sql"]);
  assert.match(await text(1), /set max_storage_bytes = 314572800 where singleton;/);
  assert.deepEqual(await added(), []);
  assert.deepEqual(await added("300 mb"), []);
  assert.deepEqual(await added("1.5GB"), ["logloom_storage_limit_2.sql"]);
  assert.match(await text(2), /set max_storage_bytes = 1610612736 where singleton;/);
  assert.deepEqual(await added("NONE"), ["logloom_storage_limit_3.sql"]);
  assert.match(await text(3), /set max_storage_bytes = null where singleton;/);
  for (const limit of ["300", "0MB", "5TB", "all", ""]) {
    await assert.rejects(run(limit), {
      message:
        `Nothing was changed. --storage-limit takes a size such as 300MB or 3GB, or none: ${limit} is neither.`,
    });
  }
});

Deno.test("an interrupted run is completed by the next one", async () => {
  await using shop = await project({});
  await using whole = await project({});
  const time = new Date("2026-12-01T10:00:00Z");
  await installInto(whole.path, ours, { now: time });
  const below = async (path: string) =>
    new Map(
      await Promise.all(
        (await filesBelow(path)).map(async (file) =>
          [file.slice(path.length), await Deno.readTextFile(file)] as const
        ),
      ),
    );
  const all = await below(whole.path);
  // Half of the files are in place, the others have temporary names, and there is no manifest.
  for (const [n, [name, text]] of [...all].entries()) {
    if (name.endsWith("manifest.json") || name.endsWith("config.toml") || n % 3 === 2) continue;
    const path = `${shop.path}${name}${n % 3 === 1 ? ".logloom-new" : ""}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, n % 3 === 1 ? text.slice(0, 10) : text);
  }
  await installInto(shop.path, ours, { now: time });
  const versionless = (files: Map<string, string>) =>
    [...files].map(([name, text]) => [name.replace(/\d{14}_/, ""), text]).sort();
  assert.deepEqual(versionless(await below(shop.path)), versionless(all));
});

Deno.test("removing an installation leaves the project as it was before", async () => {
  await using shop = await project({
    "migrations/1_a.sql": "select 1;\n",
    "functions/mine/index.ts": "// mine\n",
    "functions/.env": "MINE=1\n",
  });
  const all = async () => {
    const paths = await filesBelow(shop.path);
    return new Map(
      await Promise.all(paths.map(async (path) => [path, await Deno.readTextFile(path)] as const)),
    );
  };
  const before = await all();
  await installInto(shop.path, ours, { storageLimit: "300MB", healthAs: "logs-health" });
  const env = `${shop.path}/supabase/functions/.env`;
  await Deno.writeTextFile(env, "MINE=1\nLOGLOOM_NOTIFY_SECRET=a\nLOGLOOM_SECRETS_KEY=b==\n");
  await removeInstallation(`${shop.path}/supabase`, ours, () => {});
  assert.deepEqual(await all(), before);
});

Deno.test("if a file cannot be written, the project stays as it was", async () => {
  await using shop = await project({ "functions/mine/index.ts": "// mine\n" });
  const before = await filesBelow(shop.path);
  const config = `${shop.path}/supabase/config.toml`;
  await Deno.chmod(config, 0o444);
  assert.match(await refusal(shop.path), /Nothing was installed: .*config\.toml is read-only/);
  assert.deepEqual(await filesBelow(shop.path), before);
  await assert.rejects(Deno.stat(`${shop.path}/supabase/migrations`), Deno.errors.NotFound);
  await assert.rejects(Deno.stat(`${shop.path}/supabase/functions/ingest`), Deno.errors.NotFound);
  await Deno.chmod(config, 0o644);
  assert.equal(await refusal(shop.path), "installed");
  assert.equal((await Deno.stat(config)).mode! & 0o777, 0o644);
});

Deno.test("links to existing files are followed, and stay links", async () => {
  await using shop = await project({
    "../elsewhere/sql/b.sql": "create function public.get_tenant_usage() returns int as '';",
    "../elsewhere/config.toml": 'project_id = "x"\n',
  });
  const folder = `${shop.path}/supabase`;
  await Deno.remove(`${folder}/config.toml`);
  await Deno.symlink("../elsewhere/config.toml", `${folder}/config.toml`);
  await Deno.symlink("../elsewhere/sql", `${folder}/schemas`);
  await Deno.symlink("..", `${shop.path}/elsewhere/sql/up`);
  await Deno.symlink("nowhere", `${shop.path}/elsewhere/sql/nowhere.sql`);
  assert.match(await refusal(shop.path), /the function public\.get_tenant_usage$/);
  await Deno.remove(`${folder}/schemas`);
  assert.equal(await refusal(shop.path), "installed");
  assert.equal((await Deno.lstat(`${folder}/config.toml`)).isSymlink, true);
  assert.match(
    await Deno.readTextFile(`${shop.path}/elsewhere/config.toml`),
    /^\[functions\.ingest\]$/m,
  );
});

Deno.test("a project whose git writes CRLF is upgraded all the same", async () => {
  await using shop = await project({ "config.toml": 'project_id = "x"\r\n' });
  await installInto(shop.path, ours);
  const files = await filesBelow(shop.path);
  for (const path of files) {
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replaceAll(/\r?\n/g, "\r\n"));
  }
  assert.deepEqual((await installInto(shop.path, ours)).migrations, []);
  assert.deepEqual(await filesBelow(shop.path), files);
  const config = await Deno.readTextFile(`${shop.path}/supabase/config.toml`);
  assert.doesNotMatch(config, /[^\r]\n/);
  assert.equal(config.match(/\[functions\.ingest\]/g)?.length, 1);
});

Deno.test("migrations of another Logloom stop an installation, and the error says what to do", async () => {
  await using shop = await project({
    "migrations/20261121000100_logloom.sql":
      "create function logloom_private.claims() returns jsonb",
    "migrations/30000101000000_logloom_more.sql":
      'CREATE OR REPLACE FUNCTION "logloom_private".x() RETURNS void',
    // The project's own function, which may have any name.
    "migrations/30000101000001_logloom_hook.sql": "create function public.hook() returns void",
  });
  const before = await filesBelow(shop.path);
  assert.equal(
    await refusal(shop.path),
    "Nothing was installed. The project has migrations of another Logloom: " +
      "20261121000100_logloom.sql, 30000101000000_logloom_more.sql. If it is a newer one, run this " +
      "from that version or a later one. If it is older than 1.0.0, docs/upgrade.md shows how to " +
      "replace it.",
  );
  assert.deepEqual(await filesBelow(shop.path), before);
  for (const name of ["20261121000100_logloom.sql", "30000101000000_logloom_more.sql"]) {
    await Deno.remove(`${shop.path}/supabase/migrations/${name}`);
  }
  assert.equal(await refusal(shop.path), "installed");
});

Deno.test("new versions come after the project's last one, and a changed migration is refused", () => {
  const now = new Date("2026-12-01T10:00:00Z");
  const ours = [
    { version: "1", name: "logloom", text: "a" },
    { version: "2", name: "logloom_schedules", text: "b" },
  ];
  const versions = (theirs: Parameters<typeof migrationsToAdd>[1]) =>
    migrationsToAdd(ours, theirs, now).map(({ version, name }) => `${version}_${name}`);
  assert.deepEqual(versions([]), ["20261201100000_logloom", "20261201100001_logloom_schedules"]);
  assert.deepEqual(versions([{ version: "20270101000000", name: "x", text: "" }]), [
    "20270101000001_logloom",
    "20270101000002_logloom_schedules",
  ]);
  assert.deepEqual(versions([{ version: "0007", name: "logloom", text: "a" }]), [
    "20261201100000_logloom_schedules",
  ]);
  // Versions are compared as text, like db push does: 3_x.sql is applied after 20261201_x.sql.
  assert.deepEqual(versions([{ version: "3", name: "x", text: "" }]), [
    "40000101000000_logloom",
    "40000101000001_logloom_schedules",
  ]);
  assert.deepEqual(versions([{ version: "20261201", name: "x", text: "" }]), [
    "20261202000000_logloom",
    "20261202000001_logloom_schedules",
  ]);
  assert.throws(
    () => versions([{ version: "99999999999999", name: "x", text: "" }]),
    /no version comes after 99999999999999/,
  );
  // Git writes these line endings on Windows.
  assert.deepEqual(
    migrationsToAdd([{ version: "1", name: "logloom", text: "a\nb\n" }], [{
      version: "7",
      name: "logloom",
      text: "a\r\nb\r\n",
    }], now),
    [],
  );
  assert.throws(
    () => versions([{ version: "7", name: "logloom", text: "c" }]),
    /7_logloom\.sql\. An applied migration cannot change/,
  );
});

Deno.test("a function that the project dropped, or has in another schema, stops no installation", () => {
  const names = ["get_tenant_usage", "search_logs"];
  const made = (sql: string) => functionsMadeIn(sql, names);
  assert.deepEqual(made("create function app.get_tenant_usage() returns int"), []);
  assert.deepEqual(
    made("-- create function get_tenant_usage()\n/* create function search_logs() */"),
    [],
  );
  assert.deepEqual(
    made("create function get_tenant_usage(); drop function if exists get_tenant_usage();"),
    [],
  );
  assert.deepEqual(made("drop function get_tenant_usage(); create function get_tenant_usage();"), [
    "get_tenant_usage",
  ]);
  assert.deepEqual(
    made("create function get_tenant_usage(a int); drop function f(int), get_tenant_usage(int);"),
    [],
  );
  for (const moved of ["rename to usage_of_shop", "set schema app"]) {
    for (
      const named of [
        "public.get_tenant_usage(a int)",
        "get_tenant_usage",
        '"public"."get_tenant_usage" (int)',
      ]
    ) {
      assert.deepEqual(
        made(`create function get_tenant_usage(a int); alter function ${named} ${moved};`),
        [],
      );
    }
  }
  assert.deepEqual(
    made("create function get_tenant_usage(); alter function get_tenant_usage() owner to shop;"),
    ["get_tenant_usage"],
  );
  assert.deepEqual(made("create function get_usage_of_day(); create table search_logs ()"), []);
});

Deno.test("the block in config.toml is written once, and leaves the project's settings alone", () => {
  const own =
    '[api]\nport = 1\nschemas = ["app"]\n[auth.hook.custom_access_token]\nenabled = true\n';
  const once = withLogloom(own, ["ingest"]);
  assert.ok(once.text.startsWith(own));
  assert.equal(once.text.match(/custom_access_token\]/g)?.length, 1);
  assert.deepEqual(once.advice.map((line) => line.slice(0, 40)), [
    "The project has an access-token hook of ",
    '[api] schemas does not name "public": th',
  ]);
  assert.equal(withLogloom(once.text, ["ingest"]).text, once.text);
  assert.match(withLogloom("", ["ingest"]).text, /^\[auth\.hook\.custom_access_token\]$/m);
});

Deno.test("settings are understood however config.toml writes them", () => {
  const taken = (config: string) => takenSections(config, ["ingest", "health"]);
  for (
    const config of [
      "[functions.ingest] # mine\nverify_jwt = true",
      "[functions]\ningest = { verify_jwt = true }",
      "[functions]\ningest.verify_jwt = true",
      "functions.ingest.verify_jwt = true",
      'functions = { "ingest" = { verify_jwt = true } }',
    ]
  ) assert.deepEqual(taken(config), ["ingest"], config);
  assert.deepEqual(taken('a = """\n[functions.ingest]\n"""\n# [functions.health]\n'), []);

  const advice = (config: string) =>
    withLogloom(config, ["ingest"]).advice.map((line) => line.slice(0, 45));
  const uri = '"pg-functions://postgres/app/hook"';
  const own = ["The project has an access-token hook of its ow"].map((line) => line.slice(0, 45));
  assert.deepEqual(
    advice(`[auth.hook]\ncustom_access_token = { enabled = true, uri = ${uri} }`),
    own,
  );
  assert.deepEqual(advice(`[auth]\nhook.custom_access_token.uri = ${uri}`), own);
  for (const settings of ["enabled = false", '# enabled = true\n# uri = "x"']) {
    assert.deepEqual(advice(`[auth.hook.custom_access_token]\n${settings}`), [
      "[auth.hook.custom_access_token] is switched o",
    ]);
  }
  // The section that `supabase init` writes.
  const commented = `# [auth.hook.custom_access_token]\n# enabled = true\n# uri = ${uri}\n`;
  assert.deepEqual(advice(commented), []);
  assert.match(
    withLogloom(commented, ["ingest"]).text,
    /^\[auth\.hook\.custom_access_token\]\nenabled = true\n/m,
  );
  assert.deepEqual(advice('api.schemas = ["app"] # not "public"'), [
    '[api] schemas does not name "public": the ope',
  ]);
  assert.deepEqual(advice('[db.migrations]\nschema_paths = [\n  # all\n  "./a.sql",\n]'), [
    "The project declares its schemas (schema_path",
  ]);
  assert.deepEqual(advice("[db.migrations]\nschema_paths = []"), []);
  assert.deepEqual(advice("[inbucket]\nport = 1"), [
    "The Supabase CLI 3 refuses the section [inbuc",
  ]);

  assert.throws(
    () => withLogloom("functions = { other = { verify_jwt = false } }", ["ingest"]),
    /^Failure: Nothing was installed\. .*inline table/,
  );
  assert.throws(
    () => withLogloom("[api\nport = 1", ["ingest"]),
    /^Failure: Nothing was installed\. supabase\/config\.toml cannot be read: /,
  );
});
