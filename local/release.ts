import { command } from "./run_command.ts";
import { Failure, run } from "./exit_on_failure.ts";
import { removeIfThere } from "./files.ts";
import { release } from "./migrations/released.ts";
import { handWrittenFolder } from "./migrations/unreleased.ts";
import { lockedFolders, otherLicences } from "./release/dependencies.ts";
import { buildPackage, packages } from "./npm_package.ts";
import { checkout } from "./stack.ts";

// npm run release: checks the dependencies, writes lists of them, and freezes the migrations.

const output = `${checkout}/.logloom/release`;

await run(async () => {
  if (Deno.args.length > 0) throw new Failure("npm run release takes no options");
  const folders = await lockedFolders();
  for (const folder of folders) {
    const lock = JSON.parse(await Deno.readTextFile(`${folder}/package-lock.json`));
    const others = otherLicences(lock);
    if (others.length > 0) throw new Failure(`${name(folder)}: look at ${others.join(", ")}`);
  }
  console.log("Licences: all of them are allowed.");
  await Deno.mkdir(output, { recursive: true });
  for (const folder of folders) {
    const list = await command(
      ["npm", "sbom", "--sbom-format=cyclonedx", "--package-lock-only"],
      { cwd: folder, failure: `npm sbom of ${name(folder)} failed` },
    );
    const file = `${output}/${name(folder).replaceAll("/", "-")}.cdx.json`;
    await Deno.writeTextFile(file, list);
    console.log(`${file.slice(checkout.length + 1)} lists the packages of ${name(folder)}.`);
  }
  for (const folder of folders) {
    await command(["npm", "audit", "--audit-level=high"], {
      cwd: folder,
      failure: `npm audit of ${name(folder)} failed, or found something`,
    });
  }
  console.log("Advisories: none of high severity.");
  await buildPackage((step) => console.log(`${step} …`));
  const shown = await command(["npm", "publish", "--dry-run", "--json"], {
    cwd: `${packages}/logloom`,
    failure: "The npm package cannot be published",
  });
  const answer = JSON.parse(shown);
  // npm 11 answers by the package's name.
  const { version, size, entryCount } = answer.logloom ?? answer;
  console.log(`npm would publish logloom ${version}: ${entryCount} files, ${size} bytes.`);
  for (const migration of await release()) {
    console.log(`supabase/migrations/${migration} is released.`);
  }
  // Their content is in the frozen migration.
  await removeIfThere(handWrittenFolder);
});

function name(folder: string): string {
  return folder === checkout ? "logloom" : folder.slice(checkout.length + 1);
}
