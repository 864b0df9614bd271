// Made by types/generate.ts from the database's own description of itself.

import type {
  Alert,
  AlertAddress,
  AlertBaseline,
  AlertDelivery,
  AlertIncident,
  AlertIncidentDetails,
  AlertMatcher,
  AlertPreview,
  AlertRule,
  AlertSilence,
  ApiKey,
  ApiKeyUsage,
  ArchivedFile,
  ArchiveRestore,
  AuditEvent,
  AuditTrailEvent,
  AuditVerdict,
  Channel,
  Comparison,
  CreatedApiKey,
  CreatedPortalSession,
  ErrorGroup,
  ErrorGroupDetails,
  Field,
  FileChange,
  FileDocument,
  Histogram,
  IngestRule,
  IngestRulePreview,
  IngestToken,
  Json,
  LogChanges,
  LogDashboard,
  LogExport,
  LogOverview,
  LogPage,
  LogRecord,
  LogSecretScope,
  LogStream,
  LogStreamFailure,
  LogTail,
  LogTenant,
  LogView,
  Member,
  PlanFeature,
  PortalSession,
  QueryValidity,
  RetentionRun,
  Role,
  SavedSearch,
  SavedSearchRun,
  Scope,
  Series,
  StatRow,
  Success,
  Tenant,
  TenantDeletion,
  TenantSettings,
  Usage,
  WebhookSecret,
} from "./types.ts";

