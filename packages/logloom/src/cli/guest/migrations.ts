import { Failure } from "../failure.ts";
import { followingVersion, versionAt } from "./versions.ts";

export interface Migration {
  /** The digits before the first underscore, which define the order. */
  version: string;
  /** The text between the underscore and .sql. */
  name: string;
  text: string;
}

export function migrationOf(file: string, text: string): Migration | null {
  const parts = /^(\d+)_(.*)\.sql$/.exec(file);
  return parts && { version: parts[1], name: parts[2], text };
}

/** Returns the text without carriage returns, which git may have added. */
export function withoutReturns(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/**
 * Returns our migrations that the project lacks, with versions after the project's last one, because db push refuses
 * older versions. A migration is recognised by its name. It must be unchanged, because it may have been applied.
 */
export function migrationsToAdd(
  ours: readonly Migration[],
  theirs: readonly Migration[],
  now: Date,
): Migration[] {
  const there = new Map(theirs.map((migration) => [migration.name, migration]));
  const changed = ours.filter(({ name, text }) =>
    there.has(name) && withoutReturns(there.get(name)?.text ?? "") !== withoutReturns(text)
  );
  if (changed.length > 0) {
    throw new Failure(
      `The project has these migrations of Logloom with another content: ${
        changed.map(({ name }) => `${there.get(name)?.version}_${name}.sql`).join(", ")
      }. An applied migration cannot change: restore the installed file or, if it was never ` +
        "applied, remove it, and run this again.",
    );
  }
  // Sorts like db push, by file name: 3_a.sql comes after 20261201_b.sql.
  let latest = theirs.map(({ version }) => `${version}_`).sort().at(-1) ?? "";
  return ours.filter(({ name }) => !there.has(name)).map((migration) => {
    const version = `${versionAt(now)}_` > latest ? versionAt(now) : next(latest.slice(0, -1));
    latest = `${version}_`;
    return { ...migration, version };
  });
}

/** Returns the bytes of a size such as 300MB or 3GB, in PostgreSQL's units. Null for `none`. */
export function limitBytes(limit: string, option = "--storage-limit"): number | null {
  if (limit.toLowerCase() === "none") return null;
  const [, amount, unit] = /^(\d+(?:\.\d+)?) ?([MG])B$/i.exec(limit) ?? [];
  const bytes = Math.floor(Number(amount) * 1024 ** (unit?.toUpperCase() === "G" ? 3 : 2));
  if (bytes > 0 && Number.isSafeInteger(bytes)) return bytes;
  throw new Failure(
    `Nothing was changed. ${option} takes a size such as 300MB or 3GB, or none: ${limit} is neither.`,
  );
}

/** Returns a migration that sets the limit. Its name has a number, because the same limit may be set again later. */
export function limitMigration(limit: string, theirs: readonly Migration[]): Migration {
  const name = "logloom_storage_limit";
  const number = theirs.filter((other) => other.name.startsWith(name)).length + 1;
  return {
    version: "",
    name: `${name}_${number}`,
    text:
      `-- How many bytes of records Logloom stores at most: logloom init --storage-limit ${limit}
update logloom_private.settings set max_storage_bytes = ${limitBytes(limit)} where singleton;
select logloom_private.finish_migration();
`,
  };
}

/** Returns migrations of Logloom that this version does not have. Only Logloom has functions in its private schema. */
export function otherMigrations(
  ours: readonly Migration[],
  theirs: readonly Migration[],
): Migration[] {
  const names = new Set(ours.map(({ name }) => name));
  const makes = /\bcreate\s+(?:or\s+replace\s+)?(?:function|procedure)\s+"?logloom_private"?\s*\./i;
  return theirs.filter(({ name, text }) =>
    /^logloom(_|$)/.test(name) && !names.has(name) && makes.test(text)
  );
}

function next(version: string): string {
  const following = followingVersion(version);
  if (following !== null) return following;
  throw new Failure(
    `Nothing was installed. supabase db push --remote sorts migrations by name, and no version comes ` +
      `after ${version}. Give that migration an earlier one (and its row in ` +
      "supabase_migrations.schema_migrations), then run this again.",
  );
}

const identifier = (name: string) => `"?${name}"?`;

/** Returns which of these public functions the project's SQL creates, and does not drop or move afterwards. */
export function functionsMadeIn(sql: string, names: readonly string[]): string[] {
  const text = sql.replaceAll(/--[^\n]*/g, "").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  return names.filter((name) => {
    const qualified = `(?:${identifier("public")}\\s*\\.\\s*)?${identifier(name)}`;
    const places = (pattern: string) =>
      [...text.matchAll(new RegExp(pattern, "gi"))].map(({ index }) => index);
    const made = places(
      `\\bcreate\\s+(?:or\\s+replace\\s+)?(?:function|procedure)\\s+${qualified}\\s*\\(`,
    );
    const kind = "(?:function|procedure|routine)\\s+";
    const gone = Math.max(
      -1,
      ...places(`\\bdrop\\s+${kind}(?:if\\s+exists\\s+)?(?:[^;]*,\\s*)?${qualified}(?![\\w"])`),
      ...places(
        `\\balter\\s+${kind}${qualified}\\s*(?:\\([^;]*\\)\\s*)?(?:rename\\s+to|set\\s+schema)\\b`,
      ),
    );
    return (made.at(-1) ?? -1) > gone;
  });
}

/** Returns the names of our public functions in this version, from foundations/operations.sql. */
export function operationsIn(sql: string): string[] {
  return [...sql.matchAll(/^ +\('(\w+)', '\{[\w,]+\}', /gm)].map(([, name]) => name);
}
