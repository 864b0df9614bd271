/** What a project's config.toml gains, between these lines, so that a later run can renew it. */
const first = "# >>> Logloom: npm run install-into writes what stands between these two lines.";
const last = "# <<< Logloom";

/** The tables that the project itself has, by the name in their head. */
function tablesOf(toml: string): Map<string, string> {
  const tables = new Map<string, string>();
  for (const part of toml.split(/^(?=\s*\[)/m)) {
    const name = /^\s*\[+\s*([^\]]+?)\s*\]/.exec(part)?.[1];
    if (name) tables.set(name.replaceAll(/["'\s]/g, ""), part);
  }
  return tables;
}

export interface ConfigChange {
  text: string;
  /** What a person has to see to, since the project has settings of its own in that place. */
  advice: string[];
}

/** The project's config.toml with the sections that Logloom's functions and its token hook need. */
export function withLogloom(config: string, functions: readonly string[]): ConfigChange {
  const own = config.replace(new RegExp(`\\n*${first}[\\s\\S]*?${last}\\n?`), "\n").trimEnd() +
    "\n";
  const tables = tablesOf(own);
  const advice: string[] = [];
  const sections = functions.map((name) =>
    `[functions.${name}]\nverify_jwt = false\nimport_map = "./functions/${name}/deno.json"\n`
  );

  const hook = tables.get("auth.hook.custom_access_token");
  if (hook === undefined) {
    sections.push(
      "# Puts the tenant_id claim into every access token of a user who belongs to a tenant.\n" +
        "[auth.hook.custom_access_token]\nenabled = true\n" +
        'uri = "pg-functions://postgres/logloom_private/custom_access_token_hook"\n',
    );
  } else if (!hook.includes("logloom_private/custom_access_token_hook")) {
    advice.push(
      "The project has an access-token hook of its own: let it call Logloom's, as docs/identity.md shows.",
    );
  }
  const schemas = /^\s*schemas\s*=\s*\[([^\]]*)\]/m.exec(tables.get("api") ?? "")?.[1];
  if (schemas !== undefined && !/["']public["']/.test(schemas)) {
    advice.push('[api] schemas does not name "public": the operations are functions there.');
  }
  if (/^\s*schema_paths\s*=\s*\[\s*["']/m.exec(tables.get("db.migrations") ?? "")) {
    advice.push(
      "The project declares its schemas (schema_paths): leave logloom, logloom_private and what is " +
        "named logloom_… out of what supabase db diff makes of them.",
    );
  }
  return { text: `${own}\n${first}\n${sections.join("\n")}${last}\n`, advice };
}

/** The functions' sections that the project has already, outside our lines. */
export function takenSections(config: string, functions: readonly string[]): string[] {
  const own = config.replace(new RegExp(`${first}[\\s\\S]*?${last}`), "");
  const tables = tablesOf(own);
  return functions.filter((name) => tables.has(`functions.${name}`))
    .map((name) => `[functions.${name}] in config.toml`);
}
