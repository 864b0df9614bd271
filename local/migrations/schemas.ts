import { Failure } from "../exit_on_failure.ts";
import { checkout } from "../stack.ts";

/** Begins every migration: a project may have functions that stand in for PostgreSQL's own. */
export const firstStatement = "set local search_path = pg_catalog, pg_temp;";

/** Ends every migration: grants what it made. */
export const lastStatement = "select logloom_private.finish_migration();";

/** A difference without the revokes that the last statement makes for all private functions at once. */
export function withoutRevokes(sql: string): string {
  const revoke = /^REVOKE ALL ON (?:FUNCTION|PROCEDURE) "logloom_private"\.[^;]* FROM PUBLIC;\n*/gm;
  return sql.replace(revoke, "").trimEnd();
}

/** The SQL sources in their order: the globs of config.toml, each file once. */
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

/** What makes a database as the schemas say, in order. */
export async function schemaTexts(): Promise<{ path: string; text: string }[]> {
  const files = await Promise.all((await schemaFiles()).map(async (path) => ({
    path,
    text: await Deno.readTextFile(`${checkout}/${path}`),
  })));
  return [...files, { path: "the last statement", text: lastStatement }];
}

/** The rooms, each after the rooms that it uses. */
export async function rooms(): Promise<string[]> {
  return [...new Set((await schemaFiles()).map(roomOf))];
}

function roomOf(path: string): string {
  return path.split("/")[2];
}
