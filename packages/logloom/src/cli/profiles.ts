import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Failure } from "./failure.ts";
import { isMissing } from "./shipping/follow.ts";
import { environment } from "./options.ts";

/** A project, and the user or key for it. */
export interface Profile {
  url: string;
  publishable_key?: string;
  api_key?: string;
  session?: StoredSession;
  /** The name of Logloom's function health in the project, if it has another there. */
  health?: string;
}

export interface StoredSession {
  access_token: string;
  /** Missing if there is only an access token. */
  refresh_token?: string;
  /** In seconds since 1970. */
  expires_at?: number;
}

type Profiles = Record<string, Profile>;

const profilesName = "profiles.json";

/** Returns the folder for this program's own files. */
export function ownFolder(): string {
  const base = environment("XDG_CONFIG_HOME") ??
    (process.platform === "win32" ? environment("APPDATA") : undefined) ??
    join(homedir(), ".config");
  return join(base, "logloom");
}

export async function readProfile(name: string): Promise<Profile | undefined> {
  return (await readProfiles())[name];
}

export async function writeProfile(name: string, profile: Profile): Promise<void> {
  await writeOwnFile(profilesName, { ...await readProfiles(), [name]: profile });
}

async function readProfiles(): Promise<Profiles> {
  const file = join(ownFolder(), profilesName);
  try {
    return JSON.parse(await readFile(file, "utf8")) as Profiles;
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new Failure(`${file} is damaged: remove it and log in again.`);
    }
    if (isMissing(error)) return {};
    throw error;
  }
}

/** Writes a file that only this user can read. Replaces it in one step. */
export async function writeOwnFile(name: string, content: unknown): Promise<void> {
  const folder = ownFolder();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `${name}.${process.pid}`);
  await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, join(folder, name));
}
