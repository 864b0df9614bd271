import assert from "node:assert/strict";
import { runCommand } from "../../../../../cli/testing.ts";
import { tempFolder } from "../../../../../tests/support/temp_folder.ts";

Deno.test("a new installation gets a storage limit, and an older one without a limit gets none", async () => {
  await using project = await tempFolder();
  const folder = project.path;
  const manifest = `${folder}/supabase/functions/_logloom/manifest.json`;
  const limits = async (...options: string[]) => {
    const { code, out, err } = await runCommand(
      ["init", folder, "--files", "--json", ...options],
      {},
    );
    assert.deepEqual([code, err], [0, ""]);
    return (JSON.parse(out).migrations as string[]).filter((name) => name.includes("storage_limit"))
      .map((name) => name.slice(15));
  };
  await Deno.mkdir(`${folder}/supabase`);
  await Deno.writeTextFile(`${folder}/supabase/config.toml`, 'project_id = "shop"\n');
  assert.deepEqual(await limits("--dry-run"), ["logloom_storage_limit_1.sql"]);
  assert.deepEqual(await limits("--storage-limit", "none"), []);
  const { storageLimit: _, ...older } = JSON.parse(await Deno.readTextFile(manifest));
  await Deno.writeTextFile(manifest, JSON.stringify(older));
  assert.deepEqual(await limits(), []);
  assert.deepEqual(await limits("--storage-limit", "3GB"), ["logloom_storage_limit_1.sql"]);
});

Deno.test("without a database init says how to start one, and changes nothing", async () => {
  await using temp = await tempFolder();
  const folder = temp.path;
  await Deno.mkdir(`${folder}/supabase`);
  const config = 'project_id = "shop"\n[db]\nport = 9\n';
  await Deno.writeTextFile(`${folder}/supabase/config.toml`, config);
  const programs = new URL("../../../../../node_modules/.bin", import.meta.url).pathname;
  const { code, err } = await runCommand(["init", folder, "--local", "--dry-run"], {
    PATH: `${programs}:${Deno.env.get("PATH")}`,
  });
  assert.deepEqual([code, err], [
    1,
    "logloom: database: no database answers at 127.0.0.1:9. Start it (a local stack: supabase " +
    "start), or add --remote for the hosted project.\n",
  ]);
  // The Supabase CLI writes its version into .temp.
  const names = [...Deno.readDirSync(`${folder}/supabase`)].map(({ name }) => name);
  assert.deepEqual(names.filter((name) => name !== ".temp"), ["config.toml"]);
});
