import assert from "node:assert/strict";
import { runCommand } from "../../../../../cli/testing.ts";

Deno.test("a new installation has a limit on storage, and an older one without keeps none", async () => {
  const folder = await Deno.makeTempDir();
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
  try {
    await Deno.mkdir(`${folder}/supabase`);
    await Deno.writeTextFile(`${folder}/supabase/config.toml`, 'project_id = "shop"\n');
    assert.deepEqual(await limits("--dry-run"), ["logloom_storage_limit_1.sql"]);
    assert.deepEqual(await limits("--storage-limit", "none"), []);
    const { storageLimit: _, ...older } = JSON.parse(await Deno.readTextFile(manifest));
    await Deno.writeTextFile(manifest, JSON.stringify(older));
    assert.deepEqual(await limits(), []);
    assert.deepEqual(await limits("--storage-limit", "3GB"), ["logloom_storage_limit_1.sql"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
