-- Our functions in public. callers: user, viewer, customer or service_role. customer: a portal
-- session whose parts name the operation. API keys and other portal sessions may not call such an
-- operation. reader: the private function that does the work for API keys and portal sessions at
-- logloom-read; null if they cannot call the operation. A reader's parameters are a scope, then the
-- operation's parameters.
-- docs/reference/api/callers.md is generated from this list.
create function logloom_private.operation_list()
returns table (operation text, callers text[], reader text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select o.operation, o.callers::text[], o.reader
  from (
    values
      ('acknowledge_alert', '{user,customer}', 'acknowledge_in_scope'),
      ('add_tenant_member', '{user,service_role}', null),
      ('apply_tenant_files', '{user,service_role}', null),
      ('check_plan_feature', '{user}', null),
      ('confirm_alert_address', '{user,customer}', 'confirm_address'),
      ('create_alert_rule', '{user,service_role,customer}', 'make_alert_rule'),
      ('create_alert_silence', '{user,service_role}', null),
      ('create_api_key', '{user,service_role}', null),
      ('create_ingest_rule', '{user,service_role}', null),
      ('create_ingest_token', '{user,service_role}', null),
      ('create_log_dashboard', '{user}', null),
      ('create_log_portal_session', '{user,service_role}', null),
      ('create_log_stream', '{user,service_role,customer}', 'make_log_stream'),
      ('create_log_view', '{user,service_role}', null),
      ('create_saved_search', '{user}', null),
      ('create_tenant', '{user}', null),
      ('delete_alert_rule', '{user,service_role,customer}', 'remove_alert_rule'),
      ('delete_ingest_rule', '{user,service_role}', null),
      ('delete_log_dashboard', '{user}', null),
      ('delete_log_stream', '{user,service_role,customer}', 'remove_log_stream'),
      ('delete_log_view', '{user,service_role}', null),
      ('delete_logs', '{user}', null),
      ('delete_saved_search', '{user}', null),
      ('delete_tenant', '{user,service_role}', null),
      ('erase_audit_subject', '{user,service_role}', null),
      ('expire_alert_silence', '{user,service_role}', null),
      ('export_logs', '{user,viewer}', 'read_log_export'),
      ('export_tenant_files', '{user,service_role}', null),
      ('get_alert_incident', '{user,customer}', 'read_alert_incident'),
      ('get_alert_rule', '{user,customer}', 'read_alert_rule'),
      ('get_api_key_usage', '{user,service_role}', null),
      ('get_current_tenant', '{user,service_role}', null),
      ('get_error_group', '{user,viewer}', 'read_error_group'),
      ('get_log', '{user,viewer}', 'read_log'),
      ('get_log_context', '{user,viewer}', 'read_log_context'),
      ('get_log_dashboard', '{user,viewer,customer}', 'read_log_dashboard'),
      ('get_log_secret_scope', '{user,service_role,customer}', 'read_secret_scope'),
      ('get_log_stream', '{user,service_role,customer}', 'read_log_stream'),
      ('get_saved_search', '{user}', null),
      ('get_saved_search_categories', '{user}', null),
      ('get_saved_search_count', '{user}', null),
      ('get_tenant_settings', '{user,service_role}', null),
      ('get_tenant_usage', '{user,service_role}', 'read_tenant_usage'),
      ('list_alert_addresses', '{user,customer}', 'read_alert_addresses'),
      ('list_alert_deliveries', '{user}', null),
      ('list_alert_history', '{user,viewer,service_role}', 'read_alert_history'),
      ('list_alert_incidents', '{user,service_role,customer}', 'read_alert_incidents'),
      ('list_alert_rules', '{user,viewer,service_role}', 'read_alert_rules'),
      ('list_alert_silences', '{user,service_role}', null),
      ('list_api_keys', '{user,service_role}', null),
      ('list_audit_events', '{user,service_role}', 'read_audit_trail'),
      ('list_error_groups', '{user,viewer,service_role}', 'read_error_groups'),
      ('list_ingest_rules', '{user,service_role}', null),
      ('list_log_archive', '{user,service_role}', null),
      ('list_log_archive_restores', '{user,service_role}', null),
      ('list_log_dashboards', '{user,viewer,customer}', 'read_log_dashboards'),
      ('list_log_fields', '{user,viewer}', 'read_log_fields'),
      ('list_log_portal_sessions', '{user,service_role}', null),
      ('list_log_retention_runs', '{user,service_role}', null),
      ('list_log_stream_failures', '{user,service_role,customer}', 'read_stream_failures'),
      ('list_log_streams', '{user,service_role,customer}', 'read_log_streams'),
      ('list_log_tenants', '{user,viewer}', null),
      ('list_log_views', '{user,service_role}', null),
      ('list_portal_things', '{user,service_role}', null),
      ('list_saved_searches', '{user,viewer}', 'read_saved_searches'),
      ('list_tenant_audit_events', '{user,service_role}', null),
      ('list_tenant_members', '{user,service_role}', null),
      ('log_changes', '{user,viewer}', 'read_log_changes'),
      ('log_histogram', '{user,viewer}', 'read_log_histogram'),
      ('log_overview', '{user,viewer}', 'read_log_overview'),
      ('log_series', '{user,viewer}', 'read_log_series'),
      ('log_stats', '{user,viewer}', 'read_log_stats'),
      ('order_ingest_rules', '{user,service_role}', null),
      ('preview_alert_rule', '{user,service_role,customer}', 'read_rule_preview'),
      ('preview_ingest_rule', '{user}', null),
      ('preview_tenant_files', '{user,service_role}', null),
      ('record_audit_event', '{user,service_role}', null),
      ('remove_tenant_member', '{user,service_role}', null),
      ('restore_log_archive', '{user,service_role}', null),
      ('retry_alert_delivery', '{user}', null),
      ('revoke_api_key', '{user,service_role}', null),
      ('revoke_log_portal_session', '{user,service_role}', null),
      ('revoke_portal_customer', '{user,service_role}', null),
      ('rotate_alert_webhook_secret', '{user,customer}', 'replace_webhook_secret'),
      ('rotate_api_key', '{user,service_role}', null),
      ('run_saved_search', '{user}', null),
      ('search_logs', '{user,viewer}', 'read_log_page'),
      ('set_retention_rules', '{user,service_role}', null),
      ('set_tenant_member_role', '{user,service_role}', null),
      ('switch_log_tenant', '{user,viewer}', null),
      ('tail_logs', '{user,viewer}', 'read_log_tail'),
      ('test_alert_rule', '{user,customer}', 'enqueue_rule_test'),
      ('test_log_stream', '{user,service_role,customer}', 'request_stream_test'),
      ('update_alert_incident', '{user,customer}', 'change_alert_incidents'),
      ('update_alert_rule', '{user,service_role,customer}', 'change_alert_rule'),
      ('update_error_group', '{user}', null),
      ('update_ingest_rule', '{user,service_role}', null),
      ('update_log_dashboard', '{user}', null),
      ('update_log_stream', '{user,service_role,customer}', 'change_log_stream'),
      ('update_log_view', '{user,service_role}', null),
      ('update_saved_search', '{user}', null),
      ('update_tenant_settings', '{user,service_role}', null),
      ('validate_query', '{user,viewer}', 'read_query_validity'),
      ('verify_audit_trail', '{user,service_role}', null)
  ) o (operation, callers, reader)
  union all
  select s.* from logloom_private.operations_of_service_role() s;
end;
$$;

-- Part of operation_list(): what only edge functions call, and set_log_plans.
create function logloom_private.operations_of_service_role()
returns table (operation text, callers text[], reader text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select o.operation, o.callers::text[], o.reader
  from (
    values
      ('claim_alert_notifications', '{service_role}', null),
      ('claim_log_archive_work', '{service_role}', null),
      ('claim_log_streams', '{service_role}', null),
      ('complete_alert_notification', '{service_role}', null),
      ('exchange_platform_logs', '{service_role}', null),
      ('health_report', '{service_role}', null),
      ('ingest_signer', '{service_role}', null),
      ('ingest_text', '{service_role}', null),
      ('list_unsealed_alert_secrets', '{service_role}', null),
      ('match_log_archive', '{service_role}', null),
      ('open_log_portal_session', '{service_role}', null),
      ('read_log_stream_batch', '{service_role}', null),
      ('read_logs', '{service_role}', null),
      ('run_writer', '{service_role}', null),
      ('seal_alert_secret', '{service_role}', null),
      ('set_log_plans', '{service_role}', null),
      ('settle_alert_notification', '{service_role}', null),
      ('settle_log_archive_work', '{service_role}', null),
      ('settle_log_stream_batch', '{service_role}', null)
  ) o (operation, callers, reader);
end;
$$;

-- Returns the names of all operations. The pre-request check applies to them, and uninstalling
-- removes them.
create function logloom_private.operations()
returns text[]
language sql
immutable
return array(select o.operation from logloom_private.operation_list() o);

create function logloom_private.service_operations()
returns text[]
language sql
immutable
return array(
  select o.operation from logloom_private.operation_list() o where o.callers = '{service_role}'
);

-- Returns the operations that API keys may read with, and their readers. in_views: whether views
-- and portal sessions may allow the operation.
create function logloom_private.reading_operations()
returns table (operation text, reader text, in_views boolean)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select o.operation, o.reader, o.operation not in ('get_tenant_usage', 'list_audit_events')
  from logloom_private.operation_list() o
  where o.reader is not null and not o.callers @> '{customer}';
end;
$$;

-- PostgREST tells functions of one name apart only by their parameters. So no other function in
-- public may have the name of an operation.
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
