import { ask } from "../prompt.ts";
import { Failure } from "../failure.ts";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { readManifest, supabaseFolder } from "../guest/files.ts";
import { type Installation, migrationsIn, prepareInstallation } from "../guest/installation.ts";
import {
  collectStep,
  databaseStep,
  keysStep,
  migrationsStep,
  tenantStep,
} from "../init/database_steps.ts";
import { filesStep, functionsStep, hookStep } from "../init/folder_steps.ts";
import { linesOf, lookAt, runSteps, type Step } from "../init/steps.ts";
import { openProject, type Project, type ProjectOptions } from "../init/project.ts";
import { doctorStep, proofStep } from "../init/proof_steps.ts";
import { secretsStep } from "../init/secrets_step.ts";
import type { Setup } from "../init/setup.ts";
import { readProfile } from "../profiles.ts";
import { profileName } from "../project_options.ts";

interface Options extends ProjectOptions {
  storageLimit?: string;
  healthAs?: string;
  tenant?: string;
  owner?: string;
  collect?: string;
  profile?: string;
  files?: true;
  yes?: true;
  dryRun?: true;
  json?: true;
}

const defaultLimit = "300MB";

function withProject(command: Command): Command {
  return command
    .argument("[folder]", "the project's folder, which contains supabase/; else this folder")
    .option("--local", "the local stack of supabase start, which is the default")
    .option("--remote", "the hosted project that the folder is linked to")
    .option("--url <url>", "the project's address, if it has one of its own")
    .option("--yes", "do it without asking")
    .option("--dry-run", "show the plan, and change nothing")
    .option("--json", "the outcome of each step as a JSON object");
}

export function init(cli: Cli): Command {
  return withProject(
    newCommand(cli, "init", "Puts Logloom into a Supabase project, up to a first log", {
      examples: ["", "../shop --remote --owner ann@example.com", "--dry-run"],
      notes:
        `It shows its plan, asks once, and ends by sending a record and finding it. Run it again after a
failure or an interruption: it skips what is done. Nothing of the project is written over: names
that are taken, and an access-token hook of the project's own, stay as they are.

--remote needs supabase link, and the login of the Supabase CLI or SUPABASE_ACCESS_TOKEN; the hook
needs SUPABASE_ACCESS_TOKEN. LOGLOOM_DATABASE_URL, if set, is the way to the hosted database.`,
    }),
  )
    .option(
      "--storage-limit <size>",
      `what Logloom stores at most: 3GB, or none; else ${defaultLimit}`,
    )
    .option("--tenant <id>", "the first tenant; else it has the project's name")
    .option("--owner <email>", "the tenant's owner; else the only user that the project has")
    .option("--collect <names>", `the project's own events: all, or some of ${collectors.join()}`)
    .option("--health-as <name>", "the name of Logloom's function health, if the project has one")
    .option("--profile <name>", "where the key for this command line is stored; else default")
    .option("--files", "write the folder alone, and leave database and functions to you")
    .action((folder: string | undefined, options: Options) => {
      if (options.files) return writeFiles(cli, cli.path(folder ?? "."), options);
      return withSetup(cli, folder, options, async (setup) => {
        const steps = [
          ...versionSteps(setup),
          tenantStep(setup),
          ...setup.collect.length > 0 ? [collectStep(setup)] : [],
          keysStep(setup),
          proofStep(setup),
          doctorStep(setup),
        ];
        if (await carryOut(setup, steps, options)) sayNext(setup);
      });
    });
}

/** Only writes the files, for projects that push and deploy in a pipeline. */
async function writeFiles(cli: Cli, folder: string, options: Options): Promise<void> {
  const storageLimit = await limitOf(cli, folder, { ...options, yes: true });
  const { write, isChange: _, ...installation } = await prepareInstallation(
    folder,
    cli.supabase,
    { ...options, storageLimit, withPlatform: collectorsOf(options).includes("platform") },
  );
  if (!options.dryRun) await write();
  if (options.json) return console.log(JSON.stringify(installation));
  const { migrations, files, functions, formerFunctions, advice } = installation;
  for (const name of migrations) console.log(`  + supabase/migrations/${name}`);
  console.log(`  ${files} files in supabase/functions, a block in supabase/config.toml`);
  for (const line of advice) console.log(`  Note: ${line}`);
  console.log(`
Next, in the project:
  supabase db push --remote
  supabase functions deploy ${functions.join(" ")}`);
  for (const name of formerFunctions) console.log(`  supabase functions delete ${name}`);
}

export function upgrade(cli: Cli): Command {
  return withProject(newCommand(cli, "upgrade", "Brings a project's Logloom to this version", {
    examples: ["", "../shop --remote"],
    notes:
      `It adds migrations, applies them, deploys the functions, and deletes those that are no more.
Old functions work with the new database, so nothing stops meanwhile.`,
  }))
    .option("--storage-limit <size>", "another limit: 3GB, or none")
    .action((folder: string | undefined, options: Options) =>
      withSetup(cli, folder, options, async (setup) => {
        const { files } = await readManifest(`${setup.project.supabaseFolder}/functions`);
        if (Object.keys(files).length === 0) {
          throw new Failure(
            `Logloom is not in ${setup.project.folder}: ${cli.call("init")} puts it there.`,
          );
        }
        await carryOut(setup, [...versionSteps(setup), doctorStep(setup)], options);
      })
    );
}

