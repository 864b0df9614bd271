// npm run migration writes this file from supabase/schemas/foundations/operations.sql.

/** The reading operations. */
export const operations: readonly string[] = [
  "export_logs",
  "get_error_group",
  "get_log",
  "get_log_context",
  "get_tenant_usage",
  "list_alert_history",
  "list_alert_rules",
  "list_audit_events",
  "list_error_groups",
  "list_log_fields",
  "list_saved_searches",
  "log_changes",
  "log_histogram",
  "log_overview",
  "log_series",
  "log_stats",
  "search_logs",
  "tail_logs",
  "validate_query",
];

/** The operations that only portal sessions may call here, if their parts name them. */
export const operationsOfCustomers: readonly string[] = [
  "create_log_stream",
  "delete_log_stream",
  "get_log_secret_scope",
  "get_log_stream",
  "list_log_stream_failures",
  "list_log_streams",
  "test_log_stream",
  "update_log_stream",
];
