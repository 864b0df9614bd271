import { ask } from "../ask.ts";
import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../frame.ts";
import { takenSections, withLogloom } from "../guest/config.ts";
import {
  filesBelow,
  filesInTheWay,
  functionFiles,
  functionNames,
  functionsOf,
  manifestOf,
  manifestPath,
  nameIn,
  ourShared,
  readManifest,
  readText,
  replaceFiles,
  supabaseFolder,
} from "../guest/files.ts";
import {
  functionsMadeIn,
  limitBytes,
  limitMigration,
  type Migration,
  migrationOf,
  migrationsToAdd,
  operationsIn,
  otherMigrations,
} from "../guest/migrations.ts";

export function installIntoCommand(cli: Cli): Command {
  return newCommand(cli, "install-into", "Puts Logloom into another Supabase project", {
    examples: [
      "../shop --storage-limit 300MB",
      "../shop --storage-limit none --health-as logloom-health",
    ],
    notes: `The folder contains supabase/. Its supabase/ gains

  migrations/   Logloom's, with versions after the project's last one
  functions/    ingest, health, logloom-archive, logloom-notify, logloom-read and logloom-stream, and
                what they share in _logloom
  config.toml   a block with the functions' sections and the access-token hook

Run it again from a newer Logloom to upgrade: it adds migrations and replaces functions and block.
If a name that Logloom needs is already taken, it changes nothing and says which.`,
  })
    .argument("<folder>", "the project's folder")
    .option(
      "--health-as <name>",
      "the name of Logloom's function health, if the project has one; later runs remember it",
    )
    .option(
      "--storage-limit <size>",
      "how much Logloom stores at most: 300MB, 3GB or none; asked for if left out, and remembered",
    )
    .option("--json", "what was done as a JSON object")
    .action(async (project: string, options: Options & { json?: true }) => {
      const folder = cli.path(project);
      if (options.storageLimit === undefined && !(await knowsLimit(folder, cli.supabase))) {
        options.storageLimit = await askForLimit(cli);
      }
      const installed = await installInto(folder, cli.supabase, options);
      if (options.json) console.log(JSON.stringify(installed));
      else report(installed);
    });
}

async function knowsLimit(project: string, source: string): Promise<boolean> {
  const folder = await supabaseFolder(project, source);
  return (await readManifest(`${folder}/functions`)).storageLimit !== undefined;
}

function askForLimit(cli: Cli): Promise<string> {
  if (process.stdin.isTTY) {
    console.error(
      "Logloom's records share the database with your project, and a limit keeps them from filling it.\n" +
        "At the limit the oldest days are deleted, never today or yesterday.\n",
    );
  }
  return ask(cli, "How much to store at most (300MB, 3GB or none)", "--storage-limit");
}

function report({ migrations, files, functions, formerFunctions, advice }: Installed): void {
  for (const name of migrations) console.log(`  + supabase/migrations/${name}`);
  console.log(`  ${files} files in supabase/functions (${functions.join(", ")}, ${ourShared})`);
  for (const name of formerFunctions) console.log(`  - supabase/functions/${name}`);
  console.log("  a block in supabase/config.toml");
  for (const line of advice) console.log(`\n  Note: ${line}`);
  console.log(`
Next, in the project:
  supabase db push --remote
  supabase functions deploy ${functions.join(" ")}`);
  for (const name of formerFunctions) {
    console.log(`  supabase functions delete ${name}   (no longer part of Logloom)`);
  }
  console.log(`
Then switch the access-token hook on in the dashboard: Authentication, Hooks, Customize Access Token,
schema logloom_private, function custom_access_token_hook. (supabase config push would push all else
in config.toml too, such as site_url.) --remote is an option of the Supabase CLI 3.`);
}

export interface Installed {
  migrations: string[];
  files: number;
  /** The functions to deploy, by their names in this project. */
  functions: string[];
  /** Functions of an earlier run that no longer exist. */
  formerFunctions: string[];
  advice: string[];
}

interface Options {
  healthAs?: string;
  /** A size or none. Left out, the limit stays as it is. */
  storageLimit?: string;
}

