import assert from "node:assert/strict";
import { exists } from "../local/files.ts";
import { filesBelow } from "./guest/files.ts";
import { withLogloom } from "./guest/config.ts";
import { functionsMadeIn, migrationsToAdd } from "./guest/migrations.ts";
import { installInto } from "./install_into.ts";

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

async function refusal(path: string): Promise<string> {
  try {
    await installInto(path);
  } catch (error) {
    return (error as Error).message;
  }
  return "installed";
}

Deno.test("names that the project uses are refused, all at once, and nothing is written", async () => {
  await using shop = await project({
    "migrations/1_a.sql": "create or replace function search_logs(a int) returns int as '';",
    "schemas/a/b.sql": 'CREATE FUNCTION "public" . "get_usage"() RETURNS int AS $$$$;',
    "functions/health/index.ts": "",
    "functions/_shared/mine.ts": "",
    "config.toml": 'project_id = "x"\n[functions.notify]\nverify_jwt = true\n',
  });
  const before = await filesBelow(shop.path);
  assert.equal(
    await refusal(shop.path),
    `Nothing was installed. The project has these, and Logloom needs their names:
  the function public.get_usage
  the function public.search_logs
  the folder supabase/functions/health
  [functions.notify] in config.toml`,
  );
  assert.deepEqual(await filesBelow(shop.path), before);
});

Deno.test("every file that a function imports is installed, the project's own stay", async () => {
  await using shop = await project({ "functions/_shared/auth.ts": "// mine\n" });
  await installInto(shop.path);
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

Deno.test("again, it renews what it wrote and removes what is no more; not what was edited", async () => {
  await using shop = await project({});
  await installInto(shop.path);
  const functions = `${shop.path}/supabase/functions`;
  const all = await filesBelow(shop.path);
  const texts = () => Promise.all(all.map((path) => Deno.readTextFile(path)));
  const before = await texts();

  // As an older version might have left it.
  const manifestPath = `${functions}/_logloom/manifest.json`;
  const manifest = JSON.parse(await Deno.readTextFile(manifestPath));
  await Deno.writeTextFile(`${functions}/ingest/old.ts`, "");
  manifest["ingest/old.ts"] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  await Deno.writeTextFile(manifestPath, JSON.stringify(manifest));
  await installInto(shop.path);
  assert.deepEqual(await filesBelow(shop.path), all);
  assert.deepEqual(await texts(), before);

  await Deno.writeTextFile(`${functions}/ingest/index.ts`, "// mine");
  assert.match(
    await refusal(shop.path),
    /were edited[\s\S]*supabase\/functions\/ingest\/index\.ts\n/,
  );
});

Deno.test("versions come after the project's last one, and what is applied does not change", () => {
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
  assert.throws(
    () => versions([{ version: "7", name: "logloom", text: "c" }]),
    /7_logloom\.sql\. A migration that was applied cannot change/,
  );
});

Deno.test("a function that the project made and dropped, or made elsewhere, is not in the way", () => {
  const names = ["get_usage", "search_logs"];
  const made = (sql: string) => functionsMadeIn(sql, names);
  assert.deepEqual(made("create function app.get_usage() returns int"), []);
  assert.deepEqual(made("-- create function get_usage()\n/* create function search_logs() */"), []);
  assert.deepEqual(made("create function get_usage(); drop function if exists get_usage();"), []);
  assert.deepEqual(made("drop function get_usage(); create function get_usage();"), ["get_usage"]);
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
