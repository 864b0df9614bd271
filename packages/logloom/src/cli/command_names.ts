/** The command or option for an operation or a parameter. Operations without a command are not listed. */
const commands: Readonly<Record<string, string>> = {
  create_api_key: "keys create",
  list_api_keys: "keys list",
  rotate_api_key: "keys rotate",
  revoke_api_key: "keys revoke",
  create_alert_rule: "alerts create",
  list_alert_rules: "alerts list",
  preview_alert_rule: "alerts preview",
  test_alert_rule: "alerts test",
  delete_alert_rule: "alerts delete",
  list_alert_history: "alerts history",
  create_ingest_rule: "rules add",
  list_ingest_rules: "rules list",
  update_ingest_rule: "rules update",
  search_logs: "search",
  log_stats: "stats",
  list_log_fields: "fields",
  tail_logs: "tail",
  export_logs: "search --export",
  p_ts_from: "--since",
  p_ts_to: "--until",
  p_query_dsl: "query",
  p_order: "--oldest",
  p_limit: "--limit",
  p_backlog: "--backlog",
  p_scopes: "--scopes",
  p_view_id: "--view",
  p_expires_at: "--expires-at",
  p_overlap_minutes: "--overlap",
  p_window_minutes: "--window",
  p_cooldown_minutes: "--cooldown",
  p_comparison: "--comparison",
  p_description: "--description",
  p_condition: "--condition",
};

/** Replaces the operations and parameters in a message of the service by commands and options. Quoted text is kept. */
export function inCommands(sentence: string): string {
  return sentence.replace(/p_scopes \["(\w+)"\]/g, "--scopes $1").replace(
    /"[^"]*"|\b[a-z]+_\w+\b/g,
    (word) => commands[word] ?? word.replace(/^p_/, ""),
  );
}
