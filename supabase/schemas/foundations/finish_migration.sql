-- Lists the functions of our schemas that API roles may call. PUBLIC may call the functions of the
-- pre-request check, which runs for every request and role. anon may also call the functions that
-- find out who is calling. All functions that are not listed here are only called by other
-- functions, or by the owner.
create function logloom_private.granted_functions()
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
        'error_named', 'errors', 'operation_list', 'operations', 'operations_of_service_role',
        'refuse', 'requested_operation'
      ]),
      ('anon, authenticated, service_role', array[
        'add_sql_log', 'caller_tenant', 'claims', 'current_tenant_id', 'current_user_id',
        'is_service_role', 'require_user_id', 'resolve_tenant', 'tenant_of_claims', 'usable_id'
      ]),
      ('authenticated, service_role', array[
        'abolish_tenant', 'acting_role', 'alert_silence_of', 'alert_silence_state',
        'api_key_status', 'apply_document', 'apply_documents', 'audit', 'audit_actions',
        'audit_here', 'call_operation', 'change_error_groups', 'change_log_view', 'change_member',
        'changed_file_secrets', 'changed_secrets', 'check_query', 'check_settings',
        'checked_document', 'checked_panels', 'choose_tenant', 'compiled_rule',
        'current_admin_tenant_id', 'described_thing', 'effective_settings', 'end_alert_silence',
        'end_portal_customer', 'end_portal_session', 'enroll_member', 'erase_subject',
        'file_arguments', 'file_differences', 'file_fields', 'file_things', 'file_types',
        'found_tenant', 'hold_ingest_rules', 'hold_view', 'ingest_rule_of', 'is_being_deleted',
        'is_viewer', 'iso_instant', 'issue_api_key', 'issue_ingest_token', 'issue_portal_session',
        'known_file_types', 'list_bytes', 'list_limit', 'listed_file_types', 'lock_key',
        'log_dashboard_of', 'log_view_of', 'make_alert_silence', 'make_log_view', 'my_key_reads',
        'my_stored', 'new_api_key', 'note_saved_search_run', 'order_file_rules',
        'page_of_deliveries', 'page_place', 'plan_feature', 'plan_of', 'provision_current_tenant',
        'prune_files', 'put_back_delivery', 'read_archive', 'read_members', 'read_memberships',
        'read_saved_search', 'reads_only', 'recurs_at', 'refuse_for_now', 'refuse_in_document',
        'refuse_log_dashboard', 'refuse_saved_search', 'refuse_with_headers', 'remove_log_view',
        'request_deletion', 'request_restore', 'require_parameter', 'require_role',
        'require_room_for', 'require_room_for_api_key', 'require_room_for_log_dashboard',
        'require_view_by_admin', 'require_view_for_key', 'require_writing_client',
        'resolve_tenant_to_change', 'retention_days', 'retention_rules', 'saved_search_of',
        'sent_claims', 'service_operations', 'shown_secrets', 'tags_are_valid', 'tenant_with_plan',
        'things_of_customers', 'time_parameter', 'token_is_valid', 'trim_space', 'verify_trail'
      ]),
      ('service_role', array[
        'change_plans', 'claim_archive_work', 'claim_due_notifications', 'claim_due_streams',
        'complete_notification', 'digest_of_signer', 'exchange_window', 'ingest_each',
        'match_archive', 'next_stream_batch', 'note_project', 'open_portal_session', 'put_sealed',
        'read_by_key', 'read_health', 'run_writer_in_place', 'settle_archive_work', 'settle_claim',
        'settle_stream_batch', 'unsealed_secrets'
      ])
  ) g (roles, names)
  union all
  select 'authenticated, service_role', array_agg(o.reader)
  from logloom_private.operation_list() o;
end;
$$;

-- Grants each operation to the roles that may call it, and to nobody else. Otherwise, after a dump
-- is restored, the project's default privileges for new functions in public would apply. Skips a
-- function of the project that has the name of an operation.
create function logloom_private.grant_operations()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operation record;
begin
  for v_operation in
    select
      p.oid::regprocedure as signature,
      case
        when p.proname = any (logloom_private.service_operations()) then 'service_role'
        else 'authenticated, service_role'
      end as roles
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname = any (logloom_private.operations())
      and strpos(p.prosrc, 'logloom_private.') > 0
  loop
    execute format(
      'revoke all on function %s from public, anon, authenticated, service_role',
      v_operation.signature
    );
    execute format(
      'grant execute on function %s to %s', v_operation.signature, v_operation.roles
    );
  end loop;
end;
$$;

-- Seam: does further work after each migration. Only the layer in citus/ has such work. Later
-- migrations must not create this function again, because that would replace the layer's body.
create function logloom_private.after_migration()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
end;
$$;

-- The last statement of every migration. Forces row-level security on every table. Revokes EXECUTE
-- on new functions, except functions that granted_functions() lists or that the migration granted
-- to a role. Makes definer functions read backslashes in quotes literally, whatever the caller's
-- session says.
create function logloom_private.finish_migration()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass;
  v_function regprocedure;
  v_grant record;
begin
  for v_table in
    select c.oid
    from pg_catalog.pg_class c
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity)
  loop
    execute format(
      'alter table %s enable row level security, force row level security', v_table
    );
  end loop;
  for v_function in
    select p.oid
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.prosecdef
      and (p.proconfig @> '{standard_conforming_strings=on}') is not true
  loop
    execute format('alter function %s set standard_conforming_strings = on', v_function);
  end loop;
  revoke execute on all routines in schema logloom, logloom_private from public;
  for v_grant in
    select
      p.oid::regprocedure as function, coalesce(g.roles, 'authenticated, service_role') as roles
    from pg_catalog.pg_proc p
    left join logloom_private.granted_functions() g on p.proname = any (g.names)
    where p.pronamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and (g.roles is not null or p.prorettype = 'logloom_private.error'::regtype)
  loop
    execute format('grant execute on function %s to %s', v_grant.function, v_grant.roles);
  end loop;
  update logloom_private.installation set migrated_at = clock_timestamp() where singleton;
  perform logloom_private.grant_operations();
  perform logloom_private.after_migration();
end;
$$;
