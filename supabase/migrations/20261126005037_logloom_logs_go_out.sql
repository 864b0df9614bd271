-- What several of the migrations before it change.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom_private.notifications, logloom.audit_events in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."audit_events"
    DROP CONSTRAINT "audit_events_action_is_known";
  ALTER TABLE "logloom_private"."notifications"
    DROP CONSTRAINT "notifications_purpose_is_known";
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

CREATE OR REPLACE FUNCTION logloom_private.abolish_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_tenant_deletion
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role deletes tenants
declare
  v_tenant_id text;
  v_deletion logloom_private.tenant_deletions;
begin
  if logloom_private.is_service_role() then
    -- Asked again, it says how far it is.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = p_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    v_tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    insert into logloom_private.tenant_deletions (tenant_id, requested_by)
    values (v_tenant_id, logloom_private.actor())
    returning * into v_deletion;
    delete from logloom.api_keys k where k.tenant_id = v_tenant_id;
    delete from logloom.log_streams s where s.tenant_id = v_tenant_id;
    delete from logloom_private.ingest_tokens t where t.tenant_id = v_tenant_id;
    delete from logloom.tenant_members m where m.tenant_id = v_tenant_id;
    update logloom.alert_rules r set enabled = false
    where r.tenant_id = v_tenant_id and r.enabled;
    -- Also those that say that the rules ended.
    delete from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.status = 'pending';
    perform logloom_private.request_erasure(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_rule_for (
  p_row            logloom.alert_rules,
  p_sees_addresses boolean,
  p_view_id        uuid
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if not p_sees_addresses then
    p_row.notification_destinations := '{}';
    p_row.notification_config := '{}';
    p_row.notification_secrets := '{}';
  end if;
  -- What it found before it was bound to the view as it is now is none of the view.
  if p_view_id is not null and (
    p_row.last_evaluated_at > greatest(
      p_row.asked_at,
      (select v.shows_since from logloom.log_views v where v.view_id = p_view_id)
    )
  ) is not true
  then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
  end if;
  return logloom_private.alert_rule_of(p_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.call_function (
  p_url    text,
  p_header text,
  p_secret text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using p_url, jsonb_build_object('Content-Type', 'application/json', p_header, p_secret);
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', p_url, array[extensions.http_header(p_header, p_secret)], 'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function % answered %', substring(p_url from '[^/]+/?$'), v_status;
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_panels (
  p_panels jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_panel jsonb;
  v_n bigint;
  v_checked jsonb := '[]';
begin
  if jsonb_typeof(p_panels) <> 'array' then
    perform logloom_private.refuse('dashboards.panels_are_no_array');
  elsif jsonb_array_length(p_panels) > 20 then
    perform logloom_private.refuse('dashboards.log_dashboards_panels_are_few');
  end if;
  for v_panel, v_n in
    select p.panel, p.n
    from jsonb_array_elements(p_panels) with ordinality p (panel, n)
    order by p.n
  loop
    if jsonb_typeof(v_panel) <> 'object'
      or v_panel - array['title', 'query_dsl', 'kind', 'width'] <> '{}'
      or jsonb_typeof(v_panel -> 'title') is distinct from 'string'
      or jsonb_typeof(v_panel -> 'query_dsl') is distinct from 'string'
      or length(v_panel ->> 'title') not between 1 and 100
      or (v_panel ->> 'kind') is null
      or v_panel ->> 'kind' not in ('lines', 'bars', 'number')
      or coalesce(v_panel ->> 'width', '6') !~ '^([1-9]|1[0-2])$'
    then
      perform logloom_private.refuse('dashboards.panel_is_invalid', v_n::text);
    end if;
    perform logloom_private.check_query(v_panel ->> 'query_dsl');
    v_checked := v_checked || jsonb_build_object(
      'title', v_panel -> 'title', 'query_dsl', v_panel -> 'query_dsl', 'kind', v_panel -> 'kind',
      'width', coalesce(v_panel ->> 'width', '6')::integer
    );
  end loop;
  return v_checked;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.checked_stream_query (
  p_tenant_id text,
  p_query_dsl text,
  p_view_id   uuid
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(p_tenant_id);
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.plan ? 'first' then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'streams.query_has_stages'
    );
  end if;
  if p_view_id is not null then
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
    perform logloom_private.scoped_query(
      logloom_private.scope_of_view(p_tenant_id, p_view_id), v_query, p_query_dsl
    );
  end if;
  return case when not v_query.blank then p_query_dsl end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.dashboards_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('dashboards.log_dashboards_name_is_valid', 400,
      'Invalid p_name: 1 to 200 characters after trimming',
      'Name the dashboard after what it shows.', null),
    ('dashboards.panels_are_no_array', 400, 'Invalid p_panels: not an array',
      'Send an array of objects {title, query_dsl, kind, width}.', null),
    ('dashboards.log_dashboards_panels_are_few', 400, 'Invalid p_panels: at most 20',
      'Make a second dashboard for the rest.', null),
    ('dashboards.panel_is_invalid', 400, 'Invalid panel %s: {title, query_dsl, kind, width}',
      'title has 1 to 100 characters, kind is lines, bars or number, width is 1 to 12.', null),
    ('dashboards.no_room', 400, 'Plan limit exceeded: log_dashboards (max %s)',
      'Delete one, or ask for a larger plan.', null),
    ('dashboards.not_its_creator', 403, 'Only its creator may change or delete a dashboard',
      'Make one of your own with create_log_dashboard.', 'It is a colleague''s, shared.'),
    ('dashboards.not_found', 404, 'Dashboard not found',
      'list_log_dashboards shows those that you can see.',
      'It is not there, another tenant''s, or a colleague''s private one.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.delete_expired_of_day (
  p_place logloom_private.retention_place
)
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_tenants text[];
  v_first record;
  v_through text := p_place.tenant_through;
  v_error text;
begin
  select s.* into v_settings from logloom_private.settings s;
  if exists (select from logloom.plans p where p.archive_days > 0) then
    -- Nothing comes between the look at what is archived and the deletion.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  end if;
  v_tenants := logloom_private.expired_tenants(
    p_place.day, p_place.today, p_place.tenant_through, v_settings.retention_step_tenants
  );
  if v_tenants = '{}' then
    perform logloom_private.end_retention_day(p_place.day, null);
    return interval '0';
  end if;
  perform logloom_private.note_stream_gaps(p_place.day, p_place.today, v_tenants);
  -- As many tenants as have a step's records between them, and at least one.
  select
    array_agg(d.tenant_id order by d.tenant_id) filter (
      where d.records_through <= v_settings.deletion_step_records
    ) as tenant_ids,
    (array_agg(d.tenant_id order by d.tenant_id))[1] as tenant_id
  into v_first
  from (
    select e.tenant_id, sum(e.records) over (order by e.tenant_id) as records_through
    from logloom_private.expired_days(
      v_tenants, p_place.day, v_settings.deletion_step_records
    ) e
  ) d;
  if v_first.tenant_id is null then
    perform logloom_private.leave_days(v_tenants, array[p_place.day]);
    v_through := v_tenants[cardinality(v_tenants)];
  elsif v_first.tenant_ids is not null then
    v_error := logloom_private.forget_expired(
      v_first.tenant_ids, p_place.day, p_place.today
    );
    if v_error is not null then
      -- Its turn comes again the next time.
      v_through := v_first.tenant_ids[cardinality(v_first.tenant_ids)];
    end if;
  else
    begin
      perform logloom_private.delete_expired(v_first.tenant_id, p_place.day, p_place.today);
    exception when others then
      v_error := format('%s: %s', sqlstate, sqlerrm);
      v_through := v_first.tenant_id;
    end;
  end if;
  update logloom_private.retention_place p
  set tenant_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
  return case when v_first.tenant_id is null then interval '0' else v_settings.deletion_pause end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.drop_expired_day (
  p_day   date,
  p_today date
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenants bigint;
  v_lock_wait text;
begin
  select count(*) into v_tenants from logloom_private.day_tenants(p_day);
  -- An empty yesterday waits a day: events may well be on their way.
  if v_tenants = 0 and p_day >= p_today - 1 or logloom_private.day_is_kept(p_day, p_today) then
    return 'kept';
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.partition_drop_lock_timeout from logloom_private.settings s)
    );
    -- Without the writer nothing is added: it makes the day anew when events for it come.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
    if (select count(*) from logloom_private.day_tenants(p_day)) <> v_tenants
      -- Something came that is to be archived.
      or logloom_private.day_is_kept(p_day, p_today)
    then
      return 'busy';
    end if;
    perform logloom_private.note_stream_gaps(p_day, p_today);
    -- What else is known of the day nobody reads any more, and goes without holding up the writer.
    delete from logloom_private.log_writes a where a.day = p_day;
    -- Last, because every reader of logloom.logs waits from here to the commit.
    execute format('drop table if exists logloom.%I', logloom_private.partition_name(p_day));
    perform logloom_private.restore_lock_wait(v_lock_wait);
    return 'dropped';
  exception when lock_not_available then
    return 'busy';
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.granted_functions()
  RETURNS TABLE (
    roles text,
    names text[]
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
        'read_query_validity', 'read_saved_search', 'read_saved_searches', 'reads_again',
        'reads_only', 'refuse_for_now', 'refuse_log_dashboard', 'refuse_saved_search',
        'refuse_with_headers', 'remove_log_stream', 'remove_log_view', 'replace_webhook_secret',
        'request_deletion', 'request_restore', 'request_stream_test', 'require_groups',
        'require_parameter', 'require_role', 'require_room_for', 'require_room_for_api_key',
        'require_room_for_log_dashboard', 'require_rule_in_view', 'require_view_by_admin',
        'require_view_for_key', 'require_writing_client', 'resolve_tenant_to_change',
        'retention_days', 'saved_search_of', 'sent_claims', 'service_operations', 'shown_secrets',
        'tags_are_valid', 'tenant_with_plan', 'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_archive_work', 'claim_due_notifications', 'claim_due_streams',
        'complete_notification', 'ingest', 'ingest_each', 'match_archive', 'next_stream_batch',
        'open_portal_session', 'put_sealed', 'read_by_key', 'read_health', 'run_writer_in_place',
        'settle_archive_work', 'settle_claim', 'settle_stream_batch', 'unsealed_secrets'
      ])
  ) g (roles, names);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.newest_records (
  p_tenant_id text,
  p_view_id   uuid,
  p_query_dsl text,
  p_from      text,
  p_to        text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope := logloom_private.scope_of_view(p_tenant_id, p_view_id);
  v_scope.actor := 'alerts';
  -- Which operations the view's readers have is another matter.
  v_scope.operations := null;
  return (
    select coalesce(jsonb_agg(
      (
        select jsonb_object_agg(
          m.key, case when length(m.value) > 500 then left(m.value, 499) || '…' else m.value end
        )
        from jsonb_each_text(
          jsonb_strip_nulls(l.record) - '{attrs,tenant_id,received_at}'::text[]
        ) m
      ) order by l.n
    ), '[]')
    from jsonb_array_elements(to_jsonb((
      logloom_private.read_log_page(v_scope, p_query_dsl, p_from, p_to, 3, null, 'desc')
    ).logs)) with ordinality l (record, n)
  );
exception when query_canceled or others then
  return '[]';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
    'ingest_logs',
    'ingest_requests',
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
$function$;

CREATE OR REPLACE FUNCTION logloom_private.parameters_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('parameters.missing', 400, 'Missing required parameter: %s', 'Send %s in the JSON body.',
      'A required parameter is left out or null.'),
    ('parameters.list_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_after for more.', 'A page has 1 to 1000 items.'),
    ('parameters.no_such_place', 400, 'Invalid p_after: no such %s',
      'Send the %2$s of the last item of the page before.',
      'The list has no such item: `p_after` is the id of the last item of the page before.'),
    ('parameters.not_a_time', 400, 'Invalid %s: not a time',
      'Send ISO 8601, such as 2026-11-21T10:00:00Z, or now, now-15m, now-24h (s, m, h, d or w; '
        'at most 100 years).',
      '`p_ts_from` or `p_ts_to` is neither ISO 8601 nor `now-24h` or the like.'),
    ('parameters.secrets_are_invalid', 400,
      'Invalid p_secrets: an object of names and sealed texts',
      'Send {"name": "lls1...."} with what POST /functions/v1/logloom-stream/v1/seal answers for a '
        'log stream, logloom-notify/v1/seal for an alert rule, or null to take one away.', null),
    ('parameters.secret_is_unknown', 400, 'Invalid p_secrets: no secret is called %s here',
      'Allowed: %2$s.', 'The receiver of this kind has no use for it.'),
    ('parameters.secret_is_not_sealed', 400, 'Invalid p_secrets: %s is not sealed',
      'Seal it by POST /functions/v1/logloom-stream/v1/seal for a log stream, '
        'logloom-notify/v1/seal for an alert rule. If what you sent was the secret itself, '
        'replace it: logs of the database may hold it now.',
      'The database takes no secret in plain text.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.purge_old_rows()
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_old record;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  for v_old in
    select o.name::regclass as name, o.is_old, o.lifetime
    from (
      values
        ('logloom.audit_events', 'r.occurred_at < $1', v_settings.audit_lifetime),
        ('logloom.archive_restores', 'r.finished_at < $1', v_settings.audit_lifetime),
        ('logloom.alert_history', 'r.triggered_at < $1', v_settings.alert_history_lifetime),
        -- After its last alert.
        ('logloom.alert_incidents', 'r.resolved_at < $1', v_settings.alert_history_lifetime),
        -- Listed for a while after their end.
        ('logloom.alert_silences', 'r.ends_at < $1', '30 days'),
        ('logloom_private.idempotency_keys', 'r.created_at < $1',
          v_settings.idempotency_key_lifetime),
        -- Counted for a minute from when they were made.
        ('logloom_private.ingest_tokens', 'r.expires_at < $1', '1 minute'),
        ('logloom_private.key_reads', 'r.day < $1', '31 days'),
        -- Listed for a while after their end.
        ('logloom.portal_sessions', 'r.expires_at < $1', '30 days'),
        ('logloom_private.portal_reads', 'r.minute < $1', '1 hour'),
        -- Unused for a day, a bucket is full.
        ('logloom_private.rate_buckets', 'r.filled_at < $1', '1 day'),
        ('logloom_private.notifications', 'r.settled_at < $1 and r.status <> ''pending''',
          v_settings.notification_history_lifetime),
        ('logloom.log_stream_failures', 'r.occurred_at < $1', v_settings.stream_failure_lifetime),
        ('logloom_private.notification_usage', 'r.hour < $1', '1 day'),
        ('logloom_private.confirmation_mails', 'r.sent_at < $1', v_settings.confirmation_lifetime),
        ('logloom_private.notification_addresses',
          'r.code_expires_at < $1 and r.confirmed_at is null', '0')
    ) o (name, is_old, lifetime)
  loop
    execute format(
      'delete from %1$s d where d.ctid = any(array('
        'select r.ctid from %1$s r where %2$s limit $2 for update skip locked))',
      v_old.name, v_old.is_old
    )
    using now() - v_old.lifetime, v_settings.purge_step_rows;
    get diagnostics v_rows = row_count;
    if v_rows >= v_settings.purge_step_rows then
      return v_settings.deletion_pause;
    end if;
  end loop;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_history (
  p_scope        logloom_private.reading_scope,
  p_tenant_id    text,
  p_rule_id      uuid,
  p_ts_from      text,
  p_ts_to        text,
  p_acknowledged boolean,
  p_limit        integer,
  p_after        uuid
)
  RETURNS SETOF public.logloom_alert_history_entry
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_history', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_shows_since constant timestamptz := (
    select v.shows_since from logloom.log_views v where v.view_id = v_scope.view_id
  );
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert', 'alert_id',
    (
      select h.triggered_at from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id and h.alert_id = p_after
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
    )
  );
begin
  if v_from >= v_to then
    perform logloom_private.refuse('alerts.range_is_empty');
  end if;
  -- To plan anew would be a tenth of a call. The newest entries have one plan that always fits;
  -- what else is asked for is planned for its values.
  if num_nonnulls(p_rule_id, v_from, v_to, p_acknowledged, p_after) > 0 then
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return query
  select e.*
  from (
    select h.alert, sum(octet_length((h.alert)."group"::text)) over (
      order by (h.alert).triggered_at desc, (h.alert).alert_id desc
      rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (
      select h as alert
      from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
        and (p_rule_id is null or h.rule_id = p_rule_id)
        and (v_from is null or h.triggered_at >= v_from)
        and (v_to is null or h.triggered_at < v_to)
        and (p_acknowledged is null or (h.acknowledged_at is not null) = p_acknowledged)
        and (p_after is null or (h.triggered_at, h.alert_id) < (v_after, p_after))
      order by h.triggered_at desc, h.alert_id desc
      limit v_limit
    ) h
  ) h
  left join logloom.alert_incidents i on i.incident_id = (h.alert).incident_id
  cross join lateral logloom_private.alert_entry_of(h.alert, i.resolved_at, v_sees_addresses) e
  -- Of a group there may be a whole message.
  where coalesce(h.bytes_before, 0) < logloom_private.list_bytes()
  order by (h.alert).triggered_at desc, (h.alert).alert_id desc;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because service_role reads neither queue nor heartbeats
declare
  v_queue constant logloom_private.queue_state := logloom_private.queue_state();
  -- After the queue was read, so that no age is negative.
  v_now constant timestamptz := clock_timestamp();
  v_is_restored constant boolean := logloom_private.is_restored();
  v_checks constant jsonb := jsonb_build_object(
    'queue', logloom_private.queue_health(v_queue, v_now),
    'writer', logloom_private.writer_health(v_now),
    'partitions', logloom_private.partition_health(),
    'alerts', logloom_private.alert_health(
      v_now, logloom_private.watermark(v_queue.oldest_received_at)
    ) || jsonb_build_object('unsealed_secrets', logloom_private.unsealed_secret_count()),
    'sealing', logloom_private.sealing_health(v_now),
    'verification', logloom_private.verification_health(),
    'canary', logloom_private.canary_health(),
    'streams', logloom_private.stream_health(v_now),
    'archive', logloom_private.archive_health(v_now),
    'pre_request', logloom_private.pre_request_health(),
    'installation', logloom_private.health_grade(
      case when v_is_restored then
        'Restored from a dump and not repaired: see Backup and restore in docs/guides/operations.md'
      end,
      null
    ) || jsonb_build_object(
      'state', case when v_is_restored then 'restored, not repaired' else 'installed' end
    ),
    'jobs', logloom_private.job_health(v_now)
  );
  v_status constant text := logloom_private.worst_status(v_checks);
  -- Receivers are the tenants'; for those of one the service is no less ready for others.
  v_ready constant text := logloom_private.worst_status(v_checks - 'streams');
begin
  return jsonb_build_object(
    'status', v_status,
    'timestamp', v_now,
    'checks', v_checks,
    'endpoints', (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    ) || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', v_ready = 'healthy',
        'status', v_ready,
        'checks', coalesce(
          logloom_private.unhealthy_checks(v_checks - '{jobs,streams}'::text[]), '{}'
        )
          || jsonb_strip_nulls(jsonb_build_object(
            'jobs', logloom_private.unhealthy_checks(v_checks -> 'jobs'),
            'queue', jsonb_build_object(
              'depth', v_checks -> 'queue' -> 'depth', 'reason', v_checks -> 'queue' -> 'reason'
            ),
            'writer', jsonb_build_object(
              'status', v_checks -> 'writer' -> 'status',
              'reason', v_checks -> 'writer' -> 'reason'
            )
          ))
      ),
      'detailed', jsonb_build_object(
        'available', v_status <> 'unhealthy', 'status', v_status, 'checks', v_checks
      )
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.schedule_jobs()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_job record;
begin
  for v_job in
    select
      'logloom_' || j.name as name,
      j.schedule,
      coalesce(
        j.command,
        format('call logloom_private.run_job(%L, %L)', j.name, 'logloom_private.' || j.name || '()')
      ) as command
    from (
      values
        ('write_logs', '1 second', 'call logloom_private.write_logs()'),
        ('compact_log_counts', '20 seconds', null),
        ('maintain_partitions', '7 * * * *', null),
        ('purge_job_history', '*/10 * * * *', null),
        -- Once a day: it goes on every minute until the day's work is done, then returns at once.
        ('run_retention', '* * * * *', 'call logloom_private.run_retention()'),
        (
          'run_deletions', '* * * * *',
          'call logloom_private.run_job(''run_deletions'', ''logloom_private.run_deletion_step()'')'
        ),
        (
          'seal_logs', '* * * * *',
          'call logloom_private.run_job(''seal_logs'', ''logloom_private.seal_step()'')'
        ),
        (
          'archive_logs', '5 seconds',
          'call logloom_private.run_job(''archive_logs'', ''logloom_private.archive_step()'')'
        ),
        (
          'verify_logs', '* * * * *',
          'call logloom_private.run_job(''verify_logs'', ''logloom_private.verify_step()'')'
        ),
        ('run_canary', '* * * * *', 'call logloom_private.run_canary()'),
        ('purge_old_rows', '13 * * * *', null),
        -- More often than once a minute: a round begins when the watermark has passed a minute.
        ('evaluate_alerts', '3 seconds', 'call logloom_private.evaluate_alerts()'),
        ('send_notifications', '2 seconds', null),
        ('send_log_streams', '2 seconds', null)
    ) j (name, schedule, command)
  loop
    -- pg_cron takes a second job of a name for a change of the first one.
    if exists (
      select
      from cron.job c
      where c.jobname = v_job.name
        and (c.username = current_user and strpos(c.command, 'logloom_private.') > 0) is not true
    ) then
      raise exception using
        errcode = 'duplicate_object',
        message = format('pg_cron has a job %s that is not Logloom''s', quote_ident(v_job.name)),
        hint = 'Schedule it under another name and remove this one, then try again.';
    end if;
    perform cron.schedule(v_job.name, v_job.schedule, v_job.command);
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.scope_of_view (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS logloom_private.reading_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope.tenant_id := p_tenant_id;
  if p_view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_view_id);
  end if;
  return v_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.send_notifications()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) or exists (
    -- Sealed at once, if the function can. If not, it is not asked for ever.
    select from logloom_private.webhook_secrets w
    where (starts_with(w.secret, 'whsec_') or starts_with(w.previous_secret, 'whsec_'))
      and w.changed_at > now() - interval '1 minute'
  ) then
    perform logloom_private.wake_function('logloom-notify');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.service_operations()
  RETURNS text[]
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array[
    'claim_alert_notifications',
    'claim_log_archive_work',
    'claim_log_streams',
    'complete_alert_notification',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'ingest_text',
    'list_unsealed_alert_secrets',
    'match_log_archive',
    'open_log_portal_session',
    'read_log_stream_batch',
    'read_logs',
    'run_writer',
    'seal_alert_secret',
    'settle_alert_notification',
    'settle_log_archive_work',
    'settle_log_stream_batch'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_query (
  p_stream logloom.log_streams
)
  RETURNS logloom_private.compiled_query
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.scope_of_view(p_stream.tenant_id, p_stream.view_id);
  v_hops jsonb;
begin
  if logloom_private.is_hidden('attrs.logloom_hops', v_scope.hidden_fields) then
    v_hops := (logloom_private.compile_query('-@logloom_hops:>=3')).tree;
    v_scope.filter := case when v_scope.filter is null then v_hops else jsonb_build_object(
      'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_hops)
    ) end;
  end if;
  return logloom_private.scoped_query(
    v_scope, logloom_private.compile_query(p_stream.query_dsl, now()), p_stream.query_dsl
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.users_of_view (
  p_tenant_id text,
  p_view_id   uuid
)
  RETURNS text[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select u.name
    from (
      select 'API key ' || k.name
      from logloom.api_keys k
      where k.tenant_id = p_tenant_id and k.view_id = p_view_id
        and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
      union all
      select 'member ' || coalesce(m.email, m.user_id)
      from logloom.tenant_members m
      where m.tenant_id = p_tenant_id and m.view_id = p_view_id
      union all
      select 'portal session ' || coalesce(s.label, s.session_id::text)
      from logloom.portal_sessions s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
        and s.revoked_at is null and least(s.expires_at, s.code_expires_at) > now()
      union all
      select 'alert rule ' || r.name
      from logloom.alert_rules r
      where r.tenant_id = p_tenant_id and r.view_id = p_view_id
      union all
      select 'log stream ' || l.name
      from logloom.log_streams l
      where l.tenant_id = p_tenant_id and l.view_id = p_view_id
      union all
      select case
        when s.is_shared or s.created_by = logloom_private.current_user_id()
          then 'saved search ' || s.name
        else 'a private saved search of ' || s.created_by
      end
      from logloom.saved_searches s
      where s.tenant_id = p_tenant_id and s.view_id = p_view_id
    ) u (name)
    order by u.name
    limit 10
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.wake_archive()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_endpoint logloom_private.archive_endpoint;
begin
  select e.* into v_endpoint from logloom_private.archive_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.archive_endpoint has no url or no secret';
  end if;
  perform logloom_private.call_function(
    v_endpoint.url, 'X-Logloom-Archive-Secret', v_endpoint.secret
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.wake_function (
  p_name text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_endpoint logloom_private.notify_endpoint;
begin
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  perform logloom_private.call_function(
    regexp_replace(v_endpoint.url, '/logloom-notify/?$', '/' || p_name),
    'X-Logloom-Notify-Secret', v_endpoint.secret
  );
end;
$function$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."audit_events"
    ADD CONSTRAINT "audit_events_action_is_known"
      CHECK
      ((action = ANY (ARRAY['alert_rule.paused'::text, 'api_key.created'::text, 'api_key.changed'::text, 'api_key.revoked'::text, 'api_key.deleted'::text,
      'alert_silence.created'::text,
      'alert_silence.expired'::text,
      'ingest_token.created'::text,
      'portal_session.created'::text,
      'portal_session.first_used'::text,
      'portal_session.revoked'::text,
      'member.added'::text,
      'member.changed'::text,
      'member.removed'::text,
      'member.switched'::text,
      'settings.changed'::text,
      'plan.changed'::text,
      'view.created'::text,
      'view.changed'::text,
      'view.deleted'::text,
      'log_stream.created'::text,
      'log_stream.changed'::text,
      'log_stream.deleted'::text,
      'dashboard.created'::text,
      'dashboard.changed'::text,
      'dashboard.deleted'::text, 'logs.deletion_requested'::text, 'logs.deletion_finished'::text, 'logs.restore_requested'::text, 'logs.restore_finished'::text])));
  ALTER TABLE "logloom_private"."notifications"
    ADD CONSTRAINT "notifications_purpose_is_known" CHECK ((purpose = ANY (ARRAY['alert'::text, 'recovery'::text, 'test'::text, 'confirmation'::text, 'stream'::text])));
  COMMENT ON TABLE "logloom"."audit_events" IS 'What was done to keys, members, views, log streams, dashboards, settings and plans, and deletions of records. Nobody changes or removes an event before settings.audit_lifetime has gone by.';
  COMMENT ON TABLE "logloom_private"."notifications" IS 'The outbox: one row for an alert and a destination, for its recovery, for a test or a code that confirms an address, which have no alert, or to an owner of a log stream that was paused, which is rule_id.';
  COMMENT ON TYPE "logloom_private"."lock_name" IS 'The advisory locks of Logloom. deletion: one that seals or deletes records of days that are over. writer: whoever adds records or moves the queue. partitions: whoever makes or drops a day. log_counts: whoever sums up or forgets counts. queue: shared by enqueues, exclusive for the flip. notifications and streams: one claim at a time, so that a limit holds. archive: one claim of its work at a time. With a tenant''s hash as second key: alerts, one evaluator of its rules; delete_logs, one order of a deletion at a time; members, one change of who belongs to it; notifications, one test or confirmation of an address.';
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

select logloom_private.finish_migration();
