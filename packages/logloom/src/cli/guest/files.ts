import { createHash } from "node:crypto";
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Failure } from "../failure.ts";
import { withoutReturns } from "./migrations.ts";

/** The files of an earlier run. */
export interface Manifest {
  /** The name of the function `health` in this project. */
  health: string;
  /** The value of --storage-limit, such as 300MB. Missing after runs of versions without this option. */
  storageLimit?: string;
  /** A digest of each file, by its path in the functions' folder. */
  files: Record<string, string>;
}

/** The edge functions. Each runs in its own process. */
export const functionNames = [
  "ingest",
  "health",
  "logloom-archive",
  "logloom-notify",
  "logloom-read",
  "logloom-stream",
] as const;

/** With the function that a project has only if it asks for it. */
export const installableFunctions = [...functionNames, "logloom-platform"] as const;

/** A folder with a leading underscore is not a function. `_shared` belongs to the project. */
export const ourShared = "_logloom";
export const manifestPath = `${ourShared}/manifest.json`;

/** The supabase/ folder of a project that is not Logloom's own. */
export async function supabaseFolder(project: string, ours: string): Promise<string> {
  for (const folder of [`${project}/supabase`, project]) {
    if (await exists(`${folder}/config.toml`)) {
      if (resolve(folder) === resolve(ours)) {
        throw new Failure("That is Logloom itself; name your project's folder.");
      }
      return folder;
    }
  }
  throw new Failure(`There is no supabase/config.toml in ${project}; supabase init creates one.`);
}

export const readText = (path: string): Promise<string> => readFile(path, "utf8");

function exists(path: string): Promise<boolean> {
  return lstat(path).then(() => true, () => false);
}

export function digest(text: string): string {
  return createHash("sha256").update(withoutReturns(text)).digest("hex");
}

/** The files that a module names: imports, and files that it reads. */
const named = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*"(\.\.?\/[^"]+)"/g;

/** Maps the names of our functions to their names in a project. Only health can be renamed. */
export function nameIn(health: string): (name: string) => string {
  return (name) => name === "health" ? health : name;
}

/**
 * The functions' files for a project: everything that their index.ts reaches (so no tests), with the shared code in a
 * folder of ours.
 */
