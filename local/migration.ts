import { parseArgs } from "node:util";
import { command } from "./command.ts";
import { Failure, run } from "./failure.ts";
import { applySql, bareDatabase, cloneDatabase, difference } from "./migrations/databases.ts";
import { migrations, migrationsFolder, releasedMigrations } from "./migrations/released.ts";
import { allDoors, doorsFile, pageOfDoors } from "./migrations/doors.ts";
import { errorsFile, pageOfErrors, registers } from "./migrations/errors.ts";
import { filesOfFields } from "./migrations/fields.ts";
import { pageWithPicture, pictureFile } from "./migrations/rooms.ts";
import { rowDifferences } from "./migrations/rows.ts";
import {
  assemble,
  firstMigrations,
  lastStatement,
  schemaTexts,
  withoutRevokes,
} from "./migrations/schemas.ts";
import { withScratchPostgres } from "./migrations/scratch.ts";
import { followingVersion, versionAt } from "../packages/logloom/src/cli/guest/versions.ts";
import { checkout } from "./stack.ts";

// npm run migration [-- NAME]: brings supabase/migrations up to date with supabase/schemas.

const usage = "npm run migration -- NAME, for example add_log_archive: small letters, digits and _";

const review =
  `-- Written by npm run migration from the difference between the released migrations and
-- supabase/schemas. It is to be read and corrected by hand:
--   * Rows, jobs of pg_cron and partitioned tables' settings are not in it, nor are grants on
--     parameters and roles' settings.
--   * A renamed column is dropped and made anew here: write alter table … rename instead.
--   * What locks a table that is written to all the time (a new check, a default that is computed,
--     an index) is better done in steps: not valid first, then validate.
--   * What changes logloom.logs begins with: select logloom_private.hold_writers();
--   * Deployed functions of the version before go on calling while this is applied.
--   * Its name belongs into supabase/uninstall.sql, among those that leave the project's history.
`;

await run(async () => {
  const name = nameOption();
  await Deno.writeTextFile(pictureFile, await pageWithPicture());
  await writePages();
  for (const [path, text] of await filesOfFields()) await Deno.writeTextFile(path, text);
  const released = await releasedMigrations();
  if (released.size === 0) {
    for (const name of await migrations()) await Deno.remove(`${migrationsFolder}/${name}`);
    for (const migration of await firstMigrations()) {
      const text = await assemble(migration);
      await Deno.writeTextFile(`${migrationsFolder}/${migration.name}`, text);
      console.log(`supabase/migrations/${migration.name} is up to date.`);
    }
    return;
  }
  if (!name) throw new Failure(`A migration after a release needs a name: ${usage}.`);
  await writeDifference(name);
});

/** Updates the tables of the docs that are made from the schemas. */
async function writePages(): Promise<void> {
  const errors = pageOfErrors(await Deno.readTextFile(errorsFile), await registers());
  await Deno.writeTextFile(errorsFile, errors);
  const doors = pageOfDoors(await Deno.readTextFile(doorsFile), await allDoors());
  await Deno.writeTextFile(doorsFile, doors);
  await command([Deno.execPath(), "fmt", "--quiet", errorsFile, doorsFile], {
    failure: "Formatting the tables of the docs failed",
    cwd: checkout,
  });
}

function nameOption(): string | undefined {
  const { positionals } = parseArgs({ args: Deno.args, allowPositionals: true });
  const [name, ...others] = positionals;
  if (others.length > 0 || (name !== undefined && !/^[a-z][a-z0-9_]*$/.test(name))) {
    throw new Failure(`Usage: ${usage}.`);
  }
  return name;
}

/** Writes the difference between the migrations and the schemas as a new migration. */
async function writeDifference(name: string): Promise<void> {
  await withScratchPostgres(async (stack) => {
    const names = await migrations();
    const texts = (paths: string[]) =>
      Promise.all(paths.map(async (path) => ({ path, text: await Deno.readTextFile(path) })));
    console.log("  Applying the migrations to one database, the schemas to another …");
    const from = await cloneDatabase(stack, bareDatabase, "from_migrations");
    const to = await cloneDatabase(stack, bareDatabase, "from_schemas");
    await applySql(from, await texts(names.map((name) => `${migrationsFolder}/${name}`)));
    await applySql(to, await schemaTexts());
    console.log("  Comparing them (supabase db diff) …");
    const sql = await difference(from, to);
    const rows = await rowDifferences(from, to);
    if (sql === "" && rows.length === 0) {
      console.log("The migrations match supabase/schemas; there is nothing to write.");
      return;
    }
    const file = `${migrationsFolder}/${nextVersion(names)}_logloom_${name}.sql`;
    const remarks = rows.map((row) => `-- To be written by hand: ${row}\n`).join("");
    const text = `${review}${remarks}\n${withoutRevokes(sql)}\n\n${lastStatement}\n`;
    await Deno.writeTextFile(file, text, { createNew: true });
    console.log(`${file.slice(checkout.length + 1)} is to be read and corrected by hand.`);
  });
}

/** Now, but after every existing migration. */
function nextVersion(names: string[]): string {
  const now = versionAt(new Date());
  const last = names.at(-1)?.slice(0, now.length) ?? "";
  const next = now > last ? now : followingVersion(last);
  if (next === null) throw new Failure(`No version comes after ${last}.`);
  return next;
}
