import { fileURLToPath } from "node:url";

/** Returns the path of a file URL, without the trailing slash of a folder. */
export function fromFileUrl(url: URL): string {
  return fileURLToPath(url).replace(/\/$/, "");
}

export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return false;
    }
    throw error;
  }
}

export async function removeIfThere(path: string): Promise<void> {
  if (await exists(path)) await Deno.remove(path, { recursive: true });
}

/** Runs an action when no other process of this checkout runs one, because concurrent installs disturb each other. */
export async function oneAtATime<T>(action: () => Promise<T>): Promise<T> {
  const folder = fromFileUrl(new URL("../.logloom", import.meta.url));
  await Deno.mkdir(folder, { recursive: true });
  using lock = await Deno.open(`${folder}/installing`, { create: true, write: true });
  await lock.lock(true);
  return await action();
}

/** Writes a file atomically: a reader sees the old or the new text. */
export async function replaceFile(path: string, text: string, mode = 0o600): Promise<void> {
  const draft = `${path}.${Deno.pid}`;
  await Deno.writeTextFile(draft, text, { mode });
  await Deno.rename(draft, path);
}