export async function functionFiles(
  source: string,
  functions: readonly string[],
  health: string,
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const wanted = functions.flatMap((name) =>
    ["index.ts", "deno.json", "deno.lock"].map((file) => `${source}/${name}/${file}`)
  );
  const seen = new Set(wanted);
  for (const path of wanted) {
    if (!(await exists(path))) continue;
    const text = await readText(path);
    const target = path.slice(source.length + 1)
      .replace(/^_shared\//, `${ourShared}/`)
      .replace(/^health\//, `${health}/`);
    files.set(target, text.replaceAll(/(["'](?:\.\.?\/)+)_shared\//g, `$1${ourShared}/`));
    for (const [, specifier] of path.endsWith(".ts") ? text.matchAll(named) : []) {
      const next = resolve(dirname(path), specifier);
      if (!seen.has(next)) {
        seen.add(next);
        wanted.push(next);
      }
    }
  }
  return files;
}

export async function readManifest(folder: string): Promise<Manifest> {
  const path = `${folder}/${manifestPath}`;
  if (!(await exists(path))) return { health: "health", files: {} };
  return JSON.parse(await readText(path)) as Manifest;
}

/** The functions of these files. */
export function functionsOf(paths: Iterable<string>): string[] {
  const folders = new Set([...paths].map((path) => path.split("/")[0]));
  folders.delete(ourShared);
  return [...folders];
}

/**
 * Returns files that are not ours in our folders, and our files that were edited. A file that already has the new
 * content is not returned, because an interrupted run may have written it.
 */
export async function filesInTheWay(
  folder: string,
  { files: written }: Manifest,
  files: ReadonlyMap<string, string>,
): Promise<{ foreign: string[]; edited: string[] }> {
  const foreign: string[] = [];
  const edited: string[] = [];
  const present = [ourShared, ...functionsOf(files.keys())];
  // Folders of functions that no longer exist. Other files in them are kept.
  const former = functionsOf(Object.keys(written)).filter((name) => !present.includes(name));
  for (const name of [...present, ...former]) {
    for (const path of await filesBelow(`${folder}/${name}`)) {
      const target = path.slice(folder.length + 1);
      if (target === manifestPath || target.endsWith(draft)) continue;
      const found = digest(await readText(path));
      const wanted = files.get(target);
      if (wanted !== undefined && found === digest(wanted)) continue;
      if (written[target] !== undefined) {
        if (written[target] !== found) edited.push(target);
      } else if (present.includes(name)) foreign.push(target);
    }
  }
  return { foreign, edited };
}

/** Returns the manifest of these files as a file to write. */
export function manifestOf(
  files: ReadonlyMap<string, string>,
  health: string,
  storageLimit?: string,
): string {
  const manifest: Manifest = { health, storageLimit, files: {} };
  for (const [path, text] of files) manifest.files[path] = digest(text);
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The temporary name of a file that is not in place yet. */
const draft = ".logloom-new";

/**
 * Removes some files and writes others. Each file is written under a temporary name first, so a failure changes
 * nothing, and an interrupted run can be repeated.
 */
export async function replaceFiles(
  files: ReadonlyMap<string, string>,
  gone: readonly string[],
): Promise<void> {
  const folders = [...new Set([...files.keys()].map((path) => dirname(path)))];
  const missing: string[] = [];
  const drafts: { path: string; place: string }[] = [];
  try {
    for (const folder of folders) {
      missing.push(...await missingFolders(folder));
      await mkdir(folder, { recursive: true });
      for (const path of await filesBelow(folder)) {
        if (path.endsWith(draft)) await rm(path);
      }
    }
    for (const [path, text] of files) {
      const there = await exists(path);
      // A link stays a link.
      const place = there ? await realpath(path) : path;
      const mode = there ? (await stat(place)).mode : undefined;
      if (mode !== undefined && (mode & 0o200) === 0) throw new Error(`${path} is read-only`);
      drafts.push({ path: `${place}${draft}`, place });
      await writeFile(`${place}${draft}`, text);
      if (mode !== undefined) await chmod(`${place}${draft}`, mode & 0o777);
    }
  } catch (error) {
    for (const { path } of drafts) await rm(path, { force: true });
    for (const folder of missing.reverse()) await rm(folder, { recursive: true, force: true });
    throw new Failure(`Nothing was installed: ${(error as Error).message}`);
  }
  for (const path of gone) await removeWithFolder(path);
  for (const { path, place } of drafts) await rename(path, place);
}

/** Removes a file, and folders that become empty. */
async function removeWithFolder(path: string): Promise<void> {
  await rm(path, { force: true });
  for (let folder = dirname(path); await isEmpty(folder); folder = dirname(folder)) {
    await rm(folder, { recursive: true });
  }
}

async function isEmpty(folder: string): Promise<boolean> {
  return await exists(folder) && (await readdir(folder)).length === 0;
}

/** Returns the missing folders of a path, the outermost first. */
async function missingFolders(folder: string): Promise<string[]> {
  if (await exists(folder)) return [];
  return [...await missingFolders(dirname(folder)), folder];
}

/** The files in a folder, and in linked folders. */
export async function filesBelow(folder: string, above: string[] = []): Promise<string[]> {
  if (!(await exists(folder))) return [];
  const here = await realpath(folder);
  // A link to a parent folder would never end.
  if (above.includes(here)) return [];
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    const path = `${folder}/${name}`;
    if (name === "node_modules") continue;
    const what = await stat(path).catch(() => null);
    if (what?.isFile()) found.push(path);
    if (what?.isDirectory()) found.push(...await filesBelow(path, [...above, here]));
  }
  return found.sort();
}
