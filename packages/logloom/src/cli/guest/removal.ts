import { withoutLogloom } from "./config.ts";
import {
  digest,
  installableFunctions,
  manifestPath,
  nameIn,
  readManifest,
  readText,
  replaceFiles,
} from "./files.ts";
import { removeLocalSecrets } from "../init/secrets_step.ts";
import { migrationsIn } from "./installation.ts";

/** Returns Logloom's functions by their names in the project. */
export async function functionsOfProject(supabaseFolder: string): Promise<string[]> {
  const { health } = await readManifest(`${supabaseFolder}/functions`);
  return installableFunctions.map(nameIn(health));
}

/** Removes the files of an installation from a project's folder. Edited files stay. */
export async function removeInstallation(
  supabaseFolder: string,
  source: string,
  say: (line: string) => void,
): Promise<void> {
  const functions = `${supabaseFolder}/functions`;
  const { files } = await readManifest(functions);
  const gone: string[] = [];
  for (const [path, written] of Object.entries(files)) {
    const text = await readText(`${functions}/${path}`).catch(() => undefined);
    if (text === undefined || digest(text) === written) gone.push(`${functions}/${path}`);
    else say(`  supabase/functions/${path} stays: it was edited.`);
  }
  const ours = new Set((await migrationsIn(`${source}/migrations`)).map(({ name }) => name));
  for (const { version, name } of await migrationsIn(`${supabaseFolder}/migrations`)) {
    if (ours.has(name) || name.startsWith("logloom_storage_limit_")) {
      gone.push(`${supabaseFolder}/migrations/${version}_${name}.sql`);
    }
  }
  const config = `${supabaseFolder}/config.toml`;
  const text = withoutLogloom(await readText(config));
  await removeLocalSecrets(supabaseFolder);
  await replaceFiles(new Map([[config, text]]), [...gone, `${functions}/${manifestPath}`]);
  say(`  ${gone.length} files in supabase/ …`);
}
