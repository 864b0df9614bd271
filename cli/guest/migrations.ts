import { Failure } from "../../local/failure.ts";

export interface Migration {
  /** What stands before the first underscore: digits by which they are ordered. */
  version: string;
  /** What stands between it and .sql. */
  name: string;
  text: string;
}

export function migrationOf(file: string, text: string): Migration | null {
  const parts = /^(\d+)_(.*)\.sql$/.exec(file);
  return parts && { version: parts[1], name: parts[2], text };
}

/**
 * Our migrations that a project does not have yet, with versions after its last one: db push refuses one that is older than
 * what it has applied. One that it has is known by its name, and must not have changed, for it may be applied.
 */
export function migrationsToAdd(
  ours: readonly Migration[],
  theirs: readonly Migration[],
  now: Date,
): Migration[] {
  const there = new Map(theirs.map((migration) => [migration.name, migration]));
  const changed = ours.filter(({ name, text }) =>
    there.has(name) && there.get(name)?.text !== text
  );
  if (changed.length > 0) {
    throw new Failure(
      `These migrations of Logloom are in the project already and read otherwise: ${
        changed.map(({ name }) => `${there.get(name)?.version}_${name}.sql`).join(", ")
      }. A migration that was applied cannot change: put back what was installed, or, where it was ` +
        "never applied, remove the file and run this again.",
    );
  }
  const latest = theirs.reduce((max, { version }) => later(version, max), "0");
  let version = later(stamp(now), next(latest));
  return ours.filter(({ name }) => !there.has(name)).map((migration) => {
    const added = { ...migration, version };
    version = next(version);
    return added;
  });
}

function stamp(time: Date): string {
  return time.toISOString().replaceAll(/\D/g, "").slice(0, 14);
}

function later(a: string, b: string): string {
  return BigInt(a) >= BigInt(b) ? a : b;
}

function next(version: string): string {
  return `${BigInt(version) + 1n}`.padStart(version.length, "0");
}

const identifier = (name: string) => `"?${name}"?`;

/** Of these functions in public, those that the project's SQL makes and does not remove again. */
export function functionsMadeIn(sql: string, names: readonly string[]): string[] {
  const text = sql.replaceAll(/--[^\n]*/g, "").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  return names.filter((name) => {
    const qualified = `(?:${identifier("public")}\\s*\\.\\s*)?${identifier(name)}`;
    const places = (pattern: string) =>
      [...text.matchAll(new RegExp(pattern, "gi"))].map(({ index }) => index);
    const made = places(
      `\\bcreate\\s+(?:or\\s+replace\\s+)?(?:function|procedure)\\s+${qualified}\\s*\\(`,
    );
    const gone = places(
      `\\bdrop\\s+(?:function|procedure|routine)\\s+(?:if\\s+exists\\s+)?${qualified}(?![\\w"])`,
    );
    return made.length > 0 && (made.at(-1) ?? 0) > (gone.at(-1) ?? -1);
  });
}

/** The names of the functions that our migrations make in public. */
export function publicFunctions(migrations: readonly Migration[]): string[] {
  const names = migrations.flatMap(({ text }) =>
    [...text.matchAll(/^create (?:or replace )?function public\.(\w+)/gm)].map(([, name]) => name)
  );
  return [...new Set(names)].sort();
}
