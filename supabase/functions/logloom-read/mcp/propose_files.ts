import { withEscapes } from "../../_shared/hidden_characters.ts";
import { secretVariables } from "../../_shared/secret_variables.ts";
import * as output from "./output_schemas.ts";
import { isObject, maxAnswer, Refused } from "./tool_answer.ts";
import type { Given, Read, Tool } from "./tool_definition.ts";

/** A thing as preview_tenant_files takes it. */
interface Thing {
  readonly type: string;
  readonly name: string;
  readonly renamed_from?: string;
  readonly fields: Given;
}

/** The member of a file that has the name; `name` for all other types. */
const keys: Readonly<Record<string, string>> = { members: "user_id", silences: "comment" };

/** A sealed text by its form. It opens nowhere, and a preview stores nothing. */
const placeholder = `lls1.proposed.${"A".repeat(38)}`;

const text = { type: "string", maxLength: 2048 };
const types = [
  ...["views", "members", "saved_searches", "alert_rules", "dashboards", "streams"],
  ...["ingest_rules", "silences", "retention_rules"],
];

/** Checks what the assistant wants, and gives the file for it. It never writes. */
export const proposeFiles: Tool = {
  name: "propose_files",
  output: output.proposal,
  title: "Propose changes",
  description: "Writes a YAML file with views, alert rules, dashboards and other things for a " +
    "person to review, and says what would change. Changes nothing: `logloom apply` does, after " +
    "the review. An alert rule has query_dsl, threshold, comparison (gt, gte, lt, lte, eq, neq), " +
    "window_minutes and cooldown_minutes. Name secrets, such as slack_url, but never give values.",
  properties: {
    things: {
      type: "array",
      description:
        "Each as the operation that creates it takes it, without p_. What has the name " +
        "is changed, and a field that is left out gets its default.",
      maxItems: 50,
      items: {
        type: "object",
        properties: {
          type: { enum: types },
          name: text,
          renamed_from: text,
          fields: { type: "object", propertyNames: { pattern: "^[a-z_]+$" } },
        },
        required: ["type", "name", "fields"],
        additionalProperties: false,
      },
    },
  },
  required: ["things"],
  operations: ["preview_tenant_files"],
  async ask({ things }, read) {
    // The schema of the tool checked them.
    const given = things as readonly Thing[];
    if (JSON.stringify(given).includes("\\u0000")) throw new Refused("things has a NUL");
    const yaml = yamlOf(given);
    // The answer has it twice, and needs room for the changes.
    const json = JSON.stringify(yaml);
    if (json.length + JSON.stringify(json).length > maxAnswer * 2 / 3) {
      throw new Refused("The file is too large: propose fewer things.");
    }
    return { yaml, ...await checked(given, read) };
  },
};

async function checked(things: readonly Thing[], read: Read) {
  const p_documents = things.map((thing) => ({
    ...thing,
    fields: isObject(thing.fields.secrets)
      ? { ...thing.fields, secrets: mapped(thing.fields.secrets, () => placeholder) }
      : thing.fields,
  }));
  try {
    const changes = await read("preview_tenant_files", { p_documents }) as { fields: Given }[];
    // Whoever knows a webhook's address can post to it.
    const shown = ({ notification_config: _, config: __, ...fields }: Given) => fields;
    return { changes: changes.map((change) => ({ ...change, fields: shown(change.fields) })) };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const isKey = error.message.startsWith("No such reading operation");
    if (!isKey && error.status !== 403) throw error;
    const reason = isKey ? "An API key only reads" : error.message.split("\n")[0];
    return { changes: null, unchecked: `${reason}. \`logloom diff\` checks the file.` };
  }
}

/** The things as a file. Its items are JSON, which is YAML, too. */
function yamlOf(things: readonly Thing[]): string {
  const variables = secretVariables(things);
  return types.map((type) => {
    const ofType = things.filter((thing) => thing.type === type);
    const items = ofType.flatMap((thing) => itemsOf(thing, variables.get(thing)!));
    if (items.length === 0) return ofType.length === 0 ? "" : `${type}: []\n`;
    return `${type}:\n${items.map((item) => `  - ${json(item)}\n`).join("")}`;
  }).join("");
}

function itemsOf(
  { type, name, renamed_from, fields }: Thing,
  variables: Record<string, string>,
): unknown[] {
  if (type === "retention_rules") {
    const rules = fields.rules ?? [];
    if (!Array.isArray(rules)) throw new Refused("retention_rules: rules is an array");
    return rules;
  }
  const secrets = isObject(fields.secrets)
    ? { secrets: mapped(fields.secrets, (secret) => `\0${variables[secret]}`) }
    : {};
  // Even if fields has a member of this name.
  const identity = { [keys[type] ?? "name"]: name, renamed_from };
  return [{ ...identity, ...fields, ...secrets, ...identity }];
}

/** JSON in which only texts that begin with a NUL are variables. Names of members have no variables. */
function json(item: unknown): string {
  const escaped = (_: string, value: unknown) =>
    typeof value === "string" ? value.replace(/\$(?=\{\w+\})/g, "$$$$") : value;
  const text = JSON.stringify(item, escaped, 2).replaceAll("\n", "\n    ")
    .replace(/"\\u0000(\w+)"/g, '"${$1}"');
  return withEscapes(text);
}

function mapped(members: object, map: (name: string) => string) {
  return Object.fromEntries(Object.keys(members).map((name) => [name, map(name)]));
}
