import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Cli, type Command, newCommand } from "../command_line.ts";
import { exitCodes, Failure } from "../failure.ts";
import { LogloomError } from "../../read/error.ts";
import type { FileChange } from "../../read/types.ts";
import { harmless, jsonLine } from "../format_lines.ts";
import { openReader, type TargetOptions, withTarget } from "../project_options.ts";
import { changeLines, changesOf, planChangesOf, setPlans, tenantsOf } from "../files/changes.ts";
import { fileTypes, tenantTypes } from "../files/file_schema.ts";
import { readFiles, textOf } from "../files/read_files.ts";
import { filesLeft, filesOf } from "../files/write_files.ts";

interface Options extends TargetOptions {
  tenant?: string;
  prune?: true;
  json?: true;
  check?: true;
  dryRun?: true;
  overwrite?: true;
  createTenants?: true;
  only?: string;
}

const usualFolder = "supabase/logloom";
const folderText = `the folder with the files; else ${usualFolder}`;

export function pull(cli: Cli): Command {
  return withTarget(newCommand(cli, "pull", "Writes what a tenant has to files", {
    examples: ["", "--only alert_rules,saved_searches", "--only plans", "--overwrite"],
    notes: `Private searches and dashboards stay out. A secret becomes the name of a variable. Plans
are the project's: only its secret key reads and changes them, and a pull needs --only plans.`,
  }))
    .argument("[folder]", folderText, usualFolder)
    .option("--only <types>", `some of ${Object.keys(fileTypes).join(",")}`)
    .option("--tenant <id>", "another tenant, with the project's secret key")
    .option("--overwrite", "replace files, also their comments")
    .action(async (folder: string, options: Options) => {
      const path = cli.path(folder);
      const there = (await readdir(path).catch(() => [])).filter((name) => /\.ya?ml$/.test(name));
      if (there.length > 0 && options.overwrite === undefined) {
        throw new Failure(
          `${folder} has ${there.join(", ")}: --overwrite replaces files, and their comments.`,
        );
      }
      const reader = await openReader(cli, options);
      const types = options.only?.split(",").map((type) => type.trim());
      const documents = [];
      const ofTenant = types?.filter((type) => type !== "plans");
      if (ofTenant?.length !== 0) {
        const parameters = { p_types: ofTenant, p_tenant_id: options.tenant };
        documents.push(...await reader.call("export_tenant_files", parameters, cli));
      }
      if (types?.includes("plans")) {
        documents.push(...(await setPlans(reader, {}, cli.signal)).plans);
      }
      const files = filesOf(documents);
      const present = new Map<string, string>();
      for (const name of there) {
        present.set(name, await textOf(join(path, name), join(folder, name)));
      }
      const left = filesLeft(present, files, types ?? tenantTypes).join(", ");
      if (left !== "") {
        throw new Failure(
          `${left} would contradict the pulled files: remove what is not pulled, or choose other ` +
            "types with --only.",
        );
      }
      for (const [n, { type, name }] of documents.entries()) {
        if (documents.findIndex((one) => one.type === type && one.name === name) === n) continue;
        console.error(
          harmless(`logloom: several ${type} have the name ${name}: apply refuses it.`),
        );
      }
      await mkdir(path, { recursive: true });
      for (const [name, text] of files) {
        await writeFile(join(path, name), text);
        console.log(harmless(join(folder, name)));
      }
    });
}

export function diff(cli: Cli): Command {
  return withFiles(newCommand(cli, "diff", "Shows what apply would change", {
    examples: ["", "--check --prune", "--tenant 'acme*' --json"],
    exit: "0, 1 after an error, 2 with --check if something differs.",
  }))
    .option("--check", "exit with 2 if something differs")
    .action(async (folder: string, options: Options) => {
      const count = await run(cli, false, folder, options);
      if (options.check && count > 0) cli.exitWith(exitCodes.rejected);
    });
}

export function apply(cli: Cli): Command {
  return withFiles(newCommand(cli, "apply", "Makes tenants like the files", {
    examples: ["", "--prune", "--dry-run"],
    notes: `Each tenant changes in one transaction: all of it or nothing. A second apply changes
nothing, and two at once are safe.`,
  }))
    .option("--dry-run", "only show the changes, as diff does")
    .action(async (folder: string, options: Options) => {
      await run(cli, options.dryRun !== true, folder, options);
    });
}

function withFiles(command: Command): Command {
  return withTarget(command)
    .argument("[folder]", folderText, usualFolder)
    .option("--prune", "delete what is not in the files, of the types that they have")
    .option("--tenant <id>", "one tenant, or a pattern such as 'acme*'; else all in the files")
    .option("--create-tenants", "also create tenants that do not exist")
    .option("--json", "a change as a JSON object a line");
}

/** Prints the changes of the plans and of all tenants, and returns how many there are. */
async function run(
  cli: Cli,
  isApplied: boolean,
  folder: string,
  options: Options,
): Promise<number> {
  const files = await readFiles(cli.path(folder), folder);
  const hasPlans = files.types.includes("plans") && options.tenant === undefined;
  const hasTenants = !hasPlans || files.types.length > 1;
  const comparison = {
    createsTenants: options.createTenants === true,
    isApplied,
    isPruned: options.prune === true,
    reader: await openReader(cli, options),
    signal: cli.signal,
  };
  const counts = { create: 0, update: 0, delete: 0 };
  let failed = 0;
  const print = (changes: readonly FileChange[], tenant?: string) => {
    for (const change of changes) {
      counts[change.action]++;
      const lines = options.json ? [jsonLine({ tenant, ...change })] : changeLines(change, tenant);
      for (const line of lines) console.log(line);
    }
  };
  if (hasPlans) print(await planChangesOf(files, comparison));
  for (const tenant of hasTenants ? tenantsOf(files, options.tenant) : []) {
    try {
      print(await changesOf(files, tenant, comparison), tenant);
    } catch (error) {
      // One tenant's mistake does not keep the others from their changes.
      const isExpected = error instanceof Failure || error instanceof LogloomError;
      if (tenant === undefined || !isExpected || cli.signal.aborted) throw error;
      console.error(`logloom: ${harmless(tenant)}: ${harmless(error.message)}`);
      failed++;
    }
  }
  const tense = isApplied ? (word: string) => `${word}d` : toDo;
  const said = Object.entries(counts).filter(([, count]) => count > 0)
    .map(([action, count]) => tense(`${count} ${action}`));
  if (said.length === 0 && failed === 0) said.push("No differences.");
  if (said.length > 0 && !options.json) console.log(said.join(", "));
  if (failed > 0) throw new Failure(`${failed} of the tenants failed.`);
  return counts.create + counts.update + counts.delete;
}

const toDo = (words: string) => words.replace(" ", " to ");
