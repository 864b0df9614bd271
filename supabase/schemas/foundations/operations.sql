-- The names of our functions in public. The pre-request check looks at requests for these alone,
-- and uninstalling removes these.
create function logloom_private.operations()
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    'acknowledge_alert',
    'acknowledge_alert_incidents',
    'add_tenant_member',
    'check_plan_feature',
    'claim_alert_notifications',
    'claim_log_archive_work',
    'claim_log_streams',
    'complete_alert_notification',
    'confirm_alert_address',
    'create_alert_rule',
    'create_alert_silence',
    'create_api_key',
    'create_ingest_token',
    'create_log_dashboard',
    'create_log_portal_session',
    'create_log_stream',
    'create_log_view',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_log_dashboard',
    'delete_log_stream',
    'delete_log_view',
    'delete_logs',
    'delete_saved_search',
    'delete_tenant',
    'expire_alert_silence',
    'export_logs',
    'get_alert_incident',
    'get_alert_rule',
    'get_api_key_usage',
    'get_current_tenant',
    'get_log',
    'get_log_context',
    'get_log_dashboard',
    'get_log_secret_scope',
    'get_log_stream',
    'get_saved_search',
    'get_saved_search_categories',
    'get_saved_search_count',
    'get_tenant_settings',
    'get_tenant_usage',
    'health_report',
    'ingest_text',
    'list_alert_addresses',
    'list_alert_deliveries',
    'list_alert_history',
    'list_alert_incidents',
    'list_alert_rules',
    'list_alert_silences',
    'list_api_keys',
    'list_log_archive',
    'list_log_archive_restores',
    'list_log_dashboards',
    'list_log_fields',
    'list_log_portal_sessions',
    'list_log_retention_runs',
    'list_log_stream_failures',
    'list_log_streams',
    'list_log_tenants',
    'list_log_views',
    'list_saved_searches',
    'list_tenant_audit_events',
    'list_tenant_members',
    'list_unsealed_alert_secrets',
    'log_changes',
    'log_histogram',
    'log_overview',
    'log_series',
    'log_stats',
    'match_log_archive',
    'open_log_portal_session',
    'preview_alert_rule',
    'read_log_stream_batch',
    'read_logs',
    'remove_tenant_member',
    'restore_log_archive',
    'retry_alert_delivery',
    'revoke_api_key',
    'revoke_log_portal_session',
    'rotate_alert_webhook_secret',
    'rotate_api_key',
    'run_saved_search',
    'run_writer',
    'seal_alert_secret',
    'search_logs',
    'set_tenant_member_role',
    'settle_alert_notification',
    'settle_log_archive_work',
    'settle_log_stream_batch',
    'switch_log_tenant',
    'tail_logs',
    'test_alert_rule',
    'test_log_stream',
    'update_alert_rule',
    'update_log_dashboard',
    'update_log_stream',
    'update_log_view',
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
end;
$$;

-- Another function of such a name would be ambiguous for PostgREST, which picks by parameter names.
do $$
declare
  v_taken text;
begin
  select string_agg(p.oid::regprocedure::text, ', ' order by p.proname) into v_taken
  from pg_catalog.pg_proc p
  where p.pronamespace = 'public'::regnamespace
    and p.proname = any (logloom_private.operations());
  if v_taken is not null then
    raise exception using
      errcode = 'duplicate_function',
      message = 'Logloom cannot be installed, public has functions of its names: ' || v_taken,
      hint = 'Rename them or move them to another schema, then install again.';
  end if;
end;
$$;
