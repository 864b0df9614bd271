import { Failure } from "../failure.ts";
import { takenSections, withLogloom } from "./config.ts";
import {
  digest,
  filesBelow,
  filesInTheWay,
  functionFiles,
  functionsOf,
  installableFunctions,
  manifestOf,
  manifestPath,
  nameIn,
  readManifest,
  readText,
  replaceFiles,
  supabaseFolder,
} from "./files.ts";
import {
  functionsMadeIn,
  limitBytes,
  limitMigration,
  type Migration,
  migrationOf,
  migrationsToAdd,
  operationsIn,
  otherMigrations,
} from "./migrations.ts";

export interface Installation {
  /** The migrations to add, with their versions in this project. */
  migrations: string[];
  files: number;
  /** The functions to deploy, by their names in this project. */
  functions: string[];
  /** The name of Logloom's function health among them. */
  health: string;
  /** Functions that an earlier run installed and this run does not. */
  formerFunctions: string[];
  advice: string[];
  /** Whether a file differs from the project's file. */
  isChange: boolean;
  write(): Promise<void>;
}

export interface InstallationOptions {
  healthAs?: string;
  /** A size, or `none`. If undefined, the limit stays unchanged. */
  storageLimit?: string;
  /** Whether to install logloom-platform. If it is there, it stays. */
  withPlatform?: boolean;
  now?: Date;
}

/** Installs or upgrades from `source`, a folder such as our supabase/. */
export async function installInto(
  project: string,
  source: string,
  options: InstallationOptions = {},
): Promise<Installation> {
  const installation = await prepareInstallation(project, source, options);
  await installation.write();
  return installation;
}

/** Checks everything, and says which files an installation or an upgrade changes. */
export async function prepareInstallation(
  project: string,
  source: string,
  { now = new Date(), healthAs, storageLimit, withPlatform }: InstallationOptions,
): Promise<Installation> {
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
  const names = installableFunctions.filter((name) =>
    name !== "logloom-platform" || withPlatform ||
    functionsOf(Object.keys(manifest.files)).includes(name)
  );
  const functions = names.map(nameIn(health));
  const files = await functionFiles(`${source}/functions`, names, health);
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
  const contents = new Map([
    ...added.map(({ version, name, text }) =>
      [`${folder}/migrations/${version}_${name}.sql`, text] as const
    ),
    ...[...files].map(([path, text]) => [`${folder}/functions/${path}`, text] as const),
    [`${folder}/functions/${manifestPath}`, manifestOf(files, health, limit)],
    [`${folder}/config.toml`, text],
  ]);
  const gone = written.filter((path) => !files.has(path));
  return {
    isChange: gone.length > 0 || await differs(contents),
    write: () => replaceFiles(contents, gone.map((path) => `${folder}/functions/${path}`)),
    migrations: added.map(({ version, name }) => `${version}_${name}.sql`),
    files: files.size,
    functions,
    health,
    formerFunctions: functionsOf(written).filter((name) => !functions.includes(name)),
    advice,
  };
}

async function differs(contents: ReadonlyMap<string, string>): Promise<boolean> {
  for (const [path, text] of contents) {
    const present = await readText(path).catch(() => undefined);
    if (present === undefined || digest(present) !== digest(text)) return true;
  }
  return false;
}

/** Returns a valid function name that no other function of Logloom has. */
function healthName(name: string): string {
  const others: readonly string[] = installableFunctions.filter((other) => other !== "health");
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
