interface FileType {
  /** The member that identifies a thing. */
  readonly key: "name" | "user_id";
  /** The edge function that seals its secrets. */
  readonly sealer?: "logloom-notify" | "logloom-stream";
  /** Members and what they are: a type of JSON, or words. */
  readonly fields: Readonly<Record<string, string>>;
}

/** What files can describe: the rows of logloom_private.file_types(), with types for editors. */
export const fileTypes: Readonly<Record<string, FileType>> = {
  views: {
    key: "name",
    fields: { query_dsl: "string", hidden_fields: "array", operations: "array" },
  },
  saved_searches: {
    key: "name",
    fields: {
      ...{ query_dsl: "string", description: "string", category: "string", tags: "array" },
      ...{ display: "object", view: "string" },
    },
  },
  alert_rules: {
    key: "name",
    sealer: "logloom-notify",
    fields: {
      ...{ kind: "query|new_error", description: "string", query_dsl: "string" },
      ...{ threshold: "number", comparison: "gt|gte|lt|lte|eq|neq", window_minutes: "integer" },
      ...{ cooldown_minutes: "integer", enabled: "boolean", notification_destinations: "array" },
      ...{ notification_config: "object", notify_on_recovery: "boolean", for_minutes: "integer" },
      ...{ on_absent: "ignore|fire", group_wait_seconds: "integer", baseline: "object" },
      ...{ secrets: "object", view: "string" },
    },
  },
  dashboards: { key: "name", fields: { panels: "array" } },
  streams: {
    key: "name",
    sealer: "logloom-stream",
    fields: {
      kind: "webhook|otlp|loki|elasticsearch|splunk_hec|datadog|s3",
      ...{ query_dsl: "string", config: "object", source: "logs|audit", enabled: "boolean" },
      ...{ secrets: "object", view: "string" },
    },
  },
  members: { key: "user_id", fields: { role: "viewer|member|admin|owner", view: "string" } },
  ingest_rules: {
    key: "name",
    fields: { condition: "string", action: "object", is_on: "boolean" },
  },
};

/** The JSON Schema of our files, for editors. A variable such as ${LIMIT} may stand for any value. */
export function fileSchema(): Record<string, unknown> {
  const variable = { type: "string", pattern: "^\\$\\{\\w+\\}$" };
  const schemaOf = (what: string) => ({
    anyOf: [what.includes("|") ? { enum: what.split("|") } : { type: what }, variable],
  });
  const lists = Object.entries(fileTypes).map(([type, { key, fields }]) => {
    const members = Object.entries({ [key]: "string", renamed_from: "string", ...fields });
    const properties = Object.fromEntries(members.map(([name, what]) => [name, schemaOf(what)]));
    const items = { type: "object", properties, required: [key], additionalProperties: false };
    return [type, { type: ["array", "null"], items }];
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { tenants: { type: "object" }, ...Object.fromEntries(lists) },
    additionalProperties: false,
  };
}