/** The operations by their names, with their parameters and their answers. */
export interface Operations {
  acknowledge_alert: { parameters: { p_alert_id: string }; answer: Success };
  add_tenant_member: {
    parameters: {
      p_email?: string;
      p_role: Role;
      p_tenant_id?: string;
      p_user_id?: string;
      p_view_id?: string;
    };
    answer: Member;
  };
  apply_tenant_files: {
    parameters: { p_documents: FileDocument[]; p_pruned_types?: string[]; p_tenant_id?: string };
    answer: FileChange[];
  };
  check_plan_feature: { parameters: { p_feature: string }; answer: PlanFeature };
  confirm_alert_address: { parameters: { p_code: string; p_email: string }; answer: Success };
  create_alert_rule: {
    parameters: {
      p_baseline?: AlertBaseline;
      p_comparison?: Comparison;
      p_cooldown_minutes?: number;
      p_description?: string;
      p_enabled: boolean;
      p_for_minutes?: number;
      p_group_wait_seconds?: number;
      p_kind?: AlertRule["kind"];
      p_name?: string;
      p_notification_config?: AlertRule["notification_config"];
      p_notification_destinations?: Channel[];
      p_notify_on_recovery?: boolean;
      p_on_absent?: AlertRule["on_absent"];
      p_query_dsl?: string;
      p_saved_search_id?: string;
      p_secrets?: Record<string, string | null>;
      p_tenant_id?: string;
      p_threshold?: number;
      p_view_id?: string;
      p_window_minutes?: number;
    };
    answer: AlertRule;
  };
  create_alert_silence: {
    parameters: {
      p_comment?: string;
      p_from?: string;
      p_matcher: AlertMatcher;
      p_tenant_id?: string;
      p_to: string;
    };
    answer: AlertSilence;
  };
  create_api_key: {
    parameters: {
      p_expires_at?: string;
      p_name: string;
      p_scopes?: Scope[];
      p_tenant_id?: string;
      p_view_id?: string;
    };
    answer: CreatedApiKey;
  };
  create_ingest_rule: {
    parameters: {
      p_action: Json;
      p_condition?: string;
      p_is_on?: boolean;
      p_name: string;
      p_secrets?: Record<string, string | null>;
      p_tenant_id?: string;
    };
    answer: IngestRule;
  };
  create_ingest_token: {
    parameters: { p_expires_in?: number; p_service: string; p_tenant_id?: string };
    answer: IngestToken;
  };
  create_log_dashboard: {
    parameters: { p_is_shared?: boolean; p_name: string; p_panels?: Json };
    answer: LogDashboard;
  };
  create_log_portal_session: {
    parameters: {
      p_customer?: string;
      p_expires_in?: number;
      p_label?: string;
      p_limits?: Json;
      p_link?: boolean;
      p_origins?: string[];
      p_parts?: string[];
      p_query_dsl?: string;
      p_tenant_id?: string;
      p_view_id?: string;
    };
    answer: CreatedPortalSession;
  };
  create_log_stream: {
    parameters: {
      p_config: LogStream["config"];
      p_enabled?: boolean;
      p_kind: LogStream["kind"];
      p_name: string;
      p_query_dsl?: string;
      p_secrets?: Record<string, string | null>;
      p_source?: LogStream["source"];
      p_tenant_id?: string;
      p_view_id?: string;
    };
    answer: LogStream;
  };
  create_log_view: {
    parameters: {
      p_hidden_fields?: string[];
      p_name: string;
      p_operations?: string[];
      p_query_dsl?: string;
      p_tenant_id?: string;
    };
    answer: LogView;
  };
  create_saved_search: {
    parameters: {
      p_category?: string;
      p_description?: string;
      p_display?: Json;
      p_is_shared?: boolean;
      p_name: string;
      p_query_dsl: string;
      p_tags?: string[];
      p_view_id?: string;
    };
    answer: string;
  };
  create_tenant: { parameters: { p_tenant_id: string }; answer: Tenant };
  delete_alert_rule: { parameters: { p_rule_id: string; p_tenant_id?: string }; answer: Success };
  delete_ingest_rule: { parameters: { p_rule_id: string; p_tenant_id?: string }; answer: Success };
  delete_log_dashboard: { parameters: { p_dashboard_id: string }; answer: Success };
  delete_log_stream: { parameters: { p_stream_id: string; p_tenant_id?: string }; answer: Success };
  delete_log_view: { parameters: { p_tenant_id?: string; p_view_id: string }; answer: Success };
  delete_logs: {
    parameters: {
      p_dry_run?: boolean;
      p_query_dsl: string;
      p_ts_from: string;
      p_ts_to: string;
    };
    answer: RetentionRun;
  };
  delete_saved_search: { parameters: { p_id: string }; answer: Success };
  delete_tenant: { parameters: { p_tenant_id: string }; answer: TenantDeletion };
  erase_audit_subject: { parameters: { p_subject?: string; p_tenant_id?: string }; answer: number };
  expire_alert_silence: {
    parameters: { p_silence_id: string; p_tenant_id?: string };
    answer: AlertSilence;
  };
  export_logs: {
    parameters: {
      p_after?: string;
      p_cursor?: string;
      p_format?: string;
      p_order?: "asc" | "desc";
      p_query_dsl?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: LogExport;
  };
  export_tenant_files: {
    parameters: { p_tenant_id?: string; p_types?: string[] };
    answer: FileDocument[];
  };
  get_alert_incident: { parameters: { p_incident_id: string }; answer: AlertIncidentDetails };
  get_alert_rule: { parameters: { p_rule_id: string }; answer: AlertRule };
  get_api_key_usage: {
    parameters: { p_key_id: string; p_tenant_id?: string };
    answer: ApiKeyUsage;
  };
  get_current_tenant: { parameters: { p_tenant_id?: string }; answer: Tenant };
  get_error_group: {
    parameters: { p_fingerprint?: string; p_id?: string; p_ts?: string };
    answer: ErrorGroupDetails;
  };
  get_log: { parameters: { p_id: string; p_ts?: string }; answer: LogRecord };
  get_log_context: {
    parameters: { p_after?: number; p_before?: number; p_id: string; p_ts?: string };
    answer: LogRecord[];
  };
  get_log_dashboard: { parameters: { p_dashboard_id: string }; answer: LogDashboard };
  get_log_secret_scope: { parameters: { p_tenant_id?: string }; answer: LogSecretScope };
  get_log_stream: { parameters: { p_stream_id: string; p_tenant_id?: string }; answer: LogStream };
  get_saved_search: { parameters: { p_id: string }; answer: SavedSearch };
  get_saved_search_categories: { parameters: Record<PropertyKey, never>; answer: string[] };
  get_saved_search_count: { parameters: Record<PropertyKey, never>; answer: number };
  get_tenant_settings: { parameters: { p_tenant_id?: string }; answer: TenantSettings };
  get_tenant_usage: { parameters: { p_months?: number; p_tenant_id?: string }; answer: Usage };
  list_alert_addresses: {
    parameters: { p_after?: string; p_limit?: number };
    answer: AlertAddress[];
  };
  list_alert_deliveries: {
    parameters: {
      p_after?: string;
      p_alert_id?: string;
      p_limit?: number;
      p_rule_id?: string;
    };
    answer: AlertDelivery[];
  };
  list_alert_history: {
    parameters: {
      p_acknowledged?: boolean;
      p_after?: string;
      p_limit?: number;
      p_rule_id?: string;
      p_tenant_id?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: Alert[];
  };
  list_alert_incidents: {
    parameters: {
      p_after?: string;
      p_limit?: number;
      p_rule_id?: string;
      p_state?: AlertIncident["state"] | "unresolved";
      p_tenant_id?: string;
    };
    answer: AlertIncident[];
  };
  list_alert_rules: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: AlertRule[];
  };
  list_alert_silences: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: AlertSilence[];
  };
  list_api_keys: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: ApiKey[];
  };
  list_audit_events: {
    parameters: {
      p_action?: string;
      p_actor?: string;
      p_after?: string;
      p_limit?: number;
      p_source?: string;
      p_target?: string;
      p_tenant_id?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: AuditTrailEvent[];
  };
  list_error_groups: {
    parameters: {
      p_after?: string;
      p_assigned_to?: string;
      p_first_release?: string;
      p_limit?: number;
      p_new_since?: string;
      p_order?: "priority" | "last_seen" | "first_seen" | "records";
      p_service?: string;
      p_state?: ErrorGroup["state"][];
      p_tenant_id?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: ErrorGroup[];
  };
  list_ingest_rules: { parameters: { p_tenant_id?: string }; answer: IngestRule[] };
  list_log_archive: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: ArchivedFile[];
  };
  list_log_archive_restores: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: ArchiveRestore[];
  };
  list_log_dashboards: {
    parameters: { p_after?: string; p_limit?: number };
    answer: LogDashboard[];
  };
  list_log_fields: {
    parameters: {
      p_name?: string;
      p_query_dsl?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: Field[];
  };
  list_log_portal_sessions: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: PortalSession[];
  };
  list_log_retention_runs: {
    parameters: {
      p_after?: string;
      p_kind?: RetentionRun["kind"];
      p_limit?: number;
      p_tenant_id?: string;
    };
    answer: RetentionRun[];
  };
  list_log_stream_failures: {
    parameters: {
      p_after?: string;
      p_limit?: number;
      p_stream_id: string;
      p_tenant_id?: string;
    };
    answer: LogStreamFailure[];
  };
  list_log_streams: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: LogStream[];
  };
  list_log_tenants: { parameters: { p_after?: string; p_limit?: number }; answer: LogTenant[] };
  list_log_views: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: LogView[];
  };
  list_saved_searches: {
    parameters: { include_shared?: boolean; p_after?: string; p_limit?: number };
    answer: SavedSearch[];
  };
  list_tenant_audit_events: {
    parameters: {
      p_action?: string;
      p_after?: string;
      p_limit?: number;
      p_tenant_id?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: AuditEvent[];
  };
  list_tenant_members: {
    parameters: { p_after?: string; p_limit?: number; p_tenant_id?: string };
    answer: Member[];
  };
  log_changes: {
    parameters: {
      p_before_from?: string;
      p_before_to?: string;
      p_limit?: number;
      p_query_dsl?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: LogChanges;
  };
  log_histogram: {
    parameters: {
      p_buckets?: number;
      p_query_dsl?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: Histogram;
  };
  log_overview: {
    parameters: {
      p_limit?: number;
      p_query_dsl?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: LogOverview;
  };
  log_series: {
    parameters: {
      p_buckets?: number;
      p_query_dsl?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: Series;
  };
  log_stats: {
    parameters: {
      p_limit?: number;
      p_query_dsl?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: StatRow[];
  };
  order_ingest_rules: {
    parameters: { p_rule_ids: string[]; p_tenant_id?: string };
    answer: IngestRule[];
  };
  preview_alert_rule: {
    parameters: {
      p_baseline?: AlertBaseline;
      p_comparison?: Comparison;
      p_cooldown_minutes?: number;
      p_for_minutes?: number;
      p_query_dsl?: string;
      p_rule_id?: string;
      p_tenant_id?: string;
      p_threshold?: number;
      p_view_id?: string;
      p_window_minutes?: number;
    };
    answer: AlertPreview;
  };
  preview_ingest_rule: {
    parameters: { p_action: Json; p_condition?: string };
    answer: IngestRulePreview;
  };
  preview_tenant_files: {
    parameters: { p_documents: FileDocument[]; p_pruned_types?: string[]; p_tenant_id?: string };
    answer: FileChange[];
  };
  record_audit_event: {
    parameters: {
      p_action: string;
      p_actor?: string;
      p_context?: Json;
      p_targets?: Json;
      p_tenant_id?: string;
    };
    answer: string;
  };
  remove_tenant_member: {
    parameters: { p_tenant_id?: string; p_user_id: string };
    answer: Success;
  };
  restore_log_archive: {
    parameters: {
      p_from: string;
      p_keep_days?: number;
      p_query_dsl?: string;
      p_tenant_id?: string;
      p_to: string;
    };
    answer: ArchiveRestore;
  };
  retry_alert_delivery: { parameters: { p_delivery_id: string }; answer: AlertDelivery };
  revoke_api_key: { parameters: { p_key_id: string; p_tenant_id?: string }; answer: Success };
  revoke_log_portal_session: {
    parameters: { p_session_id?: string; p_tenant_id?: string };
    answer: Success;
  };
  rotate_alert_webhook_secret: { parameters: { p_rule_id: string }; answer: WebhookSecret };
  rotate_api_key: {
    parameters: {
      p_key_id: string;
      p_overlap_minutes?: number;
      p_tenant_id?: string;
      p_view_id?: string;
    };
    answer: CreatedApiKey;
  };
  run_saved_search: {
    parameters: {
      p_cursor?: string;
      p_id: string;
      p_limit?: number;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: SavedSearchRun;
  };
  search_logs: {
    parameters: {
      p_cursor?: string;
      p_limit?: number;
      p_order?: "asc" | "desc";
      p_query_dsl?: string;
      p_ts_from?: string;
      p_ts_to?: string;
    };
    answer: LogPage;
  };
  set_retention_rules: {
    parameters: {
      p_rules: Partial<TenantSettings["retention_rules"][number]>[];
      p_tenant_id?: string;
    };
    answer: TenantSettings;
  };
  set_tenant_member_role: {
    parameters: {
      p_role: Role;
      p_tenant_id?: string;
      p_user_id: string;
      p_view_id?: string;
    };
    answer: Member;
  };
  switch_log_tenant: { parameters: { p_tenant_id: string }; answer: LogTenant };
  tail_logs: {
    parameters: {
      p_backlog?: number;
      p_cursor?: string;
      p_limit?: number;
      p_query_dsl?: string;
    };
    answer: LogTail;
  };
  test_alert_rule: { parameters: { p_rule_id: string }; answer: AlertDelivery[] };
  test_log_stream: { parameters: { p_stream_id: string; p_tenant_id?: string }; answer: LogStream };
  update_alert_incident: {
    parameters: {
      p_acknowledged?: boolean;
      p_assigned_to?: string;
      p_incident_ids: string[];
      p_note?: string;
    };
    answer: Success;
  };
  update_alert_rule: {
    parameters: {
      p_baseline?: AlertBaseline;
      p_comparison?: Comparison;
      p_cooldown_minutes?: number;
      p_description?: string;
      p_enabled?: boolean;
      p_for_minutes?: number;
      p_group_wait_seconds?: number;
      p_name?: string;
      p_notification_config?: AlertRule["notification_config"];
      p_notification_destinations?: Channel[];
      p_notify_on_recovery?: boolean;
      p_on_absent?: AlertRule["on_absent"];
      p_query_dsl?: string;
      p_rule_id: string;
      p_secrets?: Record<string, string | null>;
      p_tenant_id?: string;
      p_threshold?: number;
      p_view_id?: string;
      p_window_minutes?: number;
    };
    answer: AlertRule;
  };
  update_error_group: {
    parameters: {
      p_assigned_to?: string;
      p_fingerprints: string[];
      p_ignored_until?: string;
      p_merge_into?: string;
      p_note?: string;
      p_release?: string;
      p_state?: "open" | "resolved" | "ignored";
    };
    answer: Success;
  };
  update_ingest_rule: {
    parameters: {
      p_action?: Json;
      p_condition?: string;
      p_is_on?: boolean;
      p_name?: string;
      p_rule_id: string;
      p_secrets?: Record<string, string | null>;
      p_tenant_id?: string;
    };
    answer: IngestRule;
  };
  update_log_dashboard: {
    parameters: {
      p_dashboard_id: string;
      p_is_shared?: boolean;
      p_name?: string;
      p_panels?: Json;
      p_updated_at?: string;
    };
    answer: LogDashboard;
  };
  update_log_stream: {
    parameters: {
      p_config?: LogStream["config"];
      p_enabled?: boolean;
      p_name?: string;
      p_query_dsl?: string;
      p_secrets?: Record<string, string | null>;
      p_stream_id: string;
      p_tenant_id?: string;
      p_view_id?: string;
    };
    answer: LogStream;
  };
  update_log_view: {
    parameters: {
      p_hidden_fields?: string[];
      p_name?: string;
      p_operations?: string[];
      p_query_dsl?: string;
      p_tenant_id?: string;
      p_view_id: string;
    };
    answer: LogView;
  };
  update_saved_search: {
    parameters: {
      p_category?: string;
      p_description?: string;
      p_display?: Json;
      p_id: string;
      p_is_shared?: boolean;
      p_name?: string;
      p_query_dsl?: string;
      p_tags?: string[];
      p_view_id?: string;
    };
    answer: SavedSearch;
  };
  update_tenant_settings: {
    parameters: {
      notification_preferences?: Partial<TenantSettings["notification_preferences"]>;
      p_tenant_id?: string;
      pipeline_config?: Partial<TenantSettings["pipeline_config"]>;
    };
    answer: TenantSettings;
  };
  validate_query: { parameters: { p_query_dsl: string }; answer: QueryValidity };
  verify_audit_trail: {
    parameters: { p_day_from?: string; p_day_to?: string; p_tenant_id?: string };
    answer: AuditVerdict;
  };
}