/** Installs or upgrades from `source`, a folder such as our supabase/. Everything is checked before anything is written. */
export async function installInto(
  project: string,
  source: string,
  { now = new Date(), healthAs, storageLimit }: Options & { now?: Date } = {},
): Promise<Installed> {
  const folder = await supabaseFolder(project, source);
  const ours = await migrationsIn(`${source}/migrations`);
  const theirs = await migrationsIn(`${folder}/migrations`);
  const manifest = await readManifest(`${folder}/functions`);
  const config = await readText(`${folder}/config.toml`);

  const others = otherMigrations(ours, theirs);
  if (others.length > 0) {
    throw new Failure(
      `Nothing was installed. The project has migrations of another Logloom: ${
        others.map(({ version, name }) => `${version}_${name}.sql`).join(", ")
      }. If it is a newer one, run this from that version or a later one. If it is older than 1.0.0, ` +
        "docs/upgrade.md shows how to replace it.",
    );
  }
  const isOurs = new Set(ours.map(({ name }) => name));
  const health = healthName(healthAs ?? manifest.health);
  const functions = functionNames.map(nameIn(health));
  const files = await functionFiles(`${source}/functions`, functionNames, health);
  const theirSql = [
    ...theirs.filter(({ name }) => !isOurs.has(name)).map(({ text }) => text),
    ...await Promise.all(
      (await filesBelow(`${folder}/schemas`)).filter((path) => path.endsWith(".sql"))
        .map((path) => readText(path)),
    ),
  ].join("\n;\n");
  const { foreign, edited } = await filesInTheWay(`${folder}/functions`, manifest, files);
  const operations = operationsIn(await readText(`${source}/schemas/foundations/operations.sql`));
  const folders = [...new Set(foreign.map((path) => path.split("/")[0]))];
  const sections = takenSections(config, functions);
  const taken = [
    ...functionsMadeIn(theirSql, operations).map((name) => `the function public.${name}`),
    ...folders.map((name) => `the folder supabase/functions/${name}`),
    ...sections.map((name) => `[functions.${name}] in config.toml`),
  ];
  if (taken.length > 0) {
    throw new Failure(
      `Nothing was installed. The project has these, and Logloom needs their names:\n  ${
        taken.join("\n  ")
      }${
        [...folders, ...sections].includes(health)
          ? "\nLogloom's function health can have another name in this project: --health-as NAME."
          : ""
      }${
        [...folders, ...sections].includes("ingest")
          ? "\nLogloom's function ingest keeps its name: it is in the addresses that senders know."
          : ""
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
  const limit = storageLimit ?? manifest.storageLimit;
  const isNewLimit = limit !== undefined &&
    limitBytes(limit) !== limitBytes(manifest.storageLimit ?? "none");
  const added = migrationsToAdd(
    isNewLimit ? [...ours, limitMigration(limit, theirs)] : ours,
    theirs,
    now,
  );
  const { text, advice } = withLogloom(config, functions);
  const written = Object.keys(manifest.files);
  await replaceFiles(
    new Map([
      ...added.map(({ version, name, text }) =>
        [`${folder}/migrations/${version}_${name}.sql`, text] as const
      ),
      ...[...files].map(([path, text]) => [`${folder}/functions/${path}`, text] as const),
      [`${folder}/functions/${manifestPath}`, manifestOf(files, health, limit)],
      [`${folder}/config.toml`, text],
    ]),
    written.filter((path) => !files.has(path)).map((path) => `${folder}/functions/${path}`),
  );
  return {
    migrations: added.map(({ version, name }) => `${version}_${name}.sql`),
    files: files.size,
    functions,
    formerFunctions: functionsOf(written).filter((name) => !functions.includes(name)),
    advice,
  };
}

/** A possible function name, different from Logloom's other ones. */
function healthName(name: string): string {
  const others: readonly string[] = functionNames.filter((other) => other !== "health");
  if (/^[A-Za-z][A-Za-z0-9_-]*$/.test(name) && !others.includes(name)) return name;
  throw new Failure(
    `Nothing was installed. --health-as takes a function's name of letters, digits, - and _, ` +
      `other than ${others.join(" and ")}: ${name} is none.`,
  );
}

export async function migrationsIn(folder: string): Promise<Migration[]> {
  const found: Migration[] = [];
  for (const path of (await filesBelow(folder)).filter((path) => path.endsWith(".sql"))) {
    const migration = migrationOf(path.slice(folder.length + 1), await readText(path));
    if (migration) found.push(migration);
  }
  return found;
}
