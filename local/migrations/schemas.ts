import { Failure } from "../exit_on_failure.ts";
import { checkout } from "../stack.ts";

/** Every migration begins with this, because a project may have functions with the names of PostgreSQL's own. */
export const firstStatement = "set local search_path = pg_catalog, pg_temp;";

/** Every migration ends with this, which grants and revokes the rights on new objects. */
export const lastStatement = "select logloom_private.finish_migration();";

/** Removes the revokes on private functions from a difference, because the migration's last statement does them all. */
export function withoutRevokes(sql: string): string {
  const revoke = /^REVOKE ALL ON (?:FUNCTION|PROCEDURE) "logloom_private"\.[^;]* FROM PUBLIC;\n*/gm;
  return sql.replace(revoke, "").trimEnd();
}

/** Returns the SQL sources in their order: the globs of config.toml, each file once. */
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

/** Returns the SQL that makes a database like the schemas, in order. */
export async function schemaTexts(): Promise<{ path: string; text: string }[]> {
  const files = await Promise.all((await schemaFiles()).map(async (path) => ({
    path,
    text: await Deno.readTextFile(`${checkout}/${path}`),
  })));
  return [...files, { path: "the last statement", text: lastStatement }];
}

/** Lists the rooms, each after the rooms that it uses. */
export async function rooms(): Promise<string[]> {
  return [...new Set((await schemaFiles()).map(roomOf))];
}

function roomOf(path: string): string {
  return path.split("/")[2];
}
