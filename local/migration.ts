import { parseArgs } from "node:util";
import { command } from "./run_command.ts";
import { Failure, run } from "./exit_on_failure.ts";
import { removeIfThere } from "./files.ts";
import { filesOfOperations } from "./migrations/operation_callers.ts";
import { errorsFile, pageOfErrors, registers } from "./migrations/errors_page.ts";
import { filesOfFields } from "./migrations/record_fields.ts";
import { pageWithPicture, pictureFile } from "./migrations/rooms_picture.ts";
import { withScratchPostgres } from "./migrations/scratch_postgres.ts";
import { unreleasedFile, unreleasedMigration } from "./migrations/unreleased.ts";
import { checkout } from "./stack.ts";

// npm run migration: writes everything that is generated from supabase/schemas, such as the unreleased migration.

await run(async () => {
  parseArgs({ args: Deno.args });
  await Deno.writeTextFile(pictureFile, await pageWithPicture());
  await writePages();
  for (const files of [await filesOfFields(), await filesOfOperations()]) {
    for (const [path, text] of files) await Deno.writeTextFile(path, text);
  }
  const file = await unreleasedFile();
  const name = file.slice(checkout.length + 1);
  console.log("  Comparing the released migrations with supabase/schemas …");
  await withScratchPostgres(async (stack) => {
    const { text, rows } = await unreleasedMigration(stack);
    if (text === null) await removeIfThere(file);
    else await Deno.writeTextFile(file, text);
    if (rows.length > 0) {
      throw new Failure(
        `These rows still differ; write them into supabase/unreleased/after.sql:\n  ${
          rows.join("\n  ")
        }`,
      );
    }
    console.log(
      text === null ? "Nothing has changed since the release." : `${name} is up to date.`,
    );
  });
});

/** Updates the tables in the docs that are generated from the schemas. */
async function writePages(): Promise<void> {
  const errors = pageOfErrors(await Deno.readTextFile(errorsFile), await registers());
  await Deno.writeTextFile(errorsFile, errors);
  await command([Deno.execPath(), "fmt", "--quiet", errorsFile], {
    failure: "Formatting the tables of the docs failed",
    cwd: checkout,
  });
}
