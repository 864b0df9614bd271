import { removeCluster } from "../../local/database.ts";
import { exists, removeIfThere } from "../../local/files.ts";
import { bareDatabase, cloneDatabase } from "../../local/migrations/clone_database.ts";
import {
  migrations,
  migrationsFolder,
  releasedMigrations,
} from "../../local/migrations/released.ts";
import { checkout, type Stack, stackNamed } from "../../local/stack.ts";
import { prepareSystem } from "../../local/system.ts";
import { endLeftovers, up } from "../../local/start_stack.ts";

export interface ReleasedStack {
  stack: Stack;
  /** The folder with the supabase/migrations that were applied. */
  project: string;
  stop(): Promise<void>;
}

/**
 * Starts a stack with only the released migrations, or with all of the checkout's. Its database "bare" is a project's
 * database before the first migration. With workers, tables are sharded over them.
 */
export async function startReleasedStack(
  version: "released" | "checkout" = "released",
  workers = 0,
  { archive = false } = {},
): Promise<ReleasedStack> {
  const progress = (step: string) => console.log(`  ${step} …`);
  const stack = stackNamed("scratch");
  const system = await prepareSystem(progress);
  await endLeftovers(stack);
  await removeCluster(system, stack);
  await removeIfThere(stack.folder);
  const project = await projectOf(stack, version);
  const running = await up(stack, system, {
    progress,
    project,
    workers,
    archive,
    beforeMigrations: async () => {
      await cloneDatabase(stack, "postgres", bareDatabase);
    },
  });
  return {
    stack,
    project,
    stop: async () => {
      await running.stop();
      await removeCluster(system, stack);
      await removeIfThere(stack.folder);
    },
  };
}

async function projectOf(stack: Stack, version: "released" | "checkout"): Promise<string> {
  const project = `${stack.folder}/${version}`;
  const released = await releasedMigrations();
  await Deno.mkdir(`${project}/supabase/migrations`, { recursive: true });
  for (const name of await migrations()) {
    if (version === "released" && !released.has(name)) continue;
    await Deno.copyFile(`${migrationsFolder}/${name}`, `${project}/supabase/migrations/${name}`);
  }
  for (const name of ["config.toml", "seed.sql"]) {
    const path = `${checkout}/supabase/${name}`;
    if (await exists(path)) await Deno.copyFile(path, `${project}/supabase/${name}`);
  }
  return project;
}
