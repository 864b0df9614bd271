import { resolve } from "node:path";
import { Failure, run } from "../local/failure.ts";
import { exists } from "../local/files.ts";
import { checkout, functionNames } from "../local/stack.ts";
import { takenSections, withLogloom } from "./guest/config.ts";
import {
  filesBelow,
  filesInTheWay,
  functionFiles,
  manifestOf,
  manifestPath,
  ourShared,
  readManifest,
  replaceFiles,
} from "./guest/files.ts";
import {
  asInstalled,
  functionsMadeIn,
  type Migration,
  migrationOf,
  migrationsToAdd,
  newerMigrations,
  publicFunctions,
} from "./guest/migrations.ts";
import { parseOptions } from "./options.ts";

const help = `Puts Logloom into another Supabase project: npm run install-into -- DIR

DIR is the project's folder, the one with supabase/ in it. Its supabase/ gains

  migrations/   Logloom's, with versions after the project's last one
  functions/    ingest, health and logloom-notify, and what they share in _logloom
  config.toml   a block with the functions' sections and the access-token hook

Run again, from a newer Logloom, it upgrades: migrations are added, functions and the block renewed.
It refuses, and changes nothing, where something of the project has a name that Logloom needs.`;

export interface Installed {
  migrations: string[];
  files: number;
  advice: string[];
}

/** Installs or upgrades. Nothing is written before everything was looked at. */
export async function installInto(project: string, now = new Date()): Promise<Installed> {
  const folder = await supabaseFolder(project);
  const ours = await migrationsIn(`${checkout}/supabase/migrations`);
  const theirs = await migrationsIn(`${folder}/migrations`);
  const manifest = await readManifest(`${folder}/functions`);
  const config = await Deno.readTextFile(`${folder}/config.toml`);

  const newer = newerMigrations(ours, theirs);
  if (newer.length > 0) {
    throw new Failure(
      `Nothing was installed. The project has a newer Logloom than this one, with ${
        newer.map(({ version, name }) => `${version}_${name}.sql`).join(", ")
      }. Take that version or a later one, and run this again.`,
    );
  }
  const isOurs = new Set(ours.map(({ name }) => name));
  const files = await functionFiles(`${checkout}/supabase/functions`, functionNames);
  const theirSql = [
    ...theirs.filter(({ name }) => !isOurs.has(name)).map(({ text }) => text),
    ...await Promise.all(
      (await filesBelow(`${folder}/schemas`)).filter((path) => path.endsWith(".sql"))
        .map((path) => Deno.readTextFile(path)),
    ),
  ].join("\n;\n");
  const { foreign, edited } = await filesInTheWay(
    `${folder}/functions`,
    functionNames,
    manifest,
    files,
  );
  const taken = [
    ...functionsMadeIn(theirSql, publicFunctions(ours)).map((name) =>
      `the function public.${name}`
    ),
    ...[...new Set(foreign.map((path) => path.split("/")[0]))]
      .map((name) => `the folder supabase/functions/${name}`),
    ...takenSections(config, functionNames),
  ];
  if (taken.length > 0) {
    throw new Failure(
      `Nothing was installed. The project has these, and Logloom needs their names:\n  ${
        taken.join("\n  ")
      }`,
    );
  }
  if (edited.length > 0) {
    throw new Failure(
      `Nothing was installed. These files were edited since they were installed, and would be ` +
        `written over:\n  ${edited.map((path) => `supabase/functions/${path}`).join("\n  ")}\n` +
        "Put your changes elsewhere and remove the files, then run this again.",
    );
  }
  const added = migrationsToAdd(ours, theirs, now);
  const { text, advice } = withLogloom(config, functionNames);

  await replaceFiles(
    new Map([
      ...added.map(({ version, name, text }) =>
        [`${folder}/migrations/${version}_${name}.sql`, asInstalled(text)] as const
      ),
      ...[...files].map(([path, text]) => [`${folder}/functions/${path}`, text] as const),
      [`${folder}/functions/${manifestPath}`, manifestOf(files)],
      [`${folder}/config.toml`, text],
    ]),
    Object.keys(manifest).filter((path) => !files.has(path))
      .map((path) => `${folder}/functions/${path}`),
  );
  return {
    migrations: added.map(({ version, name }) => `${version}_${name}.sql`),
    files: files.size,
    advice,
  };
}

async function supabaseFolder(project: string): Promise<string> {
  for (const folder of [`${project}/supabase`, project]) {
    if (await exists(`${folder}/config.toml`)) {
      if (resolve(folder) === resolve(`${checkout}/supabase`)) {
        throw new Failure("That is Logloom itself; name the project that it is to go into.");
      }
      return folder;
    }
  }
  throw new Failure(
    `There is no supabase/config.toml in ${project}; supabase init makes one.`,
  );
}

async function migrationsIn(folder: string): Promise<Migration[]> {
  const found: Migration[] = [];
  for (const path of (await filesBelow(folder)).filter((path) => path.endsWith(".sql"))) {
    const migration = migrationOf(path.slice(folder.length + 1), await Deno.readTextFile(path));
    if (migration) found.push(migration);
  }
  return found;
}

if (import.meta.main) {
  await run(async () => {
    const { values, positionals: [project, ...others] } = parseOptions({
      args: Deno.args,
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h" } },
    });
    if (values.help) return console.log(help);
    if (project === undefined || others.length > 0) {
      throw new Failure("Say where to: npm run install-into -- DIR; --help says more.");
    }
    const { migrations, files, advice } = await installInto(project);
    for (const name of migrations) console.log(`  + supabase/migrations/${name}`);
    console.log(
      `  ${files} files in supabase/functions (${functionNames.join(", ")}, ${ourShared})`,
    );
    console.log("  a block in supabase/config.toml");
    for (const line of advice) console.log(`\n  Note: ${line}`);
    console.log(`
Next, in the project:
  supabase db push
  supabase functions deploy ${functionNames.join(" ")}
  supabase config push   (or switch the access-token hook on in the dashboard)`);
  });
}
