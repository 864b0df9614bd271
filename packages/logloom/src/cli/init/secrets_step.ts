import { randomBytes } from "node:crypto";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { digest } from "../guest/files.ts";
import { isMissing } from "../shipping/follow.ts";
import { done, type Step, todo } from "./steps.ts";
import { literal, withSecretFile } from "./project.ts";
import type { Setup } from "./setup.ts";

const notifySecret = "LOGLOOM_NOTIFY_SECRET";
const sealingKey = "LOGLOOM_SECRETS_KEY";

/** The secrets that init makes. */
export const ownSecrets = [notifySecret, sealingKey] as const;

/**
 * Sets two secrets of the functions: a password that the database also has, and the key that encrypts tenants' secrets.
 */
export function secretsStep(setup: Setup): Step {
  const { project } = setup;
  const place = project.ref === undefined
    ? localSecrets(project.supabaseFolder)
    : hostedSecrets(setup);
  const endpoint = `${project.urlFromDatabase}/functions/v1/logloom-notify`;

  async function plan() {
    const [known, row] = [await place.read(), await readEndpoint(setup)];
    const shared = row.secret ?? randomBytes(32).toString("hex");
    const missing: Record<string, string> = {};
    if (!known.has(notifySecret, shared)) missing[notifySecret] = shared;
    // An existing key stays, because a new one could not decrypt what it encrypted.
    if (!known.has(sealingKey)) missing[sealingKey] = randomBytes(32).toString("base64");
    return { missing, shared, isTold: row.url !== null && row.secret !== null };
  }

  let planned: Awaited<ReturnType<typeof plan>>;
  const isSet = `${notifySecret} and ${sealingKey} are set`;
  return {
    name: "secrets",
    async look() {
      planned = await plan();
      const names = Object.keys(planned.missing);
      if (names.length > 0) return todo(`makes ${names.join(" and ")}${place.where}`);
      return planned.isTold ? done(isSet) : todo("tells the database of logloom-notify");
    },
    async run() {
      const { missing, shared, isTold } = planned;
      // The database is set first. If the run is interrupted, the next one reads the secret from there.
      if (!isTold) {
        await project.query(`update logloom_private.notify_endpoint
          set url = coalesce(url, ${literal(endpoint)}), secret = ${literal(shared)}
          where singleton`);
      }
      if (Object.keys(missing).length > 0) await place.write(missing);
      return done(`${isSet}${place.where}`);
    },
  };
}

async function readEndpoint(
  { project }: Setup,
): Promise<{ url: string | null; secret: string | null }> {
  const [{ is_there }] = await project.query(
    "select to_regclass('logloom_private.notify_endpoint') is not null as is_there",
  );
  if (!is_there) return { url: null, secret: null };
  const [row] = await project.query<{ url: string | null; secret: string | null }>(
    "select url, secret from logloom_private.notify_endpoint",
  );
  return row;
}

interface SecretPlace {
  readonly where: string;
  read(): Promise<{ has(name: string, value?: string): boolean }>;
  write(secrets: Record<string, string>): Promise<void>;
}

const envLines = (secrets: Record<string, string>) =>
  Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`).join("");

function hostedSecrets({ project: { supabase } }: Setup): SecretPlace {
  return {
    where: "",
    async read() {
      const text = await supabase.run(["secrets", "list", "--remote", "--output-format", "json"]);
      const { secrets } = JSON.parse(text) as { secrets: { name: string; value: string }[] };
      // The API returns only the SHA-256 of a value.
      return {
        has: (name, value) =>
          secrets.some((secret) =>
            secret.name === name && (value === undefined || secret.value === digest(value))
          ),
      };
    },
    async write(secrets) {
      await withSecretFile(
        envLines(secrets),
        (file) => supabase.run(["secrets", "set", "--remote", "--yes", "--env-file", file]),
      );
    },
  };
}

function localSecrets(supabaseFolder: string): SecretPlace {
  const path = envFile(supabaseFolder);
  return {
    where: " in supabase/functions/.env, which git should ignore",
    async read() {
      const text = await readIfThere(path);
      return {
        has(name, value) {
          const found = lineOf(name).exec(text)?.[1].replaceAll(/^["']|["']$/g, "");
          return found !== undefined && (value === undefined || found === value);
        },
      };
    },
    async write(secrets) {
      const before = without(await readIfThere(path), Object.keys(secrets));
      await writeFile(`${path}.new`, before + envLines(secrets), { mode: 0o600 });
      // Renaming is atomic: an interruption leaves the old file.
      await rename(`${path}.new`, path);
    },
  };
}

/** Removes Logloom's secrets from a local stack's variables. */
export async function removeLocalSecrets(supabaseFolder: string): Promise<void> {
  const path = envFile(supabaseFolder);
  const text = await readIfThere(path);
  const others = without(text, ownSecrets);
  if (others === "") await rm(path, { force: true });
  else if (others !== text) await writeFile(path, others);
}

const envFile = (supabaseFolder: string) => `${supabaseFolder}/functions/.env`;

const lineOf = (name: string) => new RegExp(`^(?:export )?${name}=(.*)(?:\n|$)`, "m");

const without = (text: string, names: readonly string[]): string => {
  const rest = names.reduce((all, name) => all.replace(lineOf(name), ""), text);
  return rest === "" || rest.endsWith("\n") ? rest : `${rest}\n`;
};

function readIfThere(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error) => {
    if (isMissing(error)) return "";
    throw error;
  });
}