/** The steps that bring folder, database, functions and Auth to this version. */
const versionSteps = (setup: Setup): Step[] => [
  databaseStep(setup),
  filesStep(setup),
  migrationsStep(setup),
  secretsStep(setup),
  functionsStep(setup),
  hookStep(setup),
];

async function withSetup(
  cli: Cli,
  named: string | undefined,
  options: Options,
  act: (setup: Setup) => Promise<void>,
): Promise<void> {
  const project = await openProject(cli, cli.path(named ?? "."), options);
  try {
    const storageLimit = await limitOf(cli, project.folder, options);
    const name = await profileFor(project, options);
    const collect = collectorsOf(options);
    let prepared: Promise<Installation> | undefined;
    await act({
      cli,
      project,
      prepare: () =>
        prepared ??= prepareInstallation(project.folder, cli.supabase, {
          ...options,
          storageLimit,
          withPlatform: collect.includes("platform"),
        }),
      forgetPrepared: () => prepared = undefined,
      migrations: () => migrationsIn(`${project.supabaseFolder}/migrations`),
      tenant: options.tenant,
      owner: options.owner,
      collect,
      profile: name,
      say: options.json ? () => {} : console.log,
    });
  } finally {
    await project.close();
  }
}

/** The last one needs a token and a function of its own, so `all` does not include it. */
const collectors = ["auth", "database", "jobs", "statements", "platform"];

function collectorsOf({ collect }: Options): string[] {
  const names = collect === "all" ? collectors.slice(0, -1) : collect?.split(",") ?? [];
  if (names.every((name) => collectors.includes(name))) return names;
  throw new Failure(`--collect takes all, or some of ${collectors.join()}, not ${collect}.`);
}

/** Returns the limit of a new installation. Undefined keeps the limit of an earlier one. */
async function limitOf(cli: Cli, project: string, options: Options): Promise<string | undefined> {
  const folder = await supabaseFolder(project, cli.supabase);
  const { files } = await readManifest(`${folder}/functions`);
  if (options.storageLimit !== undefined || Object.keys(files).length > 0) {
    return options.storageLimit;
  }
  const { yes, dryRun, json } = options;
  if (yes || dryRun || json || !process.stdin.isTTY) return defaultLimit;
  console.error(
    "Records share the database with your project. At a limit the oldest days are deleted, never " +
      "today or yesterday.\nA Free project turns read-only at 500 MB.\n",
  );
  return await ask(
    cli,
    `How much to store at most (${defaultLimit}, 3GB or none)`,
    "--storage-limit",
  );
}

/** Returns the profile to write. Never overwrites the profile of another project. */
async function profileFor(project: Project, options: Options): Promise<string> {
  const name = profileName(options);
  const known = await readProfile(name);
  if (known === undefined || known.url === project.url || options.profile !== undefined) {
    return name;
  }
  return project.ref ?? project.name;
}

/** Shows the plan, asks for consent, and runs the plan. Returns false if nothing was run. */
async function carryOut(setup: Setup, steps: readonly Step[], options: Options): Promise<boolean> {
  const { project, cli } = setup;
  const isOther = project.ref === undefined && project.linkedRef !== undefined;
  setup.say(
    `${project.name}, ${
      project.ref === undefined ? "the local stack" : "hosted"
    } at ${project.url}` +
      `${isOther ? ` (--remote: the linked project ${project.linkedRef})` : ""}\n`,
  );
  const json = (outcomes: unknown) =>
    console.log(JSON.stringify({ url: project.url, steps: outcomes }));
  if (options.dryRun || !options.yes) {
    const plan = await lookAt(cli, steps);
    for (const line of plan.flatMap(linesOf)) setup.say(line);
    if (options.dryRun) {
      if (options.json) json(plan);
      return false;
    }
    setup.say(footprint);
    if (!/^y(es)?$/i.test(await ask(cli, "Go on (y or n)", "--yes"))) {
      throw new Failure("nothing was done.");
    }
  }
  const outcomes = await runSteps(cli, steps, setup.say);
  if (options.json) json(outcomes);
  return true;
}

/** These numbers are from docs/benchmarks/footprint.md. */
const footprint = `
While nothing is sent, Logloom takes three connections and 1.3 % of a core. A million events take
323 MB for a day and a half, then 27 MB.
`;

function sayNext({ project, profile, collect, cli, say }: Setup): void {
  const search = `${cli.call("search")} 'service:web'`;
  say(`
Log from an app:

  import { createLogger } from "logloom";
  const log = createLogger({ url: "${project.url}", key: process.env.LOGLOOM_KEY, service: "web" });
  log.info("hello");

Then search: ${search}${profile === "default" ? "" : ` --profile ${profile}`}`);
  if (collect.length === 0) say(`The project's own events: ${cli.call("init")} --collect all`);
}
