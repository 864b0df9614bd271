import { isMap, parseDocument, type ScalarTag, stringify } from "yaml";
import { ExactNumber } from "../../../../../supabase/functions/_shared/exact_numbers.ts";
import type { FileDocument, Json } from "../../read/types.ts";
import { fileSchema, fileTypes } from "./file_schema.ts";

const exactNumber: ScalarTag = {
  tag: "tag:yaml.org,2002:float",
  default: true,
  identify: (value) => value instanceof ExactNumber,
  resolve: (text) => text,
  stringify: ({ value }) => String(value),
};

/** Returns the files for what a tenant has: a YAML file for each type, and the schema for editors. */
export function filesOf(documents: readonly FileDocument[]): Map<string, string> {
  const files = new Map<string, string>();
  const variables = new Set<string>();
  for (const [type, { key, fields: known }] of Object.entries(fileTypes)) {
    const items = documents.filter((document) => document.type === type).map((
      { name, fields },
    ) => ({
      [key]: escaped(name),
      ...Object.fromEntries(
        Object.keys(known).filter((field) => field in fields).map((field) => [
          field,
          field === "secrets"
            ? variablesFor(name, fields[field], variables)
            : escaped(fields[field]),
        ]),
      ),
    }));
    if (items.length === 0) continue;
    const comment = "# yaml-language-server: $schema=schema.json\n";
    const options = { lineWidth: 100, customTags: [exactNumber] };
    files.set(`${type}.yaml`, comment + stringify({ [type]: items }, options));
  }
  files.set("schema.json", `${JSON.stringify(fileSchema(), null, 2)}\n`);
  return files;
}

/** Returns the present files that are not replaced although they have a pulled type. */
export function filesLeft(
  present: ReadonlyMap<string, string>,
  replaced: ReadonlyMap<string, string>,
  types: readonly string[],
): string[] {
  return [...present.keys()].filter((name) => {
    if (replaced.has(name)) return false;
    const { contents } = parseDocument(present.get(name)!);
    return isMap(contents) && contents.items.some(({ key }) => types.includes(String(key)));
  });
}

/** Secrets become names of environment variables, such as API_ERRORS_SLACK_URL. No name is used twice. */
function variablesFor(name: string, secrets: Json, used: Set<string>): Json {
  return Object.fromEntries(
    Object.keys(secrets as object).map((secret) => {
      const wanted = `${name}_${secret}`.toUpperCase().replace(/\W+/g, "_")
        .replace(/^(?![A-Z])/, "X");
      let variable = wanted;
      for (let n = 2; used.has(variable); n++) variable = `${wanted}_${n}`;
      used.add(variable);
      return [secret, `\${${variable}}`];
    }),
  );
}

/** A text of the service that looks like a variable stays a text. Names of members have no variables. */
function escaped(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/\$\{(?=\w+\})/g, (found) => `$${found}`);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, escaped(one)]));
}
