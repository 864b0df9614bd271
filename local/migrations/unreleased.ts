import { checkout, type Stack } from "../stack.ts";
import { exists } from "../files.ts";
import { Failure } from "../exit_on_failure.ts";
import { applySql, bareDatabase, cloneDatabase, difference } from "./clone_database.ts";
import { keepFormerComments } from "./function_comments.ts";
import { migrations, migrationsFolder, releasedMigrations } from "./released.ts";
import { rowDifferences } from "./migrated_rows.ts";
import { firstStatement, lastStatement, schemaTexts, withoutRevokes } from "./schemas.ts";
import { changesLogsUnheld } from "./writers_held.ts";
import { followingVersion, versionAt } from "../../packages/logloom/src/cli/guest/versions.ts";

/**
 * SQL that is written by hand, because a comparison of databases cannot find it: renames in before.sql, rows and jobs
 * in after.sql. Both files are optional.
 */
export const handWrittenFolder = `${checkout}/supabase/unreleased`;

const header =
  `-- Everything since the last release. npm run migration writes this file: change supabase/schemas,
-- supabase/unreleased/before.sql or supabase/unreleased/after.sql instead.
`;

/** The migration since the last release, and the two databases that it makes equal. */
export interface Unreleased {
  /** Null if nothing has changed. */
  text: string | null;
  /** The database with the released migrations and this one. */
  from: string;
  /** The database with the schemas. */
  to: string;
  /** Rows that differ and belong into after.sql. */
  rows: string[];
}

/** Compares the released migrations with the schemas, and applies the difference. */
export async function unreleasedMigration(stack: Stack): Promise<Unreleased> {
  const from = await cloneDatabase(stack, bareDatabase, "from_migrations");
  const to = await cloneDatabase(stack, bareDatabase, "from_schemas");
  const released = [...(await releasedMigrations()).keys()].map((name) =>
    `${migrationsFolder}/${name}`
  );
  // The two databases are not made in parallel, because some objects belong to the whole cluster.
  await applySql(
    from,
    await Promise.all(
      released.map(async (path) => ({ path, text: await Deno.readTextFile(path) })),
    ),
  );
  await applySql(to, await schemaTexts());
  const before = await textOf(`${handWrittenFolder}/before.sql`);
  const after = await textOf(`${handWrittenFolder}/after.sql`);
  await applySql(from, [{ path: "supabase/unreleased/before.sql", text: before }]);
  await keepFormerComments(from, to);
  const text = assemble(before, withoutRevokes(await difference(from, to)), after);
  const rest = text?.slice(text.indexOf(before) + before.length) ?? "";
  await applySql(from, [{ path: "the unreleased migration", text: rest }]);
  return { text, from, to, rows: await rowDifferences(from, to) };
}

/** Returns the text of the migration, or null if there is nothing to do. */
export function assemble(before: string, changes: string, after: string): string | null {
  const parts = [before, changes, after].filter((part) => part !== "");
  if (parts.length === 0) return null;
  const hold = changesLogsUnheld(parts.join("\n\n"))
    ? ["select logloom_private.hold_writers();"]
    : [];
  return [header.trimEnd(), firstStatement, ...hold, ...parts, lastStatement].join("\n\n") + "\n";
}

/** The migration's file: the existing one, or a new one after all others. */
export async function unreleasedFile(now = new Date()): Promise<string> {
  const released = await releasedMigrations();
  const names = await migrations();
  const unreleased = names.filter((name) => !released.has(name));
  if (unreleased.length > 1) {
    throw new Failure(`There is one unreleased migration, not ${unreleased.join(", ")}.`);
  }
  if (unreleased.length === 1) return `${migrationsFolder}/${unreleased[0]}`;
  const { version } = JSON.parse(await Deno.readTextFile(`${checkout}/package.json`));
  const name = `logloom_after_${version.replaceAll(/\W/g, "_")}.sql`;
  if (names.some((other) => other.endsWith(`_${name}`))) {
    throw new Failure(`${name} is released: set the released version in package.json.`);
  }
  return `${migrationsFolder}/${versionAfter(names.at(-1) ?? "", now)}_${name}`;
}

/** The current time as a version, or a later one after every existing migration. */
function versionAfter(last: string, now: Date): string {
  const version = versionAt(now);
  const latest = last.slice(0, version.length);
  const next = version > latest ? version : followingVersion(latest);
  if (next === null) throw new Failure(`No version comes after ${latest}.`);
  return next;
}

async function textOf(file: string): Promise<string> {
  return await exists(file) ? (await Deno.readTextFile(file)).trim() : "";
}
