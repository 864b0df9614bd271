// Made by types/generate.ts from the database's own description of itself.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Database = {
  "public": {
    Tables: {
      [_ in never]: never;
    };
    Views: {
      [_ in never]: never;
    };
    Functions: {
      "acknowledge_alert": {
        Args: { "p_alert_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "add_tenant_member": {
        Args: {
          "p_email"?: string;
          "p_role": string;
          "p_tenant_id"?: string;
          "p_user_id"?: string;
          "p_view_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_member"];
        SetofOptions: RowsOf<"logloom_member", true, false>;
      };
      "apply_tenant_files": {
        Args: { "p_documents": Json; "p_pruned_types"?: (string)[]; "p_tenant_id"?: string };
        Returns: (Database["public"]["CompositeTypes"]["logloom_file_change"])[];
      };
      "check_plan_feature": {
        Args: { "p_feature": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_plan_feature"];
        SetofOptions: RowsOf<"logloom_plan_feature", true, false>;
      };
      "claim_alert_notifications": {
        Args: { "p_limit": number };
        Returns: Database["public"]["CompositeTypes"]["logloom_claimed_notification"][];
        SetofOptions: RowsOf<"logloom_claimed_notification", false, true>;
      };
      "claim_log_archive_work": { Args: Record<PropertyKey, never>; Returns: Json };
      "claim_log_streams": {
        Args: { "p_limit": number };
        Returns: Database["public"]["CompositeTypes"]["logloom_claimed_log_stream"][];
        SetofOptions: RowsOf<"logloom_claimed_log_stream", false, true>;
      };
      "complete_alert_notification": {
        Args: { "p_claim_id": string; "p_notification_id": string };
        Returns: string;
      };
      "confirm_alert_address": { Args: { "p_code": string; "p_email": string }; Returns: Json };
      "create_alert_rule": {
        Args: {
          "p_baseline"?: Json;
          "p_comparison"?: Database["public"]["Enums"]["logloom_alert_comparison"];
          "p_cooldown_minutes"?: number;
          "p_description"?: string;
          "p_enabled": boolean;
          "p_for_minutes"?: number;
          "p_group_wait_seconds"?: number;
          "p_kind"?: string;
          "p_name"?: string;
          "p_notification_config"?: Json;
          "p_notification_destinations"?: (string)[];
          "p_notify_on_recovery"?: boolean;
          "p_on_absent"?: string;
          "p_query_dsl"?: string;
          "p_saved_search_id"?: string;
          "p_secrets"?: Json;
          "p_tenant_id"?: string;
          "p_threshold"?: number;
          "p_view_id"?: string;
          "p_window_minutes"?: number;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_rule"];
        SetofOptions: RowsOf<"logloom_alert_rule", true, false>;
      };
      "create_alert_silence": {
        Args: {
          "p_comment"?: string;
          "p_from"?: string;
          "p_matcher": Json;
          "p_recurrence"?: Json;
          "p_tenant_id"?: string;
          "p_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_silence"];
        SetofOptions: RowsOf<"logloom_alert_silence", true, false>;
      };
      "create_api_key": {
        Args: {
          "p_expires_at"?: string;
          "p_name": string;
          "p_scopes"?: (string)[];
          "p_tenant_id"?: string;
          "p_view_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_created_api_key"];
        SetofOptions: RowsOf<"logloom_created_api_key", true, false>;
      };
      "create_ingest_rule": {
        Args: {
          "p_action": Json;
          "p_condition"?: string;
          "p_is_on"?: boolean;
          "p_name": string;
          "p_secrets"?: Json;
          "p_tenant_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_ingest_rule"];
        SetofOptions: RowsOf<"logloom_ingest_rule", true, false>;
      };
      "create_ingest_token": {
        Args: { "p_expires_in"?: number; "p_service": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_ingest_token"];
        SetofOptions: RowsOf<"logloom_ingest_token", true, false>;
      };
      "create_log_dashboard": {
        Args: {
          "p_in_portal"?: boolean;
          "p_is_shared"?: boolean;
          "p_name": string;
          "p_panels"?: Json;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_dashboard"];
        SetofOptions: RowsOf<"logloom_log_dashboard", true, false>;
      };
      "create_log_portal_session": {
        Args: {
          "p_customer"?: string;
          "p_expires_in"?: number;
          "p_label"?: string;
          "p_limits"?: Json;
          "p_link"?: boolean;
          "p_origins"?: (string)[];
          "p_parts"?: (string)[];
          "p_query_dsl"?: string;
          "p_tenant_id"?: string;
          "p_variables"?: Json;
          "p_view_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_created_portal_session"];
        SetofOptions: RowsOf<"logloom_created_portal_session", true, false>;
      };
      "create_log_stream": {
        Args: {
          "p_config": Json;
          "p_enabled"?: boolean;
          "p_kind": string;
          "p_name": string;
          "p_query_dsl"?: string;
          "p_secrets"?: Json;
          "p_source"?: string;
          "p_tenant_id"?: string;
          "p_view_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_stream"];
        SetofOptions: RowsOf<"logloom_log_stream", true, false>;
      };
      "create_log_view": {
        Args: {
          "p_hidden_fields"?: (string)[];
          "p_name": string;
          "p_operations"?: (string)[];
          "p_query_dsl"?: string;
          "p_tenant_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_view"];
        SetofOptions: RowsOf<"logloom_log_view", true, false>;
      };
      "create_saved_search": {
        Args: {
          "p_category"?: string;
          "p_description"?: string;
          "p_display"?: Json;
          "p_is_shared"?: boolean;
          "p_name": string;
          "p_query_dsl": string;
          "p_tags"?: (string)[];
          "p_view_id"?: string;
        };
        Returns: string;
      };
      "create_tenant": {
        Args: { "p_tenant_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_tenant"];
        SetofOptions: RowsOf<"logloom_tenant", true, false>;
      };
      "delete_alert_rule": {
        Args: { "p_rule_id": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "delete_ingest_rule": {
        Args: { "p_rule_id": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "delete_log_dashboard": {
        Args: { "p_dashboard_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "delete_log_stream": {
        Args: { "p_stream_id": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "delete_log_view": {
        Args: { "p_tenant_id"?: string; "p_view_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "delete_logs": {
        Args: {
          "p_dry_run"?: boolean;
          "p_query_dsl": string;
          "p_ts_from": string;
          "p_ts_to": string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_retention_run"];
        SetofOptions: RowsOf<"logloom_retention_run", true, false>;
      };
      "delete_saved_search": {
        Args: { "p_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "delete_tenant": {
        Args: { "p_tenant_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_tenant_deletion"];
        SetofOptions: RowsOf<"logloom_tenant_deletion", true, false>;
      };
      "erase_audit_subject": {
        Args: { "p_subject"?: string; "p_tenant_id"?: string };
        Returns: number;
      };
      "exchange_platform_logs": { Args: { "p_read": Json }; Returns: Json };
      "expire_alert_silence": {
        Args: { "p_silence_id": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_silence"];
        SetofOptions: RowsOf<"logloom_alert_silence", true, false>;
      };
      "export_logs": {
        Args: {
          "p_after"?: string;
          "p_cursor"?: string;
          "p_format"?: string;
          "p_order"?: string;
          "p_query_dsl"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_export"];
        SetofOptions: RowsOf<"logloom_log_export", true, false>;
      };
      "export_tenant_files": {
        Args: { "p_tenant_id"?: string; "p_types"?: (string)[] };
        Returns: Json;
      };
      "get_alert_incident": {
        Args: { "p_incident_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_incident_details"];
        SetofOptions: RowsOf<"logloom_alert_incident_details", true, false>;
      };
      "get_alert_rule": {
        Args: { "p_rule_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_rule"];
        SetofOptions: RowsOf<"logloom_alert_rule", true, false>;
      };
      "get_api_key_usage": {
        Args: { "p_key_id": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_api_key_usage"];
        SetofOptions: RowsOf<"logloom_api_key_usage", true, false>;
      };
      "get_current_tenant": {
        Args: { "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_tenant"];
        SetofOptions: RowsOf<"logloom_tenant", true, false>;
      };
      "get_error_group": {
        Args: { "p_fingerprint"?: string; "p_id"?: string; "p_ts"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_error_group_details"];
        SetofOptions: RowsOf<"logloom_error_group_details", true, false>;
      };
      "get_log": {
        Args: { "p_id": string; "p_ts"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_record"];
        SetofOptions: RowsOf<"logloom_log_record", true, false>;
      };
      "get_log_context": {
        Args: { "p_after"?: number; "p_before"?: number; "p_id": string; "p_ts"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_record"][];
        SetofOptions: RowsOf<"logloom_log_record", false, true>;
      };
      "get_log_dashboard": {
        Args: { "p_dashboard_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_dashboard"];
        SetofOptions: RowsOf<"logloom_log_dashboard", true, false>;
      };
      "get_log_secret_scope": {
        Args: { "p_purpose"?: string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_secret_scope"];
        SetofOptions: RowsOf<"logloom_log_secret_scope", true, false>;
      };
      "get_log_stream": {
        Args: { "p_stream_id": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_stream"];
        SetofOptions: RowsOf<"logloom_log_stream", true, false>;
      };
      "get_saved_search": {
        Args: { "p_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_saved_search"];
        SetofOptions: RowsOf<"logloom_saved_search", true, false>;
      };
      "get_saved_search_categories": { Args: Record<PropertyKey, never>; Returns: (string)[] };
      "get_saved_search_count": { Args: Record<PropertyKey, never>; Returns: number };
      "get_tenant_settings": {
        Args: { "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_tenant_settings"];
        SetofOptions: RowsOf<"logloom_tenant_settings", true, false>;
      };
      "get_tenant_usage": {
        Args: { "p_months"?: number; "p_services"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_usage"];
        SetofOptions: RowsOf<"logloom_usage", true, false>;
      };
      "health_report": { Args: Record<PropertyKey, never>; Returns: Json };
      "ingest_signer": {
        Args: { "p_key_id"?: string; "p_message"?: string; "p_signature"?: string };
        Returns: Json;
      };
      "ingest_text": { Args: { ""?: string }; Returns: Json };
      "list_alert_addresses": {
        Args: { "p_after"?: string; "p_limit"?: number };
        Returns: Database["public"]["CompositeTypes"]["logloom_notification_address"][];
        SetofOptions: RowsOf<"logloom_notification_address", false, true>;
      };
      "list_alert_deliveries": {
        Args: {
          "p_after"?: string;
          "p_alert_id"?: string;
          "p_limit"?: number;
          "p_rule_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_delivery"][];
        SetofOptions: RowsOf<"logloom_alert_delivery", false, true>;
      };
      "list_alert_history": {
        Args: {
          "p_acknowledged"?: boolean;
          "p_after"?: string;
          "p_limit"?: number;
          "p_rule_id"?: string;
          "p_tenant_id"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_history_entry"][];
        SetofOptions: RowsOf<"logloom_alert_history_entry", false, true>;
      };
      "list_alert_incidents": {
        Args: {
          "p_after"?: string;
          "p_limit"?: number;
          "p_rule_id"?: string;
          "p_state"?: string;
          "p_tenant_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_incident"][];
        SetofOptions: RowsOf<"logloom_alert_incident", false, true>;
      };
      "list_alert_rules": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_rule"][];
        SetofOptions: RowsOf<"logloom_alert_rule", false, true>;
      };
      "list_alert_silences": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_silence"][];
        SetofOptions: RowsOf<"logloom_alert_silence", false, true>;
      };
      "list_api_keys": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_api_key"][];
        SetofOptions: RowsOf<"logloom_api_key", false, true>;
      };
      "list_audit_events": {
        Args: {
          "p_action"?: string;
          "p_actor"?: string;
          "p_after"?: string;
          "p_limit"?: number;
          "p_source"?: string;
          "p_target"?: string;
          "p_tenant_id"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_audit_trail_event"][];
        SetofOptions: RowsOf<"logloom_audit_trail_event", false, true>;
      };
      "list_error_groups": {
        Args: {
          "p_after"?: string;
          "p_assigned_to"?: string;
          "p_first_release"?: string;
          "p_limit"?: number;
          "p_new_since"?: string;
          "p_order"?: string;
          "p_service"?: string;
          "p_state"?: (string)[];
          "p_tenant_id"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_error_group"][];
        SetofOptions: RowsOf<"logloom_error_group", false, true>;
      };
      "list_ingest_rules": {
        Args: { "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_ingest_rule"][];
        SetofOptions: RowsOf<"logloom_ingest_rule", false, true>;
      };
      "list_log_archive": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_archive_part"][];
        SetofOptions: RowsOf<"logloom_archive_part", false, true>;
      };
      "list_log_archive_restores": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_archive_restore"][];
        SetofOptions: RowsOf<"logloom_archive_restore", false, true>;
      };
      "list_log_dashboards": {
        Args: { "p_after"?: string; "p_limit"?: number };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_dashboard"][];
        SetofOptions: RowsOf<"logloom_log_dashboard", false, true>;
      };
      "list_log_fields": {
        Args: {
          "p_name"?: string;
          "p_query_dsl"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_field"][];
        SetofOptions: RowsOf<"logloom_log_field", false, true>;
      };
      "list_log_portal_sessions": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_portal_session"][];
        SetofOptions: RowsOf<"logloom_portal_session", false, true>;
      };
      "list_log_retention_runs": {
        Args: { "p_after"?: string; "p_kind"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_retention_run"][];
        SetofOptions: RowsOf<"logloom_retention_run", false, true>;
      };
      "list_log_stream_failures": {
        Args: {
          "p_after"?: string;
          "p_limit"?: number;
          "p_stream_id": string;
          "p_tenant_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_stream_failure"][];
        SetofOptions: RowsOf<"logloom_log_stream_failure", false, true>;
      };
      "list_log_streams": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_stream"][];
        SetofOptions: RowsOf<"logloom_log_stream", false, true>;
      };
      "list_log_tenants": {
        Args: { "p_after"?: string; "p_limit"?: number };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_tenant"][];
        SetofOptions: RowsOf<"logloom_log_tenant", false, true>;
      };
      "list_log_views": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_view"][];
        SetofOptions: RowsOf<"logloom_log_view", false, true>;
      };
      "list_portal_things": {
        Args: {
          "p_after"?: string;
          "p_customer"?: string;
          "p_limit"?: number;
          "p_tenant_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_portal_thing"][];
        SetofOptions: RowsOf<"logloom_portal_thing", false, true>;
      };
      "list_saved_searches": {
        Args: { "include_shared"?: boolean; "p_after"?: string; "p_limit"?: number };
        Returns: Database["public"]["CompositeTypes"]["logloom_saved_search"][];
        SetofOptions: RowsOf<"logloom_saved_search", false, true>;
      };
      "list_tenant_audit_events": {
        Args: {
          "p_action"?: string;
          "p_after"?: string;
          "p_limit"?: number;
          "p_tenant_id"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_audit_event"][];
        SetofOptions: RowsOf<"logloom_audit_event", false, true>;
      };
      "list_tenant_members": {
        Args: { "p_after"?: string; "p_limit"?: number; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_member"][];
        SetofOptions: RowsOf<"logloom_member", false, true>;
      };
      "list_unsealed_alert_secrets": {
        Args: { "p_after"?: string; "p_key_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_unsealed_secret"][];
        SetofOptions: RowsOf<"logloom_unsealed_secret", false, true>;
      };
      "log_changes": {
        Args: {
          "p_before_from"?: string;
          "p_before_to"?: string;
          "p_limit"?: number;
          "p_query_dsl"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_changes"];
        SetofOptions: RowsOf<"logloom_log_changes", true, false>;
      };
      "log_histogram": {
        Args: {
          "p_buckets"?: number;
          "p_query_dsl"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_histogram"];
        SetofOptions: RowsOf<"logloom_log_histogram", true, false>;
      };
      "log_overview": {
        Args: {
          "p_limit"?: number;
          "p_query_dsl"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_overview"];
        SetofOptions: RowsOf<"logloom_log_overview", true, false>;
      };
      "log_series": {
        Args: {
          "p_buckets"?: number;
          "p_query_dsl"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_series_answer"];
        SetofOptions: RowsOf<"logloom_log_series_answer", true, false>;
      };
      "log_stats": {
        Args: {
          "p_limit"?: number;
          "p_query_dsl"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_stat"][];
        SetofOptions: RowsOf<"logloom_log_stat", false, true>;
      };
      "match_log_archive": { Args: { "p_claim_id": string; "p_records": Json }; Returns: Json };
      "open_log_portal_session": {
        Args: { "p_code_digest": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_opened_portal_session"];
        SetofOptions: RowsOf<"logloom_opened_portal_session", true, false>;
      };
      "order_ingest_rules": {
        Args: { "p_rule_ids": (string)[]; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_ingest_rule"][];
        SetofOptions: RowsOf<"logloom_ingest_rule", false, true>;
      };
      "preview_alert_rule": {
        Args: {
          "p_baseline"?: Json;
          "p_comparison"?: Database["public"]["Enums"]["logloom_alert_comparison"];
          "p_cooldown_minutes"?: number;
          "p_for_minutes"?: number;
          "p_query_dsl"?: string;
          "p_rule_id"?: string;
          "p_tenant_id"?: string;
          "p_threshold"?: number;
          "p_view_id"?: string;
          "p_window_minutes"?: number;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_preview"];
        SetofOptions: RowsOf<"logloom_alert_preview", true, false>;
      };
      "preview_ingest_rule": {
        Args: { "p_action": Json; "p_condition"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_ingest_rule_preview"];
        SetofOptions: RowsOf<"logloom_ingest_rule_preview", true, false>;
      };
      "preview_tenant_files": {
        Args: { "p_documents": Json; "p_pruned_types"?: (string)[]; "p_tenant_id"?: string };
        Returns: (Database["public"]["CompositeTypes"]["logloom_file_change"])[];
      };
      "read_log_stream_batch": {
        Args: { "p_claim_id": string; "p_stream_id": string };
        Returns: Json;
      };
      "read_logs": {
        Args: {
          "p_key_digest"?: string;
          "p_operation"?: string;
          "p_origin"?: string;
          "p_parameters"?: Json;
        };
        Returns: Json;
      };
      "record_audit_event": {
        Args: {
          "p_action": string;
          "p_actor"?: string;
          "p_context"?: Json;
          "p_targets"?: Json;
          "p_tenant_id"?: string;
        };
        Returns: string;
      };
      "remove_tenant_member": {
        Args: { "p_tenant_id"?: string; "p_user_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "restore_log_archive": {
        Args: {
          "p_from": string;
          "p_keep_days"?: number;
          "p_query_dsl"?: string;
          "p_tenant_id"?: string;
          "p_to": string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_archive_restore"];
        SetofOptions: RowsOf<"logloom_archive_restore", true, false>;
      };
      "retry_alert_delivery": {
        Args: { "p_delivery_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_delivery"];
        SetofOptions: RowsOf<"logloom_alert_delivery", true, false>;
      };
      "revoke_api_key": {
        Args: { "p_key_id": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "revoke_log_portal_session": {
        Args: { "p_session_id"?: string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "revoke_portal_customer": {
        Args: { "p_customer": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_revoked_customer"];
        SetofOptions: RowsOf<"logloom_revoked_customer", true, false>;
      };
      "rotate_alert_webhook_secret": {
        Args: { "p_rule_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_webhook_secret"];
        SetofOptions: RowsOf<"logloom_webhook_secret", true, false>;
      };
      "rotate_api_key": {
        Args: {
          "p_key_id": string;
          "p_overlap_minutes"?: number;
          "p_tenant_id"?: string;
          "p_view_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_created_api_key"];
        SetofOptions: RowsOf<"logloom_created_api_key", true, false>;
      };
      "run_saved_search": {
        Args: {
          "p_cursor"?: string;
          "p_id": string;
          "p_limit"?: number;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_saved_search_run"];
        SetofOptions: RowsOf<"logloom_saved_search_run", true, false>;
      };
      "run_writer": {
        Args: Record<PropertyKey, never>;
        Returns: Database["public"]["CompositeTypes"]["logloom_writer_run"];
        SetofOptions: RowsOf<"logloom_writer_run", true, false>;
      };
      "seal_alert_secret": {
        Args: { "p_digest": string; "p_rule_id": string; "p_sealed": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "search_logs": {
        Args: {
          "p_cursor"?: string;
          "p_limit"?: number;
          "p_order"?: string;
          "p_query_dsl"?: string;
          "p_ts_from"?: string;
          "p_ts_to"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_page"];
        SetofOptions: RowsOf<"logloom_log_page", true, false>;
      };
      "set_log_plans": {
        Args: { "p_deleted_ids"?: (string)[]; "p_dry_run"?: boolean; "p_plans"?: Json };
        Returns: Json;
      };
      "set_retention_rules": {
        Args: { "p_rules": Json; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_tenant_settings"];
        SetofOptions: RowsOf<"logloom_tenant_settings", true, false>;
      };
      "set_tenant_member_role": {
        Args: {
          "p_role": string;
          "p_tenant_id"?: string;
          "p_user_id": string;
          "p_view_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_member"];
        SetofOptions: RowsOf<"logloom_member", true, false>;
      };
      "settle_alert_notification": {
        Args: {
          "p_claim_id": string;
          "p_error"?: string;
          "p_notification_id": string;
          "p_outcome": string;
          "p_retry_after"?: number;
          "p_status"?: number;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "settle_log_archive_work": {
        Args: { "p_claim_id": string; "p_details"?: Json; "p_error"?: string; "p_records"?: Json };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "settle_log_stream_batch": {
        Args: {
          "p_answer"?: string;
          "p_batch_id": string;
          "p_claim_id": string;
          "p_error"?: string;
          "p_outcome": string;
          "p_refused"?: Json;
          "p_rejected"?: number;
          "p_release"?: boolean;
          "p_retry_after"?: number;
          "p_secrets"?: Json;
          "p_status"?: number;
          "p_stream_id": string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_stream_settlement"];
        SetofOptions: RowsOf<"logloom_stream_settlement", true, false>;
      };
      "switch_log_tenant": {
        Args: { "p_tenant_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_tenant"];
        SetofOptions: RowsOf<"logloom_log_tenant", true, false>;
      };
      "tail_logs": {
        Args: {
          "p_backlog"?: number;
          "p_cursor"?: string;
          "p_limit"?: number;
          "p_query_dsl"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_tail"];
        SetofOptions: RowsOf<"logloom_log_tail", true, false>;
      };
      "test_alert_rule": {
        Args: { "p_rule_id": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_delivery"][];
        SetofOptions: RowsOf<"logloom_alert_delivery", false, true>;
      };
      "test_log_stream": {
        Args: { "p_stream_id": string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_stream"];
        SetofOptions: RowsOf<"logloom_log_stream", true, false>;
      };
      "update_alert_incident": {
        Args: {
          "p_acknowledged"?: boolean;
          "p_assigned_to"?: string;
          "p_incident_ids"?: (string)[];
          "p_note"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "update_alert_rule": {
        Args: {
          "p_baseline"?: Json;
          "p_comparison"?: Database["public"]["Enums"]["logloom_alert_comparison"];
          "p_cooldown_minutes"?: number;
          "p_description"?: string;
          "p_enabled"?: boolean;
          "p_for_minutes"?: number;
          "p_group_wait_seconds"?: number;
          "p_name"?: string;
          "p_notification_config"?: Json;
          "p_notification_destinations"?: (string)[];
          "p_notify_on_recovery"?: boolean;
          "p_on_absent"?: string;
          "p_query_dsl"?: string;
          "p_rule_id": string;
          "p_secrets"?: Json;
          "p_tenant_id"?: string;
          "p_threshold"?: number;
          "p_view_id"?: string;
          "p_window_minutes"?: number;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_alert_rule"];
        SetofOptions: RowsOf<"logloom_alert_rule", true, false>;
      };
      "update_error_group": {
        Args: {
          "p_assigned_to"?: string;
          "p_fingerprints": (string)[];
          "p_ignored_until"?: string;
          "p_merge_into"?: string;
          "p_note"?: string;
          "p_release"?: string;
          "p_state"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_success"];
        SetofOptions: RowsOf<"logloom_success", true, false>;
      };
      "update_ingest_rule": {
        Args: {
          "p_action"?: Json;
          "p_condition"?: string;
          "p_is_on"?: boolean;
          "p_name"?: string;
          "p_rule_id": string;
          "p_secrets"?: Json;
          "p_tenant_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_ingest_rule"];
        SetofOptions: RowsOf<"logloom_ingest_rule", true, false>;
      };
      "update_log_dashboard": {
        Args: {
          "p_dashboard_id": string;
          "p_in_portal"?: boolean;
          "p_is_shared"?: boolean;
          "p_name"?: string;
          "p_panels"?: Json;
          "p_updated_at"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_dashboard"];
        SetofOptions: RowsOf<"logloom_log_dashboard", true, false>;
      };
      "update_log_stream": {
        Args: {
          "p_config"?: Json;
          "p_enabled"?: boolean;
          "p_name"?: string;
          "p_query_dsl"?: string;
          "p_secrets"?: Json;
          "p_stream_id": string;
          "p_tenant_id"?: string;
          "p_view_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_stream"];
        SetofOptions: RowsOf<"logloom_log_stream", true, false>;
      };
      "update_log_view": {
        Args: {
          "p_hidden_fields"?: (string)[];
          "p_name"?: string;
          "p_operations"?: (string)[];
          "p_query_dsl"?: string;
          "p_tenant_id"?: string;
          "p_view_id": string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_log_view"];
        SetofOptions: RowsOf<"logloom_log_view", true, false>;
      };
      "update_saved_search": {
        Args: {
          "p_category"?: string;
          "p_description"?: string;
          "p_display"?: Json;
          "p_id": string;
          "p_is_shared"?: boolean;
          "p_name"?: string;
          "p_query_dsl"?: string;
          "p_tags"?: (string)[];
          "p_view_id"?: string;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_saved_search"];
        SetofOptions: RowsOf<"logloom_saved_search", true, false>;
      };
      "update_tenant_settings": {
        Args: {
          "notification_preferences"?: Json;
          "p_tenant_id"?: string;
          "pipeline_config"?: Json;
        };
        Returns: Database["public"]["CompositeTypes"]["logloom_tenant_settings"];
        SetofOptions: RowsOf<"logloom_tenant_settings", true, false>;
      };
      "validate_query": {
        Args: { "p_query_dsl": string };
        Returns: Database["public"]["CompositeTypes"]["logloom_query_validity"];
        SetofOptions: RowsOf<"logloom_query_validity", true, false>;
      };
      "verify_audit_trail": {
        Args: { "p_day_from"?: string; "p_day_to"?: string; "p_tenant_id"?: string };
        Returns: Database["public"]["CompositeTypes"]["logloom_audit_verdict"];
        SetofOptions: RowsOf<"logloom_audit_verdict", true, false>;
      };
    };
    Enums: {
      "logloom_alert_comparison": "gt" | "gte" | "lt" | "lte" | "eq" | "neq";
    };
    CompositeTypes: {
      "logloom_alert_delivery": {
        "delivery_id": string | null;
        "alert_id": string | null;
        "rule_id": string | null;
        "channel": "email" | "webhook" | "slack" | "discord" | "teams" | "pagerduty" | null;
        "status": "pending" | "delivered" | "failed" | null;
        "attempts": number | null;
        "created_at": string | null;
        "last_attempt_at": string | null;
        "next_attempt_at": string | null;
        "delivered_at": string | null;
        "last_status": number | null;
        "last_error": string | null;
        "purpose": string | null;
        "gives_up_at": string | null;
      };
      "logloom_alert_history_entry": {
        "alert_id": string | null;
        "rule_id": string | null;
        "tenant_id": string | null;
        "triggered_at": string | null;
        "value": number | null;
        "threshold": number | null;
        "acknowledged": boolean | null;
        "acknowledged_at": string | null;
        "acknowledged_by": string | null;
        "notification_sent": boolean | null;
        "notification_sent_at": string | null;
        "notification_channels": (string)[] | null;
        "notification_error": string | null;
        "window_start": string | null;
        "window_end": string | null;
        "group": Json | null;
        "incident_id": string | null;
        "resolved_at": string | null;
        "silence_id": string | null;
        "absent": boolean | null;
      };
      "logloom_alert_incident": {
        "incident_id": string | null;
        "tenant_id": string | null;
        "rule_id": string | null;
        "rule_name": string | null;
        "query_dsl": string | null;
        "window_minutes": number | null;
        "group": Json | null;
        "state": "resolved" | "acknowledged" | "open" | null;
        "opened_at": string | null;
        "last_fired_at": string | null;
        "resolved_at": string | null;
        "resolution":
          | "recovered"
          | "still_absent"
          | "rule_changed"
          | "rule_disabled"
          | "rule_deleted"
          | null;
        "fired_count": number | null;
        "value": number | null;
        "peak_value": number | null;
        "threshold": number | null;
        "comparison": Database["public"]["Enums"]["logloom_alert_comparison"] | null;
        "acknowledged_at": string | null;
        "acknowledged_by": string | null;
        "assigned_at": string | null;
        "assigned_by": string | null;
        "assigned_to": string | null;
        "noted_at": string | null;
        "noted_by": string | null;
        "note": string | null;
      };
      "logloom_alert_incident_details": {
        "incident_id": string | null;
        "tenant_id": string | null;
        "rule_id": string | null;
        "rule_name": string | null;
        "query_dsl": string | null;
        "window_minutes": number | null;
        "group": Json | null;
        "state": "resolved" | "acknowledged" | "open" | null;
        "opened_at": string | null;
        "last_fired_at": string | null;
        "resolved_at": string | null;
        "resolution":
          | "recovered"
          | "still_absent"
          | "rule_changed"
          | "rule_disabled"
          | "rule_deleted"
          | null;
        "fired_count": number | null;
        "value": number | null;
        "peak_value": number | null;
        "threshold": number | null;
        "comparison": Database["public"]["Enums"]["logloom_alert_comparison"] | null;
        "acknowledged_at": string | null;
        "acknowledged_by": string | null;
        "alerts": (Database["public"]["CompositeTypes"]["logloom_alert_history_entry"])[] | null;
        "deliveries": (Database["public"]["CompositeTypes"]["logloom_alert_delivery"])[] | null;
        "assigned_at": string | null;
        "assigned_by": string | null;
        "assigned_to": string | null;
        "noted_at": string | null;
        "noted_by": string | null;
        "note": string | null;
      };
      "logloom_alert_preview": {
        "ts_from": string | null;
        "ts_to": string | null;
        "step_minutes": number | null;
        "alerts": (Database["public"]["CompositeTypes"]["logloom_alert_preview_entry"])[] | null;
        "series": (Database["public"]["CompositeTypes"]["logloom_alert_preview_point"])[] | null;
        "total_alerts": number | null;
        "groups": (Database["public"]["CompositeTypes"]["logloom_alert_preview_group"])[] | null;
        "total_groups": number | null;
        "crowded_windows": number | null;
        "band": (Database["public"]["CompositeTypes"]["logloom_alert_preview_band"])[] | null;
      };
      "logloom_alert_preview_band": {
        "ts": string | null;
        "usual": number | null;
        "threshold": number | null;
      };
      "logloom_alert_preview_entry": {
        "window_start": string | null;
        "window_end": string | null;
        "value": number | null;
        "group": Json | null;
      };
      "logloom_alert_preview_group": {
        "group": Json | null;
        "alerts": number | null;
        "series": (Database["public"]["CompositeTypes"]["logloom_alert_preview_point"])[] | null;
        "band": (Database["public"]["CompositeTypes"]["logloom_alert_preview_band"])[] | null;
      };
      "logloom_alert_preview_point": {
        "ts": string | null;
        "value": number | null;
      };
      "logloom_alert_rule": {
        "rule_id": string | null;
        "tenant_id": string | null;
        "name": string | null;
        "description": string | null;
        "query_dsl": string | null;
        "threshold": number | null;
        "comparison": Database["public"]["Enums"]["logloom_alert_comparison"] | null;
        "window_minutes": number | null;
        "cooldown_minutes": number | null;
        "enabled": boolean | null;
        "notification_destinations": (string)[] | null;
        "notification_config": Json | null;
        "created_at": string | null;
        "updated_at": string | null;
        "last_evaluated_at": string | null;
        "last_value": number | null;
        "last_error": string | null;
        "view_id": string | null;
        "notify_on_recovery": boolean | null;
        "for_minutes": number | null;
        "on_absent": "ignore" | "fire" | null;
        "group_wait_seconds": number | null;
        "notification_secrets": Json | null;
        "baseline": Json | null;
        "customer": string | null;
        "held_at": string | null;
        "kind": string | null;
        "late_seconds": number | null;
        "paused_at": string | null;
      };
      "logloom_alert_silence": {
        "silence_id": string | null;
        "tenant_id": string | null;
        "matcher": Json | null;
        "starts_at": string | null;
        "ends_at": string | null;
        "state": "expired" | "scheduled" | "active" | null;
        "comment": string | null;
        "created_by": string | null;
        "created_at": string | null;
        "expired_at": string | null;
        "expired_by": string | null;
        "recurrence": Json | null;
      };
      "logloom_api_key": {
        "key_id": string | null;
        "tenant_id": string | null;
        "name": string | null;
        "key_prefix": string | null;
        "scopes": (string)[] | null;
        "status": "revoked" | "expired" | "active" | null;
        "created_at": string | null;
        "last_used_at": string | null;
        "expires_at": string | null;
        "revoked_at": string | null;
        "view_id": string | null;
      };
      "logloom_api_key_usage": {
        "key_id": string | null;
        "name": string | null;
        "created_at": string | null;
        "last_used_at": string | null;
        "days_since_creation": number | null;
        "days_since_last_use": number | null;
        "reads": (Database["public"]["CompositeTypes"]["logloom_key_reads"])[] | null;
      };
      "logloom_archive_part": {
        "part_id": string | null;
        "tenant_id": string | null;
        "first_day": string | null;
        "last_day": string | null;
        "ts_from": string | null;
        "ts_to": string | null;
        "records": number | null;
        "bytes": number | null;
        "status": string | null;
        "verified_at": string | null;
        "bucket": string | null;
        "key": string | null;
        "sha256": string | null;
      };
      "logloom_archive_restore": {
        "restore_id": string | null;
        "tenant_id": string | null;
        "requested_by": string | null;
        "requested_at": string | null;
        "ts_from": string | null;
        "ts_to": string | null;
        "query_dsl": string | null;
        "kept_until": string | null;
        "status": "queued" | "running" | "done" | "failed" | null;
        "files": number | null;
        "files_done": number | null;
        "records": number | null;
        "bytes": number | null;
        "finished_at": string | null;
        "error": string | null;
      };
      "logloom_audit_event": {
        "event_id": string | null;
        "tenant_id": string | null;
        "occurred_at": string | null;
        "actor": string | null;
        "action": string | null;
        "subject": string | null;
        "details": Json | null;
        "client_id": string | null;
      };
      "logloom_audit_trail_event": {
        "event_id": string | null;
        "tenant_id": string | null;
        "occurred_at": string | null;
        "source": "app" | "logloom" | null;
        "actor": string | null;
        "action": string | null;
        "targets": Json | null;
        "context": Json | null;
        "client_id": string | null;
        "day": string | null;
        "position": number | null;
        "erased_at": string | null;
      };
      "logloom_audit_verdict": {
        "events": number | null;
        "erased": number | null;
        "day_from": string | null;
        "day_to": string | null;
        "digest": string | null;
        "fault": string | null;
        "fault_day": string | null;
        "fault_position": number | null;
        "fault_event_id": string | null;
        "next_day": string | null;
      };
      "logloom_claimed_log_stream": {
        "stream_id": string | null;
        "claim_id": string | null;
        "tenant_id": string | null;
      };
      "logloom_claimed_notification": {
        "notification_id": string | null;
        "claim_id": string | null;
        "channel": string | null;
        "address": string | null;
        "body": string | null;
        "secrets": (string)[] | null;
        "tenant_id": string | null;
        "rule_id": string | null;
        "template": Json | null;
        "is_complete": boolean | null;
        "customer": string | null;
      };
      "logloom_created_api_key": {
        "key_id": string | null;
        "tenant_id": string | null;
        "name": string | null;
        "key_prefix": string | null;
        "key_value": string | null;
        "scopes": (string)[] | null;
        "status": "revoked" | "expired" | "active" | null;
        "created_at": string | null;
        "expires_at": string | null;
        "view_id": string | null;
      };
      "logloom_created_portal_session": {
        "session_id": string | null;
        "token": string | null;
        "url": string | null;
        "expires_at": string | null;
      };
      "logloom_error_count": {
        "at": string | null;
        "records": number | null;
      };
      "logloom_error_frame": {
        "line": string | null;
        "is_own": boolean | null;
      };
      "logloom_error_group": {
        "fingerprint": string | null;
        "tenant_id": string | null;
        "service": string | null;
        "error_type": string | null;
        "title": string | null;
        "state": string | null;
        "first_seen": string | null;
        "last_seen": string | null;
        "records": number | null;
        "users": number | null;
        "first_release": string | null;
        "last_release": string | null;
        "assigned_to": string | null;
        "note": string | null;
        "ignored_until": string | null;
        "resolved_at": string | null;
        "resolved_release": string | null;
        "hours": (number)[] | null;
      };
      "logloom_error_group_details": {
        "group": Database["public"]["CompositeTypes"]["logloom_error_group"] | null;
        "hours": (Database["public"]["CompositeTypes"]["logloom_error_count"])[] | null;
        "days": (Database["public"]["CompositeTypes"]["logloom_error_count"])[] | null;
        "stack": (Database["public"]["CompositeTypes"]["logloom_error_frame"])[] | null;
        "releases": (Database["public"]["CompositeTypes"]["logloom_error_release"])[] | null;
        "tags": (Database["public"]["CompositeTypes"]["logloom_error_tag"])[] | null;
        "newest": (Database["public"]["CompositeTypes"]["logloom_log_record"])[] | null;
        "sampled_records": number | null;
        "merged": (string)[] | null;
      };
      "logloom_error_release": {
        "release": string | null;
        "first_seen": string | null;
        "last_seen": string | null;
        "records": number | null;
      };
      "logloom_error_tag": {
        "field": string | null;
        "value": string | null;
        "share": number | null;
        "share_of_others": number | null;
      };
      "logloom_file_change": {
        "action": string | null;
        "type": string | null;
        "name": string | null;
        "renamed_from": string | null;
        "fields": Json | null;
      };
      "logloom_ingest_rule": {
        "rule_id": string | null;
        "tenant_id": string | null;
        "position": number | null;
        "name": string | null;
        "condition": string | null;
        "action": Json | null;
        "is_on": boolean | null;
        "created_by": string | null;
        "created_at": string | null;
        "updated_at": string | null;
      };
      "logloom_ingest_rule_hour": {
        "rule_id": string | null;
        "hour": string | null;
        "seen": number | null;
        "matched": number | null;
        "masked": number | null;
        "dropped": number | null;
        "sampled": number | null;
        "not_checked": number | null;
        "bytes": number | null;
      };
      "logloom_ingest_rule_preview": {
        "seen": number | null;
        "matched": number | null;
        "rule": Json | null;
        "examples": (Database["public"]["CompositeTypes"]["logloom_log_record"])[] | null;
      };
      "logloom_ingest_token": {
        "token": string | null;
        "expires_at": string | null;
        "service": string | null;
      };
      "logloom_key_reads": {
        "operation": string | null;
        "day": string | null;
        "reads": number | null;
      };
      "logloom_log_bucket": {
        "ts": string | null;
        "count": number | null;
        "levels": Database["public"]["CompositeTypes"]["logloom_log_level_counts"] | null;
      };
      "logloom_log_change": {
        "kind": string | null;
        "field": string | null;
        "value": string | null;
        "before": number | null;
        "after": number | null;
        "change": string | null;
        "score": number | null;
      };
      "logloom_log_changes": {
        "ts_from": string | null;
        "ts_to": string | null;
        "before_from": string | null;
        "records": number | null;
        "records_before": number | null;
        "changes": (Database["public"]["CompositeTypes"]["logloom_log_change"])[] | null;
        "warnings": (Database["public"]["CompositeTypes"]["logloom_query_warning"])[] | null;
        "before_to": string | null;
      };
      "logloom_log_dashboard": {
        "dashboard_id": string | null;
        "tenant_id": string | null;
        "name": string | null;
        "is_shared": boolean | null;
        "panels": (Database["public"]["CompositeTypes"]["logloom_log_panel"])[] | null;
        "created_by": string | null;
        "created_at": string | null;
        "updated_at": string | null;
        "in_portal": boolean | null;
        "variables": Json | null;
      };
      "logloom_log_export": {
        "text": string | null;
        "records": number | null;
        "cursor": string | null;
        "next_cursor": string | null;
        "logs": Json | null;
      };
      "logloom_log_field": {
        "field": string | null;
        "type": string | null;
        "count": number | null;
        "values": (Database["public"]["CompositeTypes"]["logloom_log_field_value"])[] | null;
        "exact": boolean | null;
        "records": number | null;
      };
      "logloom_log_field_value": {
        "value": string | null;
        "count": number | null;
      };
      "logloom_log_histogram": {
        "interval_seconds": number | null;
        "total": number | null;
        "buckets": (Database["public"]["CompositeTypes"]["logloom_log_bucket"])[] | null;
      };
      "logloom_log_level_counts": {
        "debug": number | null;
        "info": number | null;
        "warn": number | null;
        "error": number | null;
        "none": number | null;
      };
      "logloom_log_overview": {
        "ts_from": string | null;
        "ts_to": string | null;
        "before_from": string | null;
        "before_to": string | null;
        "total_services": number | null;
        "services": (Database["public"]["CompositeTypes"]["logloom_log_service"])[] | null;
        "warnings": (Database["public"]["CompositeTypes"]["logloom_query_warning"])[] | null;
        "silent_hosts": (string)[] | null;
      };
      "logloom_log_page": {
        "logs": (Database["public"]["CompositeTypes"]["logloom_log_record"])[] | null;
        "next_cursor": string | null;
        "ts_from": string | null;
        "ts_to": string | null;
        "warnings": (Database["public"]["CompositeTypes"]["logloom_query_warning"])[] | null;
      };
      "logloom_log_panel": {
        "title": string | null;
        "query_dsl": string | null;
        "kind": string | null;
        "width": number | null;
      };
      "logloom_log_record": {
        "id": string | null;
        "tenant_id": string | null;
        "ts": string | null;
        "received_at": string | null;
        "level": "debug" | "info" | "warn" | "error" | null;
        "msg": string | null;
        "service": string | null;
        "env": string | null;
        "req_id": string | null;
        "user_id": string | null;
        "route": string | null;
        "host": string | null;
        "attrs": Json | null;
      };
      "logloom_log_secret_scope": {
        "tenant_id": string | null;
        "customer": string | null;
      };
      "logloom_log_series": {
        "group": Json | null;
        "points": Json | null;
      };
      "logloom_log_series_answer": {
        "interval_seconds": number | null;
        "series": (Database["public"]["CompositeTypes"]["logloom_log_series"])[] | null;
        "warnings": (Database["public"]["CompositeTypes"]["logloom_query_warning"])[] | null;
      };
      "logloom_log_service": {
        "service": string | null;
        "records": number | null;
        "errors": number | null;
        "records_before": number | null;
        "errors_before": number | null;
        "last_seen": string | null;
        "errors_before_lately": number | null;
        "errors_over_time": (number)[] | null;
        "records_before_lately": number | null;
        "records_over_time": (number)[] | null;
      };
      "logloom_log_stat": {
        "group": Json | null;
        "value": number | null;
        "values": Json | null;
        "total_groups": number | null;
        "warnings": (Database["public"]["CompositeTypes"]["logloom_query_warning"])[] | null;
      };
      "logloom_log_stream": {
        "stream_id": string | null;
        "tenant_id": string | null;
        "name": string | null;
        "query_dsl": string | null;
        "kind":
          | "webhook"
          | "otlp"
          | "loki"
          | "elasticsearch"
          | "splunk_hec"
          | "datadog"
          | "s3"
          | null;
        "config": Json | null;
        "secrets": Json | null;
        "enabled": boolean | null;
        "view_id": string | null;
        "maker": string | null;
        "created_at": string | null;
        "updated_at": string | null;
        "status": string | null;
        "lag_seconds": number | null;
        "next_attempt_at": string | null;
        "failing_since": string | null;
        "last_success_at": string | null;
        "last_status": number | null;
        "last_error": string | null;
        "paused_at": string | null;
        "pause_reason": "failing" | "refused" | "maker" | null;
        "sent_batches": number | null;
        "sent_records": number | null;
        "skipped_records": number | null;
        "refused_records": number | null;
        "test_requested_at": string | null;
        "test_finished_at": string | null;
        "test_status": number | null;
        "test_error": string | null;
        "customer": string | null;
        "held_at": string | null;
        "last_answer": string | null;
        "source": "logs" | "audit" | null;
        "test_answer": string | null;
      };
      "logloom_log_stream_failure": {
        "failure_id": string | null;
        "stream_id": string | null;
        "kind": "refused" | "rejected" | "gap" | null;
        "occurred_at": string | null;
        "record_id": string | null;
        "record_ts": string | null;
        "records": number | null;
        "ts_from": string | null;
        "ts_to": string | null;
        "status": number | null;
        "error": string | null;
      };
      "logloom_log_tail": {
        "logs": (Database["public"]["CompositeTypes"]["logloom_log_record"])[] | null;
        "next_cursor": string | null;
        "more": boolean | null;
      };
      "logloom_log_tenant": {
        "tenant_id": string | null;
        "role": string | null;
        "is_current": boolean | null;
      };
      "logloom_log_view": {
        "view_id": string | null;
        "tenant_id": string | null;
        "name": string | null;
        "query_dsl": string | null;
        "hidden_fields": (string)[] | null;
        "operations": (string)[] | null;
        "created_by": string | null;
        "created_at": string | null;
        "updated_at": string | null;
      };
      "logloom_member": {
        "user_id": string | null;
        "role": string | null;
        "email": string | null;
        "created_at": string | null;
        "view_id": string | null;
      };
      "logloom_notification_address": {
        "email": string | null;
        "confirmed": boolean | null;
        "confirmed_at": string | null;
        "code_expires_at": string | null;
        "tries_left": number | null;
      };
      "logloom_notification_preferences": {
        "email_enabled": boolean | null;
        "webhook_enabled": boolean | null;
      };
      "logloom_opened_portal_session": {
        "session_id": string | null;
        "token": string | null;
        "expires_at": string | null;
      };
      "logloom_pipeline_config": {
        "retention_days": number | null;
        "compression": boolean | null;
      };
      "logloom_plan_feature": {
        "enabled": boolean | null;
        "maxCount": number | null;
        "currentCount": number | null;
      };
      "logloom_plan_features": {
        "saved_searches": boolean | null;
        "max_saved_searches": number | null;
        "alerts": boolean | null;
        "max_alerts": number | null;
      };
      "logloom_portal_session": {
        "session_id": string | null;
        "tenant_id": string | null;
        "label": string | null;
        "view_id": string | null;
        "query_dsl": string | null;
        "origins": (string)[] | null;
        "status": string | null;
        "created_by": string | null;
        "created_at": string | null;
        "expires_at": string | null;
        "revoked_at": string | null;
        "first_used_at": string | null;
        "last_used_at": string | null;
        "customer": string | null;
        "limits": Json | null;
        "parts": (string)[] | null;
        "variables": Json | null;
      };
      "logloom_portal_thing": {
        "customer": string | null;
        "kind": string | null;
        "thing_id": string | null;
        "name": string | null;
        "state": string | null;
        "maker": string | null;
        "created_at": string | null;
      };
      "logloom_query_validity": {
        "valid": boolean | null;
        "error": string | null;
        "position": number | null;
        "hint": string | null;
        "warnings": (Database["public"]["CompositeTypes"]["logloom_query_warning"])[] | null;
      };
      "logloom_query_warning": {
        "position": number | null;
        "message": string | null;
        "suggestion": string | null;
      };
      "logloom_retention_rule": {
        "level": string | null;
        "service": string | null;
        "days": number | null;
      };
      "logloom_retention_run": {
        "run_id": string | null;
        "tenant_id": string | null;
        "kind": "retention" | "erasure" | "storage" | null;
        "status": "queued" | "running" | "done" | "interrupted" | "failed" | null;
        "requested_by": string | null;
        "requested_at": string | null;
        "query_dsl": string | null;
        "ts_from": string | null;
        "ts_to": string | null;
        "dry_run": boolean | null;
        "records": number | null;
        "partitions": number | null;
        "finished_at": string | null;
        "error": string | null;
        "archive_files": number | null;
        "archive_records": number | null;
        "not_reached": Json | null;
      };
      "logloom_revoked_customer": {
        "sessions": number | null;
        "streams": number | null;
        "rules": number | null;
      };
      "logloom_saved_search": {
        "id": string | null;
        "name": string | null;
        "description": string | null;
        "query_dsl": string | null;
        "category": string | null;
        "is_shared": boolean | null;
        "tags": (string)[] | null;
        "created_by": string | null;
        "created_at": string | null;
        "updated_at": string | null;
        "last_run_at": string | null;
        "run_count": number | null;
        "view_id": string | null;
        "display": Json | null;
      };
      "logloom_saved_search_run": {
        "logs": (Database["public"]["CompositeTypes"]["logloom_log_record"])[] | null;
        "next_cursor": string | null;
        "ts_from": string | null;
        "ts_to": string | null;
        "stats": (Database["public"]["CompositeTypes"]["logloom_log_stat"])[] | null;
      };
      "logloom_stored": {
        "sealed_bytes": number | null;
        "hot_bytes": number | null;
      };
      "logloom_stream_settlement": {
        "more": boolean | null;
      };
      "logloom_success": {
        "success": boolean | null;
      };
      "logloom_tenant": {
        "tenant_id": string | null;
        "plan_id": string | null;
        "plan_name": string | null;
        "created_at": string | null;
        "monthly_events_limit": number | null;
        "monthly_bytes_limit": number | null;
        "features": Database["public"]["CompositeTypes"]["logloom_plan_features"] | null;
      };
      "logloom_tenant_deletion": {
        "deletion_id": string | null;
        "tenant_id": string | null;
        "requested_at": string | null;
      };
      "logloom_tenant_settings": {
        "tenant_id": string | null;
        "pipeline_config": Database["public"]["CompositeTypes"]["logloom_pipeline_config"] | null;
        "notification_preferences":
          | Database["public"]["CompositeTypes"]["logloom_notification_preferences"]
          | null;
        "stored": Database["public"]["CompositeTypes"]["logloom_stored"] | null;
        "retention_rules":
          | (Database["public"]["CompositeTypes"]["logloom_retention_rule"])[]
          | null;
      };
      "logloom_unsealed_secret": {
        "rule_id": string | null;
        "tenant_id": string | null;
        "secrets": (string)[] | null;
        "customer": string | null;
      };
      "logloom_usage": {
        "tenant_id": string | null;
        "month": string | null;
        "events": number | null;
        "bytes": number | null;
        "monthly_events_limit": number | null;
        "monthly_bytes_limit": number | null;
        "events_percent": number | null;
        "bytes_percent": number | null;
        "projected_events": number | null;
        "projected_bytes": number | null;
        "resets_at": string | null;
        "months": (Database["public"]["CompositeTypes"]["logloom_usage_month"])[] | null;
        "days": (Database["public"]["CompositeTypes"]["logloom_usage_day"])[] | null;
        "stored": Database["public"]["CompositeTypes"]["logloom_stored"] | null;
        "restored_records": number | null;
        "dropped": number | null;
        "rules": (Database["public"]["CompositeTypes"]["logloom_ingest_rule_hour"])[] | null;
        "services": (Database["public"]["CompositeTypes"]["logloom_usage_service"])[] | null;
        "spans": number | null;
      };
      "logloom_usage_day": {
        "day": string | null;
        "events": number | null;
        "bytes": number | null;
      };
      "logloom_usage_month": {
        "month": string | null;
        "events": number | null;
        "bytes": number | null;
      };
      "logloom_usage_service": {
        "day": string | null;
        "service": string | null;
        "events": number | null;
        "record_bytes": number | null;
      };
      "logloom_webhook_secret": {
        "rule_id": string | null;
        "secret": string | null;
        "previous_valid_until": string | null;
      };
      "logloom_writer_run": {
        "moved": number | null;
        "done": boolean | null;
      };
    };
  };
};

type DatabaseWithoutInternals = Omit<Database, "__InternalSupabase">;

type DefaultSchema = DatabaseWithoutInternals[Extract<keyof Database, "public">];

export type Enums<
  DefaultSchemaEnumNameOrOptions extends
    | keyof DefaultSchema["Enums"]
    | { schema: keyof DatabaseWithoutInternals },
  EnumName extends DefaultSchemaEnumNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  } ? keyof DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"]
    : never = never,
> = DefaultSchemaEnumNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[DefaultSchemaEnumNameOrOptions["schema"]]["Enums"][EnumName]
  : DefaultSchemaEnumNameOrOptions extends keyof DefaultSchema["Enums"]
    ? DefaultSchema["Enums"][DefaultSchemaEnumNameOrOptions]
  : never;

export type CompositeTypes<
  PublicCompositeTypeNameOrOptions extends
    | keyof DefaultSchema["CompositeTypes"]
    | { schema: keyof DatabaseWithoutInternals },
  CompositeTypeName extends PublicCompositeTypeNameOrOptions extends {
    schema: keyof DatabaseWithoutInternals;
  } ? keyof DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"]
    : never = never,
> = PublicCompositeTypeNameOrOptions extends { schema: keyof DatabaseWithoutInternals }
  ? DatabaseWithoutInternals[PublicCompositeTypeNameOrOptions["schema"]]["CompositeTypes"][
    CompositeTypeName
  ]
  : PublicCompositeTypeNameOrOptions extends keyof DefaultSchema["CompositeTypes"]
    ? DefaultSchema["CompositeTypes"][PublicCompositeTypeNameOrOptions]
  : never;

export const Constants = {
  "public": {
    Enums: {
      "logloom_alert_comparison": ["gt", "gte", "lt", "lte", "eq", "neq"],
    },
  },
} as const;

type RowsOf<Type extends string, One extends boolean, Set extends boolean> = {
  from: "*";
  to: Type;
  isOneToOne: One;
  isSetofReturn: Set;
};
