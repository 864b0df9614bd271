import { Failure } from "../failure.ts";
import { checkout } from "../stack.ts";

const header = `-- Assembled from supabase/schemas by npm run migration: change it there.
`;

/** A migration that is assembled from the schemas until a release freezes it. */
export interface FirstMigration {
  name: string;
  has: (path: string) => boolean;
  opening: string;
}

/**
 * The jobs come in a migration of their own: pg_cron's scheduler learns of new jobs by a cache invalidation, and those of a
 * transaction as large as the first one overflow their queue, which pg_cron 1.6 takes for no news. It looks once a second,
 * so by then it has caught up.
 */
export const firstMigrations: FirstMigration[] = [
  {
    name: "20261121000100_logloom.sql",
    has: (path: string) => !path.startsWith("supabase/schemas/schedules/"),
    opening: header,
  },
  {
    name: "20261121000200_logloom_schedules.sql",
    has: (path: string) => path.startsWith("supabase/schemas/schedules/"),
    opening: `${header}
-- pg_cron's scheduler sees no job that is made before it has caught up with the migration before.
select pg_catalog.pg_sleep(2);
`,
  },
];

/** The SQL sources in the order in which they build on each other: the globs of config.toml, each file once. */
export async function schemaFiles(): Promise<string[]> {
  const config = await Deno.readTextFile(`${checkout}/supabase/config.toml`);
  const block = /^schema_paths = \[\n([^\]]*)\]/m.exec(config)?.[1];
  if (block === undefined) throw new Failure("supabase/config.toml names no schema_paths.");
  const files = new Set<string>();
  for (const [, folder, file] of block.matchAll(/"\.\/(schemas\/[^"]*)\/([^"/]+\.sql)"/g)) {
    const names: string[] = file === "*.sql" ? [] : [file];
    for await (const { name, isFile } of Deno.readDir(`${checkout}/supabase/${folder}`)) {
      if (file === "*.sql" && isFile && name.endsWith(".sql")) names.push(name);
    }
    for (const name of names.sort()) files.add(`supabase/${folder}/${name}`);
  }
  return [...files];
}

/** The rooms, each after those that it may use. */
export async function rooms(): Promise<string[]> {
  return [...new Set((await schemaFiles()).map((path) => path.split("/")[2]))];
}

/** One of the first migrations: each file under the name by which one finds it. */
export async function assemble(migration: FirstMigration): Promise<string> {
  const parts = [migration.opening];
  for (const path of (await schemaFiles()).filter(migration.has)) {
    const text = await Deno.readTextFile(`${checkout}/${path}`);
    parts.push(`-- ${path.replace("supabase/schemas/", "")}\n\n${text}`);
  }
  return parts.join("\n");
}
