interface FileType {
  /** The member that identifies a thing. */
  readonly key: "name" | "user_id" | "comment" | "plan_id";
  /** The edge function that seals its secrets. */
  readonly sealer?: "ingest" | "logloom-notify" | "logloom-stream";
  /** The members of an item, where the list as a whole is one thing with the only field `rules`. */
  readonly row?: Readonly<Record<string, string>>;
  /** Members and what they are: a type of JSON, or words. */
  readonly fields: Readonly<Record<string, string>>;
}

/** What files can describe: the rows of logloom_private.file_types(), with types for editors. */
export const fileTypes: Readonly<Record<string, FileType>> = {
  views: {
    key: "name",
    fields: { query_dsl: "string", hidden_fields: "array", operations: "array" },
  },
  members: { key: "user_id", fields: { role: "viewer|member|admin|owner", view: "string" } },
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
  dashboards: { key: "name", fields: { panels: "array", in_portal: "boolean" } },
  streams: {
    key: "name",
    sealer: "logloom-stream",
    fields: {
      kind: "webhook|otlp|loki|elasticsearch|splunk_hec|datadog|s3",
      ...{ query_dsl: "string", config: "object", source: "logs|audit", enabled: "boolean" },
      ...{ secrets: "object", view: "string" },
    },
  },
  ingest_rules: {
    key: "name",
    sealer: "ingest",
    fields: { condition: "string", action: "object", is_on: "boolean", secrets: "object" },
  },
  silences: {
    key: "comment",
    fields: { rule: "string", group: "object", recurrence: "object" },
  },
  retention_rules: {
    key: "name",
    row: { level: "debug|info|warn|error", service: "string", days: "integer" },
    fields: { rules: "array" },
  },
  plans: {
    key: "plan_id",
    fields: {
      ...{ plan_name: "string", is_default: "boolean", saved_searches: "boolean" },
      ...{ alerts: "boolean", max_span_share: "number" },
      ...Object.fromEntries(
        `monthly_events_limit monthly_bytes_limit events_per_second events_burst requests_per_second
        requests_burst retention_days_default retention_days_max max_saved_searches max_alerts
        concurrent_searches concurrent_scans max_open_deletions max_members max_api_keys
        emails_per_hour webhooks_per_hour max_notification_addresses max_ingest_tokens
        ingest_tokens_per_minute max_portal_sessions portal_requests_per_minute max_views
        max_log_streams max_alert_silences archive_days max_restored_days max_log_dashboards
        max_baseline_rules max_error_groups audit_retention_days audit_events_per_day
        max_ingest_rules`.split(/\s+/).map((limit) => [limit, "integer"]),
      ),
    },
  },
};

/** The types that a tenant has. Plans are the project's. */
export const tenantTypes: readonly string[] = Object.keys(fileTypes).filter((type) =>
  type !== "plans"
);

/** The JSON Schema of our files, for editors. A variable such as ${LIMIT} may stand for any value. */
export function fileSchema(): Record<string, unknown> {
  const variable = { type: "string", pattern: "^\\$\\{\\w+\\}$" };
  const none = { type: "null" };
  const schemaOf = (what: string) => ({
    anyOf: [what.includes("|") ? { enum: what.split("|") } : { type: what }, variable, none],
  });
  const lists = Object.entries(fileTypes).map(([type, { key, row, fields }]) => {
    // A user_id and a plan_id stay.
    const renamed = key.endsWith("_id") ? {} : { renamed_from: "string" };
    const members = row ?? { [key]: "string", ...renamed, ...fields };
    const properties = Object.fromEntries(
      Object.entries(members).map(([name, what]) => [name, schemaOf(what)]),
    );
    const required = row === undefined ? [key] : ["days"];
    const items = { type: "object", properties, required, additionalProperties: false };
    return [type, { type: ["array", "null"], items }];
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { tenants: { type: "object" }, ...Object.fromEntries(lists) },
    additionalProperties: false,
  };
}
