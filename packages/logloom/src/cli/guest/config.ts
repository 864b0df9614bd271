import { parse, type TomlTable } from "smol-toml";
import { Failure } from "../failure.ts";

/** Our part of a project's config.toml. Two marker lines enclose it, so that a later run can replace it. */
const first = "# >>> Logloom: logloom init writes what stands between these two lines.";
/** Version 1.0.0 named another command. */
const anyFirst = "# >>> Logloom: .+ writes what stands between these two lines\\.";
const last = "# <<< Logloom";

export const ourHook = "pg-functions://postgres/logloom_private/custom_access_token_hook";

export interface ConfigChange {
  text: string;
  /** Changes that the user must make by hand, because the project has its own settings there. */
  advice: string[];
}

/** The project's config.toml with the sections for Logloom's functions and its token hook. */
export function withLogloom(config: string, functions: readonly string[]): ConfigChange {
  const own = withoutLogloom(config).trimEnd();
  const settings = parsed(own);
  const advice: string[] = [];
  const sections = functions.map((name) =>
    `[functions.${name}]\nverify_jwt = false\nimport_map = "./functions/${name}/deno.json"\n`
  );

  const hook = at(settings, "auth", "hook", "custom_access_token");
  if (hook === undefined) {
    sections.push(
      "# Puts the tenant_id claim into every access token of a user who belongs to a tenant.\n" +
        `[auth.hook.custom_access_token]\nenabled = true\nuri = "${ourHook}"\n`,
    );
  } else if (at(hook, "enabled") === false || Object.keys(hook as TomlTable).length === 0) {
    advice.push(
      "[auth.hook.custom_access_token] is switched off. Tokens carry tenant_id once it says " +
        `enabled = true and uri = "${ourHook}".`,
    );
  } else if (at(hook, "uri") !== ourHook) {
    advice.push(
      "The project has an access-token hook of its own: let it call Logloom's, as docs/background/identity.md shows.",
    );
  }
  if (at(settings, "inbucket") !== undefined) {
    advice.push("The Supabase CLI 3 refuses the section [inbucket]: rename it to [local_smtp].");
  }
  const schemas = at(settings, "api", "schemas");
  if (Array.isArray(schemas) && !schemas.includes("public")) {
    advice.push('[api] schemas does not name "public": the operations are functions there.');
  }
  const declared = at(settings, "db", "migrations", "schema_paths");
  if (Array.isArray(declared) && declared.length > 0) {
    advice.push(
      "The project declares its schemas (schema_paths): exclude logloom, logloom_private and names " +
        "with logloom_… from supabase db diff.",
    );
  }
  const lines = config.includes("\r\n") ? "\r\n" : "\n";
  const block = `${first}\n${sections.join("\n")}${last}\n`.replaceAll("\n", lines);
  const text = `${own}${lines}${lines}${block}`;
  try {
    parse(text);
  } catch {
    throw new Failure(
      "Nothing was installed. supabase/config.toml has functions, auth or auth.hook as an inline " +
        "table, { … }, to which Logloom's sections cannot be added: write it as sections of its " +
        "own ([functions.name], [auth.hook.name]), then run this again.",
    );
  }
  return { text, advice };
}

/** The functions that already have a section outside our lines, in any notation. */
export function takenSections(config: string, functions: readonly string[]): string[] {
  const settings = parsed(withoutLogloom(config));
  return functions.filter((name) => at(settings, "functions", name) !== undefined);
}

/** Reads a setting of config.toml by its keys. */
export function settingsOf(config: string): (...keys: string[]) => unknown {
  const settings = parsed(config);
  return (...keys) => at(settings, ...keys);
}

export function withoutLogloom(config: string): string {
  return config.replace(new RegExp(`(?:\\r?\\n)*${anyFirst}[\\s\\S]*?${last}(?:\\r?\\n)?`), "\n");
}

function parsed(config: string): TomlTable {
  try {
    return parse(config);
  } catch (error) {
    throw new Failure(
      `Nothing was installed. supabase/config.toml cannot be read: ${(error as Error).message}`,
    );
  }
}

/** The value at a path of keys, or undefined. */
function at(value: unknown, ...keys: string[]): unknown {
  for (const key of keys) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return value;
}
