import assert from "node:assert/strict";
import { checkout } from "../stack.ts";
import { editedMigrations, migrations, migrationsFolder } from "./released.ts";
import { firstStatement, lastStatement, schemaFiles, withoutRevokes } from "./schemas.ts";
import { walk } from "../list_files.ts";
import { tempFolder } from "../../tests/support/temp_folder.ts";

Deno.test("config.toml names every file of supabase/schemas", async () => {
  const all = (await walk(["supabase/schemas"])).filter((path) => path.endsWith(".sql"));
  assert.deepEqual((await schemaFiles()).sort(), all.sort());
});

Deno.test("no released migration was edited", async () => {
  assert.deepEqual(await editedMigrations(), []);
});

Deno.test("each migration's name shows that it is Logloom's", async () => {
  const names = await migrations();
  assert.ok(names.length >= 2);
  for (const name of names) assert.match(name, /^\d{14}_logloom(_\w+)?\.sql$/);
});

Deno.test("each migration begins with the search_path and ends with finish_migration", async () => {
  for (const name of await migrations()) {
    const text = await Deno.readTextFile(`${migrationsFolder}/${name}`);
    assert.ok(text.replace(/^(--.*\n)+\n/, "").startsWith(`${firstStatement}\n`), name);
    assert.ok(text.endsWith(`\n${lastStatement}\n`), name);
  }
});

Deno.test("an edited, a removed and a late migration are each reported", async () => {
  await using temp = await tempFolder();
  const folder = temp.path;
  const file = `${folder}/released.sha256`;
  const names = [1, 2, 3].map((n) => `2026010100000${n}_m.sql`);
  for (const name of names) await Deno.writeTextFile(`${folder}/${name}`, "select 1;\n");
  // printf 'select 1;\n' | sha256sum
  const sum = "4a45092ccf992ea92250053a80b931b787924ba61648f420555511b84f10ab6c";
  await Deno.writeTextFile(file, names.map((name) => `${sum}  migrations/${name}\n`).join(""));
  assert.deepEqual(await editedMigrations(folder, file), []);
  await Deno.writeTextFile(`${folder}/${names[0]}`, "select 2;\n");
  await Deno.remove(`${folder}/${names[1]}`);
  await Deno.writeTextFile(`${folder}/20260101000002_late.sql`, "select 1;\n");
  await Deno.writeTextFile(`${folder}/20260101000004_newer.sql`, "select 1;\n");
  assert.deepEqual(await editedMigrations(folder, file), [
    `${names[0]} was edited`,
    `${names[1]} is gone`,
    `20260101000002_late.sql comes before ${names[2]}`,
  ]);
});

Deno.test("the checksums equal those of sha256sum", async () => {
  const text = await Deno.readTextFile(`${checkout}/supabase/released-migrations.sha256`);
  assert.match(text, /^([0-9a-f]{64} {2}migrations\/\d{14}_\w+\.sql\n)*$/);
});

Deno.test("a difference has no revokes on private functions", () => {
  const kept = 'REVOKE ALL ON FUNCTION "public"."log_stats"(text) FROM PUBLIC;';
  assert.equal(
    withoutRevokes(
      `create table a ();\n\nREVOKE ALL ON FUNCTION "logloom_private"."a"(text, integer) FROM PUBLIC;\n\n` +
        `${kept}\n\nREVOKE ALL ON PROCEDURE "logloom_private"."b"() FROM PUBLIC;\n`,
    ),
    `create table a ();\n\n${kept}`,
  );
});
