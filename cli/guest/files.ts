import { createHash } from "node:crypto";
import { dirname, resolve } from "node:path";
import { exists } from "../../local/files.ts";

/** What an earlier run wrote, by its path in the functions' folder: a digest of each file. */
export type Manifest = Record<string, string>;

/** Folders that begin with an underscore are no functions of their own. `_shared` is the project's. */
export const ourShared = "_logloom";
export const manifestPath = `${ourShared}/manifest.json`;

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What a module names by its path: what it imports, and files that it reads beside itself. */
const named = /(?:\bfrom|\bimport|\bimport\(|\bnew URL\()\s*"(\.\.?\/[^"]+)"/g;

/**
 * The functions' files as a project gets them: what their index.ts reach, so no tests, and what they share in a folder of
 * ours.
 */
export async function functionFiles(
  source: string,
  functions: readonly string[],
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const wanted = functions.flatMap((name) =>
    ["index.ts", "deno.json", "deno.lock"].map((file) => `${source}/${name}/${file}`)
  );
  const seen = new Set(wanted);
  for (const path of wanted) {
    if (!(await exists(path))) continue;
    const text = await Deno.readTextFile(path);
    const target = path.slice(source.length + 1).replace(/^_shared\//, `${ourShared}/`);
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
  return (await exists(path)) ? JSON.parse(await Deno.readTextFile(path)) as Manifest : {};
}

/** Files in our folders that are not ours, and files of ours that were edited since. */
export async function filesInTheWay(
  folder: string,
  functions: readonly string[],
  manifest: Manifest,
): Promise<{ foreign: string[]; edited: string[] }> {
  const foreign: string[] = [];
  const edited: string[] = [];
  for (const name of [ourShared, ...functions]) {
    for (const path of await filesBelow(`${folder}/${name}`)) {
      const target = path.slice(folder.length + 1);
      if (target === manifestPath) continue;
      if (manifest[target] === undefined) foreign.push(target);
      else if (manifest[target] !== digest(await Deno.readTextFile(path))) edited.push(target);
    }
  }
  return { foreign, edited };
}

/** Writes our files and removes those that an earlier version had. */
export async function writeFunctions(
  folder: string,
  files: ReadonlyMap<string, string>,
  before: Manifest,
): Promise<void> {
  const manifest: Manifest = {};
  for (const [path, text] of files) {
    await Deno.mkdir(dirname(`${folder}/${path}`), { recursive: true });
    await Deno.writeTextFile(`${folder}/${path}`, text);
    manifest[path] = digest(text);
  }
  for (const path of Object.keys(before)) {
    if (!files.has(path) && await exists(`${folder}/${path}`)) {
      await Deno.remove(`${folder}/${path}`);
    }
  }
  await Deno.writeTextFile(`${folder}/${manifestPath}`, `${JSON.stringify(manifest, null, 2)}\n`);
}

export async function filesBelow(folder: string): Promise<string[]> {
  if (!(await exists(folder))) return [];
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (!isDirectory) found.push(path);
    else if (name !== "node_modules") found.push(...await filesBelow(path));
  }
  return found.sort();
}
