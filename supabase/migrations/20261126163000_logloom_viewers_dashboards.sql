-- Viewers look at dashboards that are shared.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

create or replace function logloom_private.granted_functions()
returns table (roles text, names text[])
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select g.roles, g.names
  from (
    values
      ('public', array[
        'call_host_pre_request', 'callers_errors', 'check_operation', 'check_request',
        'error_named', 'errors', 'operations', 'refuse', 'requested_operation'
      ]),
      ('anon, authenticated, service_role', array[
        'caller_tenant', 'claims', 'current_tenant_id', 'current_user_id', 'is_service_role',
        'require_user_id', 'resolve_tenant', 'tenant_of_claims', 'usable_id'
      ]),
      ('authenticated, service_role', array[
        'abolish_tenant', 'acting_role', 'alert_entry_of', 'alert_incident_of',
        'alert_incident_state', 'alert_rule_of', 'alert_silence_of', 'alert_silence_state',
        'api_key_status', 'change_log_stream', 'change_log_view', 'change_member',
        'changed_rule_secrets', 'changed_secrets', 'check_query', 'check_settings',
        'checked_panels', 'choose_tenant', 'confirm_address', 'current_admin_tenant_id',
        'deliveries_of_incident', 'distinct_destinations', 'effective_settings',
        'end_alert_silence', 'end_portal_session', 'enqueue_rule_test', 'enroll_member',
        'found_tenant', 'hold_view', 'is_being_deleted', 'is_viewer', 'issue_api_key',
        'issue_ingest_token', 'issue_portal_session', 'list_bytes', 'list_limit',
        'log_dashboard_of', 'log_view_of', 'make_alert_silence', 'make_log_stream', 'make_log_view',
        'my_key_reads', 'my_stored', 'my_usage', 'new_api_key', 'note_saved_search_run',
        'page_of_addresses', 'page_of_deliveries', 'page_of_stream_failures', 'page_of_streams',
        'page_place', 'plan_feature', 'plan_of', 'preview_windows', 'provision_current_tenant',
        'put_back_delivery', 'read_alert_history', 'read_alert_rules', 'read_archive', 'read_log',
        'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
        'read_log_histogram', 'read_log_overview', 'read_log_page', 'read_log_series',
        'read_log_stats', 'read_log_tail', 'read_members', 'read_memberships',
        'read_query_validity', 'read_saved_search', 'read_saved_searches', 'read_shown_dashboards',
        'reads_again', 'reads_only', 'refuse_for_now', 'refuse_log_dashboard',
        'refuse_saved_search', 'refuse_with_headers', 'remove_log_stream', 'remove_log_view',
        'replace_webhook_secret', 'request_deletion', 'request_restore', 'request_stream_test',
        'require_groups', 'require_parameter', 'require_role', 'require_room_for',
        'require_room_for_api_key', 'require_room_for_log_dashboard', 'require_rule_in_view',
        'require_view_by_admin', 'require_view_for_key', 'require_writing_client',
        'resolve_tenant_to_change', 'retention_days', 'saved_search_of', 'sent_claims',
        'service_operations', 'shown_secrets', 'tags_are_valid', 'tenant_with_plan',
        'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_archive_work', 'claim_due_notifications', 'claim_due_streams',
        'complete_notification', 'ingest', 'ingest_each', 'match_archive', 'next_stream_batch',
        'open_portal_session', 'put_sealed', 'read_by_key', 'read_health', 'run_writer_in_place',
        'settle_archive_work', 'settle_claim', 'settle_stream_batch', 'unsealed_secrets'
      ])
  ) g (roles, names);
end;
$$;

create function logloom_private.read_shown_dashboards(p_dashboard_id uuid default null)
returns setof logloom.log_dashboards
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no table is open to who only reads
declare
  -- PT403 for a viewer whose view shows nothing.
  v_scope constant logloom_private.reading_scope := logloom_private.scope_of_token(null);
  v_user_id constant text := case
    when v_scope.view_id is null then logloom_private.current_user_id()
  end;
begin
  perform logloom_private.require_writing_client(logloom_private.claims());
  return query
  select d.*
  from logloom.log_dashboards d
  where d.tenant_id = v_scope.tenant_id
    and (p_dashboard_id is null or d.dashboard_id = p_dashboard_id)
    and (d.is_shared or d.created_by = v_user_id);
end;
$$;

create or replace function public.get_log_dashboard(p_dashboard_id uuid default null)
returns public.logloom_log_dashboard
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found public.logloom_log_dashboard;
begin
  -- Whoever may not look is told so before what is missing.
  select (logloom_private.log_dashboard_of(d)).* into v_found
  from logloom_private.read_shown_dashboards(p_dashboard_id) d;
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  if v_found.dashboard_id is null then
    perform logloom_private.refuse('dashboards.not_found');
  end if;
  return v_found;
end;
$$;

create or replace function public.list_log_dashboards(
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_dashboard
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'dashboard', 'dashboard_id',
    case when p_after is not null then (
      select d.created_at from logloom_private.read_shown_dashboards(p_after) d
    ) end
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their queries are.
      sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select o as item
      from logloom_private.read_shown_dashboards() d
      cross join lateral logloom_private.log_dashboard_of(d) o
      where p_after is null or (d.created_at, d.dashboard_id) < (v_after, p_after)
      order by d.created_at desc, d.dashboard_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

comment on function public.list_log_dashboards(integer, uuid) is
  'The caller''s dashboards and those that colleagues share, newest first; a viewer''s are the '
  'shared ones. p_limit 1 to 1000 (default 100), p_after: dashboard_id of the last item of the '
  'page before. '
  'Errors: PT400, PT401, PT403.';

select logloom_private.finish_migration();
