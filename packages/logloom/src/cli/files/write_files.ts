import { Document, isMap, parseDocument, type ScalarTag, visit } from "yaml";
import { ExactNumber } from "../../../../../supabase/functions/_shared/exact_numbers.ts";
import {
  hidden,
  withEscapes,
} from "../../../../../supabase/functions/_shared/hidden_characters.ts";
import { secretVariables } from "../../../../../supabase/functions/_shared/secret_variables.ts";
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
  const variables = secretVariables(documents);
  for (const [type, { key, row, fields: known }] of Object.entries(fileTypes)) {
    const items = documents.filter((document) => document.type === type).map((
      document,
    ): Record<string, unknown> => ({
      [key]: escaped(document.name),
      ...Object.fromEntries(
        Object.keys(known).filter((field) => field in document.fields).map((field) => [
          field,
          field === "secrets"
            ? mapped(variables.get(document)!, (variable) => `\${${variable}}`)
            : escaped(document.fields[field]),
        ]),
      ),
    }));
    if (items.length === 0) continue;
    const comment = "# yaml-language-server: $schema=schema.json\n";
    const list = row === undefined ? items : rowsOf(items[0].rules, Object.keys(row));
    files.set(`${type}.yaml`, comment + yamlOf({ [type]: list }));
  }
  files.set("schema.json", `${JSON.stringify(fileSchema(), null, 2)}\n`);
  return files;
}

function mapped(members: Record<string, string>, map: (value: string) => string) {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]));
}

/** Rows with their members in this order. */
function rowsOf(rows: unknown, members: readonly string[]) {
  return (rows as Record<string, Json>[] ?? []).map((row) =>
    Object.fromEntries(members.filter((name) => name in row).map((name) => [name, row[name]]))
  );
}

/** YAML in which hidden characters are escapes. Only texts in double quotes can have these. */
function yamlOf(value: unknown): string {
  const document = new Document(value, { customTags: [exactNumber] });
  visit(document, {
    Scalar(_, scalar) {
      const isHidden = typeof scalar.value === "string" && scalar.value.search(hidden) !== -1;
      if (isHidden) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return withEscapes(document.toString({ lineWidth: 100 }));
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

/** A text of the service that looks like a variable stays a text. Names of members have no variables. */
function escaped(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/\$\{(?=\w+\})/g, (found) => `$${found}`);
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== "object" || value === null || value instanceof ExactNumber) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, escaped(one)]));
}
