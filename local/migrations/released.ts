import { createHash } from "node:crypto";
import { checkout } from "../stack.ts";

export const migrationsFolder = `${checkout}/supabase/migrations`;

/** The file has the format of sha256sum: a line for each released migration. Nobody may edit a released migration. */
export const releasedFile = `${checkout}/supabase/released-migrations.sha256`;

/** Returns the names of all migrations, in the order in which they are applied. */
export async function migrations(folder = migrationsFolder): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (/^\d{14}_\w+\.sql$/.test(name)) names.push(name);
  }
  return names.sort();
}

/** Returns the digests of the released migrations by name, in the order of application. */
export async function releasedMigrations(file = releasedFile): Promise<Map<string, string>> {
  const released = new Map<string, string>();
  for (const line of (await Deno.readTextFile(file)).split("\n")) {
    const [, digest, name] = /^([0-9a-f]{64}) {2}migrations\/(\S+)$/.exec(line) ?? [];
    if (digest) released.set(name, digest);
    else if (line !== "") {
      throw new Error(`${file} has a line that is not in the format of sha256sum: ${line}`);
    }
  }
  return released;
}

/** Returns released migrations that changed, and new ones that sort before a released one. */
export async function editedMigrations(
  folder = migrationsFolder,
  file = releasedFile,
): Promise<string[]> {
  const released = await releasedMigrations(file);
  const names = await migrations(folder);
  const last = [...released.keys()].at(-1) ?? "";
  const faults: string[] = [];
  for (const [name, digest] of released) {
    if (!names.includes(name)) faults.push(`${name} is gone`);
    else if (await digestOf(`${folder}/${name}`) !== digest) faults.push(`${name} was edited`);
  }
  for (const name of names) {
    if (!released.has(name) && name < last) faults.push(`${name} comes before ${last}`);
  }
  return faults;
}

/** Freezes the current migrations. */
export async function release(): Promise<string[]> {
  const names = await migrations();
  const lines: string[] = [];
  for (const name of names) {
    lines.push(`${await digestOf(`${migrationsFolder}/${name}`)}  migrations/${name}\n`);
  }
  await Deno.writeTextFile(releasedFile, lines.join(""));
  return names;
}

async function digestOf(path: string): Promise<string> {
  return createHash("sha256").update(await Deno.readTextFile(path)).digest("hex");
}
