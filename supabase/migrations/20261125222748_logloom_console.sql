-- The console: dashboards, the overview, members of several tenants, what a saved search shows.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom.tenant_members, logloom.saved_searches, logloom.audit_events in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $$
begin
  -- Small tables, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  -- No table has a column of this type.
  alter type public.logloom_saved_search add attribute display jsonb;

  alter table logloom.audit_events
    drop constraint audit_events_action_is_known,
    add constraint audit_events_action_is_known check (
      action in (
        'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
        'ingest_token.created',
        'portal_session.created', 'portal_session.first_used', 'portal_session.revoked',
        'member.added', 'member.changed', 'member.removed', 'member.switched',
        'settings.changed', 'plan.changed',
        'view.created', 'view.changed', 'view.deleted',
        'dashboard.created', 'dashboard.changed', 'dashboard.deleted',
        'logs.deletion_requested', 'logs.deletion_finished'
      )
    );

  alter table logloom.plans
    add column max_log_dashboards integer not null default 1000,
    add constraint plans_max_log_dashboards_is_not_negative check (max_log_dashboards >= 0);
  update logloom.plans set max_log_dashboards = 5 where plan_id = 'free';
  update logloom.plans set max_log_dashboards = 100 where plan_id = 'pro';

  alter table logloom.saved_searches
    add column display jsonb not null default '{}',
    add constraint saved_searches_display_is_valid check (
      jsonb_typeof(display) = 'object' and octet_length(display::text) <= 4000
    );

  alter table logloom.tenant_members add column chosen_at timestamptz;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  DROP FUNCTION "public"."create_saved_search"(text, text, text, text, boolean, text[], uuid);
  DROP FUNCTION "public"."update_saved_search"(uuid, text, text, text, text, boolean, text[], uuid);
  CREATE TABLE "logloom"."log_dashboards" (
    "dashboard_id" uuid                     NOT NULL DEFAULT gen_random_uuid(),
    "tenant_id"    text                     NOT NULL,
    "created_by"   text                     NOT NULL,
    "name"         text                     NOT NULL,
    "is_shared"    boolean                  NOT NULL DEFAULT false,
    "panels"       jsonb                    NOT NULL,
    "created_at"   timestamp with time zone NOT NULL DEFAULT now(),
    "updated_at"   timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT "log_dashboards_panels_are_few" CHECK (
  CASE
      WHEN (jsonb_typeof(panels) = 'array'::text) THEN (jsonb_array_length(panels) <= 20)
      ELSE false
  END),
    CONSTRAINT "log_dashboards_pkey" PRIMARY KEY (dashboard_id),
    CONSTRAINT "log_dashboards_name_is_valid" CHECK (((name = logloom_private.trim_space(name)) AND ((length(name) >= 1) AND (length(name) <= 200))))
  );
  ALTER TABLE "logloom"."log_dashboards"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom"."log_dashboards"
    FORCE ROW LEVEL SECURITY;
  CREATE TYPE "public"."logloom_log_panel" AS (
    "title"     text,
    "query_dsl" text,
    "kind"      text,
    "width"     integer
  );
  CREATE TYPE "public"."logloom_log_dashboard" AS (
    "dashboard_id" uuid,
    "tenant_id"    text,
    "name"         text,
    "is_shared"    boolean,
    "panels"       public.logloom_log_panel[],
    "created_by"   text,
    "created_at"   timestamp WITH time zone,
    "updated_at"   timestamp WITH time zone
  );
  CREATE TYPE "public"."logloom_log_secret_scope" AS (
    "tenant_id" text
  );
  CREATE TYPE "public"."logloom_log_service" AS (
    "service"        text,
    "records"        bigint,
    "errors"         bigint,
    "records_before" bigint,
    "errors_before"  bigint,
    "last_seen"      timestamp WITH time zone
  );
  CREATE TYPE "public"."logloom_log_overview" AS (
    "ts_from"        timestamp WITH time zone,
    "ts_to"          timestamp WITH time zone,
    "before_from"    timestamp WITH time zone,
    "before_to"      timestamp WITH time zone,
    "total_services" bigint,
    "services"       public.logloom_log_service[],
    "warnings"       public.logloom_query_warning[]
  );
  CREATE TYPE "public"."logloom_log_tenant" AS (
    "tenant_id"  text,
    "role"       text,
    "is_current" boolean
  );
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

CREATE OR REPLACE FUNCTION logloom_private.audit_log_dashboards()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes audit events
declare
  v_dashboard constant logloom.log_dashboards := coalesce(new, old);
  v_was_shared constant boolean := tg_op <> 'UPDATE' or old.is_shared;
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_dashboard.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'dashboard.created'
      when 'DELETE' then 'dashboard.deleted'
      else 'dashboard.changed'
    end,
    v_dashboard.dashboard_id::text,
    jsonb_build_object('is_shared', v_dashboard.is_shared)
    || case when v_dashboard.is_shared and v_was_shared then
        jsonb_build_object('name', v_dashboard.name)
        || case when tg_op = 'UPDATE' then logloom_private.changed_members(
            to_jsonb(old) - 'updated_at', to_jsonb(new) - 'updated_at'
          ) else '{}' end
      else '{}' end
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.audit_tenant_members()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes audit events
declare
  v_member constant logloom.tenant_members := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_member.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'member.added'
      when 'DELETE' then 'member.removed'
      else case when new.chosen_at is distinct from old.chosen_at then 'member.switched'
        else 'member.changed' end
    end,
    v_member.user_id,
    case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        to_jsonb(old) - 'chosen_at', to_jsonb(new) - 'chosen_at'
      )
      else jsonb_strip_nulls(
        jsonb_build_object('role', v_member.role, 'view_id', v_member.view_id)
      )
    end
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.changed_secrets (
  p_current jsonb,
  p_secrets jsonb,
  p_names   text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_secret record;
begin
  if p_secrets is null then
    return p_current;
  elsif jsonb_typeof(p_secrets) <> 'object' or octet_length(p_secrets::text) > 200000 then
    perform logloom_private.refuse('parameters.secrets_are_invalid');
  end if;
  for v_secret in select s.key as name, s.value from jsonb_each(p_secrets) s loop
    if v_secret.name <> all (p_names)
      and not ('header.*' = any (p_names) and v_secret.name ~ '^header\.[a-z][a-z0-9-]{0,90}$')
    then
      perform logloom_private.refuse(
        'parameters.secret_is_unknown', left(v_secret.name, 60), array_to_string(p_names, ', ')
      );
    elsif v_secret.value <> 'null' and (
      jsonb_typeof(v_secret.value) <> 'string'
      or length(v_secret.value #>> '{}') > 24000
      or v_secret.value #>> '{}' !~ '^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}$'
    ) then
      perform logloom_private.refuse('parameters.secret_is_not_sealed', v_secret.name);
    end if;
  end loop;
  return jsonb_strip_nulls(p_current || p_secrets);
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
    select p.panel, p.n from jsonb_array_elements(p_panels) with ordinality p (panel, n) order by p.n
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

CREATE OR REPLACE FUNCTION logloom_private.choose_tenant (
  p_tenant_id text
)
  RETURNS public.logloom_log_tenant
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes members
declare
  v_current constant text := logloom_private.caller_tenant();
  v_claims constant jsonb := logloom_private.claims();
  v_user_id constant text := logloom_private.require_user_id();
  v_role text;
begin
  perform logloom_private.require_writing_client(v_claims);
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if nullif(v_claims #> '{app_metadata,tenant_id}', 'null') is not null then
    perform logloom_private.refuse('tenants.tenant_is_assigned');
  end if;
  update logloom.tenant_members m set chosen_at = clock_timestamp()
  where m.tenant_id = p_tenant_id and m.user_id = v_user_id
    and not logloom_private.is_being_deleted(m.tenant_id)
  returning m.role into v_role;
  if not found then
    perform logloom_private.refuse('tenants.membership_not_found');
  end if;
  return row(p_tenant_id, v_role, p_tenant_id = v_current)::public.logloom_log_tenant;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.custom_access_token_hook (
  event jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- Only an administrator of Auth writes app_metadata; user_metadata is the user's own.
  v_choice constant jsonb := nullif(event #> '{claims,app_metadata,tenant_id}', 'null');
  v_claims jsonb := (event -> 'claims') - 'tenant_id';
  v_tenant_id text;
begin
  select m.tenant_id into v_tenant_id
  from logloom.tenant_members m
  where m.user_id = event ->> 'user_id'
    and (v_choice is null or to_jsonb(m.tenant_id) = v_choice)
  order by m.chosen_at desc nulls last, m.created_at, m.tenant_id
  limit 1;
  if found then
    v_claims := v_claims || jsonb_build_object('tenant_id', v_tenant_id);
  end if;
  return jsonb_build_object('claims', v_claims);
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
      'Invalid p_name: 1 to 200 characters after trimming', 'Name the dashboard after what it shows.', null),
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
        'alert_incident_state', 'alert_rule_of', 'api_key_status', 'change_log_view',
        'change_member', 'check_query', 'check_settings', 'checked_panels', 'choose_tenant',
        'confirm_address', 'deliveries_of_incident', 'distinct_destinations', 'effective_settings',
        'end_portal_session', 'enqueue_rule_test', 'enroll_member', 'found_tenant', 'hold_view',
        'is_being_deleted', 'is_viewer', 'issue_api_key', 'issue_ingest_token',
        'issue_portal_session', 'list_bytes', 'list_limit', 'log_dashboard_of', 'log_view_of',
        'make_log_view', 'my_key_reads', 'my_stored', 'my_usage', 'new_api_key',
        'note_saved_search_run', 'page_of_addresses', 'page_of_deliveries', 'page_place',
        'plan_feature', 'plan_of', 'preview_windows', 'provision_current_tenant',
        'put_back_delivery', 'read_alert_history', 'read_alert_rules', 'read_log',
        'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
        'read_log_histogram', 'read_log_overview', 'read_log_page', 'read_log_series',
        'read_log_stats', 'read_log_tail', 'read_members', 'read_memberships',
        'read_query_validity', 'read_saved_search', 'read_saved_searches', 'reads_again',
        'reads_only', 'refuse_for_now', 'refuse_log_dashboard', 'refuse_saved_search',
        'refuse_with_headers', 'remove_log_view', 'replace_webhook_secret', 'request_deletion',
        'require_parameter', 'require_role', 'require_room_for', 'require_room_for_api_key',
        'require_room_for_log_dashboard', 'require_rule_in_view', 'require_view_by_admin',
        'require_view_for_key', 'require_writing_client', 'resolve_tenant_to_change',
        'retention_days', 'saved_search_of', 'sent_claims', 'service_operations', 'tags_are_valid',
        'tenant_with_plan', 'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_due_notifications', 'ingest', 'ingest_each', 'open_portal_session', 'read_by_key',
        'read_health', 'run_writer_in_place', 'settle_claim'
      ])
  ) g (roles, names);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_dashboard_of (
  p_row logloom.log_dashboards
)
  RETURNS public.logloom_log_dashboard
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.dashboard_id, p_row.tenant_id, p_row.name, p_row.is_shared,
    array(
      select jsonb_populate_record(null::public.logloom_log_panel, p.panel)
      from jsonb_array_elements(p_row.panels) with ordinality p (panel, n)
      order by p.n
    ),
    p_row.created_by, p_row.created_at, p_row.updated_at
  );
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
    'confirm_alert_address',
    'create_alert_rule',
    'create_api_key',
    'create_ingest_token',
    'create_log_dashboard',
    'create_log_portal_session',
    'create_log_view',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_log_dashboard',
    'delete_log_view',
    'delete_logs',
    'delete_saved_search',
    'delete_tenant',
    'export_logs',
    'get_alert_incident',
    'get_alert_rule',
    'get_api_key_usage',
    'get_current_tenant',
    'get_log',
    'get_log_context',
    'get_log_dashboard',
    'get_log_secret_scope',
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
    'list_api_keys',
    'list_log_dashboards',
    'list_log_fields',
    'list_log_portal_sessions',
    'list_log_retention_runs',
    'list_log_tenants',
    'list_log_views',
    'list_saved_searches',
    'list_tenant_audit_events',
    'list_tenant_members',
    'log_changes',
    'log_histogram',
    'log_overview',
    'log_series',
    'log_stats',
    'open_log_portal_session',
    'preview_alert_rule',
    'read_logs',
    'remove_tenant_member',
    'retry_alert_delivery',
    'revoke_api_key',
    'revoke_log_portal_session',
    'rotate_alert_webhook_secret',
    'rotate_api_key',
    'run_saved_search',
    'run_writer',
    'search_logs',
    'set_tenant_member_role',
    'settle_alert_notification',
    'switch_log_tenant',
    'tail_logs',
    'test_alert_rule',
    'update_alert_rule',
    'update_log_dashboard',
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
    ('parameters.secrets_are_invalid', 400, 'Invalid p_secrets: an object of names and sealed texts',
      'Send {"name": "lls1...."} with what POST /functions/v1/logloom-stream/v1/seal answers, or '
        'null to take one away.', null),
    ('parameters.secret_is_unknown', 400, 'Invalid p_secrets: no secret is called %s here',
      'Allowed: %2$s.', 'The receiver of this kind has no use for it.'),
    ('parameters.secret_is_not_sealed', 400, 'Invalid p_secrets: %s is not sealed',
      'Seal it by POST /functions/v1/logloom-stream/v1/seal. If what you sent was the secret '
        'itself, replace it: logs of the database may hold it now.',
      'The database takes no secret in plain text.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_overview (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer
)
  RETURNS public.logloom_log_overview
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but the search functions makes SQL over records
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'log_overview');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_length constant double precision := extract(epoch from upper(v_range) - lower(v_range));
  -- The same hours of the day: a load that comes every morning is no change.
  v_shift constant interval := make_interval(hours => 24 * ceil(v_length / 86400)::integer);
  v_before constant tstzrange := tstzrange(lower(v_range) - v_shift, upper(v_range) - v_shift);
  v_seconds constant bigint := 60 * ceil(v_length / 86400)::bigint;
  v_query logloom_private.compiled_query;
  v_answer public.logloom_log_overview;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, now(), 'filter');
  v_answer.ts_from := lower(v_range);
  v_answer.ts_to := upper(v_range);
  v_answer.before_from := lower(v_before);
  v_answer.before_to := upper(v_before);
  v_answer.warnings := array(
    select w
    from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
  );
  if logloom_private.kept_from(v_tenant_id, lower(v_before)) > lower(v_before) then
    v_answer.warnings := v_answer.warnings || row(
      null, 'the range before begins when records are no longer kept: its counts are not whole',
      'Ask for a shorter or a later range.'
    )::public.logloom_query_warning;
  end if;
  execute format(
    $query$
      with counted as (
        select false as is_before, c.* from (%s) c
        union all
        select true, c.* from (%s) c
      ), services as (
        select
          c.service,
          coalesce(sum(c.count) filter (where not c.is_before), 0)::bigint as records,
          coalesce(sum(c.count) filter (where not c.is_before and c.level = 'error'), 0)::bigint
            as errors,
          coalesce(sum(c.count) filter (where c.is_before), 0)::bigint as records_before,
          coalesce(sum(c.count) filter (where c.is_before and c.level = 'error'), 0)::bigint
            as errors_before,
          max(c.ts) filter (where c.count > 0) as last_seen
        from counted c
        group by c.service
      )
      select
        (select count(*) from services s where s.records > 0 or s.records_before > 0),
        array(
          select row(s.*)::public.logloom_log_service
          from services s
          where s.records > 0 or s.records_before > 0
          order by s.records desc, s.records_before desc, s.service collate "C"
          limit $1
        )
    $query$,
    logloom_private.service_counts_sql(v_tenant_id, v_query, v_range, v_seconds),
    logloom_private.service_counts_sql(v_tenant_id, v_query, v_before, v_seconds)
  )
  into v_answer.total_services, v_answer.services
  using v_limit;
  return v_answer;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_overview(p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_memberships (
  p_limit integer,
  p_after text
)
  RETURNS SETOF public.logloom_log_tenant
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because policies open the members of the token's tenant alone
declare
  v_current constant text := logloom_private.caller_tenant();
  v_claims constant jsonb := logloom_private.claims();
  v_user_id constant text := logloom_private.require_user_id();
  v_limit constant integer := logloom_private.list_limit(p_limit);
begin
  perform logloom_private.require_writing_client(v_claims);
  return query
  select t.tenant_id, t.role, t.tenant_id = v_current
  from (
    select m.tenant_id, m.role
    from logloom.tenant_members m
    where m.user_id = v_user_id and not logloom_private.is_being_deleted(m.tenant_id)
    union
    -- Where the tenant does not use roles, or the token says them.
    select v_current, logloom_private.acting_role(v_current, v_user_id, v_claims)
  ) t
  where p_after is null or t.tenant_id collate "C" > p_after collate "C"
  order by t.tenant_id collate "C"
  limit v_limit;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reading_operations()
  RETURNS TABLE (
    operation text,
    reader    text
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select o.*
  from (
    values
      ('export_logs', 'read_log_export'),
      ('get_log', 'read_log'),
      ('get_log_context', 'read_log_context'),
      ('list_alert_history', 'read_alert_history'),
      ('list_alert_rules', 'read_alert_rules'),
      ('list_log_fields', 'read_log_fields'),
      ('list_saved_searches', 'read_saved_searches'),
      ('log_changes', 'read_log_changes'),
      ('log_histogram', 'read_log_histogram'),
      ('log_overview', 'read_log_overview'),
      ('log_series', 'read_log_series'),
      ('log_stats', 'read_log_stats'),
      ('search_logs', 'read_log_page'),
      ('tail_logs', 'read_log_tail'),
      ('validate_query', 'read_query_validity')
  ) o (operation, reader);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_log_dashboard (
  p_dashboard_id uuid
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if exists (select from logloom.log_dashboards d where d.dashboard_id = p_dashboard_id) then
    perform logloom_private.refuse('dashboards.not_its_creator');
  end if;
  perform logloom_private.refuse('dashboards.not_found');
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_room_for_log_dashboard()
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role may hold a tenant, and a plan counts what a colleague keeps private
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_max integer;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_log_dashboards;
  if (select count(*) from logloom.log_dashboards d where d.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('dashboards.no_room', v_max::text);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.saved_search_of (
  p_row logloom.saved_searches
)
  RETURNS public.logloom_saved_search
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.id, p_row.name, p_row.description, p_row.query_dsl, p_row.category, p_row.is_shared,
    p_row.tags, p_row.created_by, p_row.created_at, p_row.updated_at, p_row.last_run_at,
    p_row.run_count, p_row.view_id, p_row.display
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.saved_searches_errors()
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
    ('saved_searches.saved_searches_name_is_valid', 400,
      'Invalid p_name: 1 to 200 characters after trimming', 'Name the search after what it finds.',
      null),
    ('saved_searches.saved_searches_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('saved_searches.saved_searches_category_is_valid', 400,
      'Invalid p_category: at most 100 characters', 'Shorten it.', null),
    ('saved_searches.saved_searches_tags_are_valid', 400,
      'Invalid p_tags: at most 20 tags of 1 to 50 characters each', 'Send a flat array of texts.',
      null),
    ('saved_searches.saved_searches_display_is_valid', 400,
      'Invalid p_display: an object of at most 4000 bytes', 'Send a smaller object.', null),
    ('saved_searches.query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      '* finds every record.', null),
    ('saved_searches.not_its_creator', 403, 'Only its creator may change or delete a saved search',
      'Save it under a name of your own with create_saved_search.',
      'It is a colleague''s, shared.'),
    ('saved_searches.not_found', 404, 'Saved search not found',
      'list_saved_searches shows those that you can read.',
      'It is not there, another tenant''s, or a colleague''s private one.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.service_counts_sql (
  p_tenant_id text,
  p_query     logloom_private.compiled_query,
  p_range     tstzrange,
  p_seconds   bigint
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_source logloom_private.counted_source;
begin
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range);
  -- As count() by service, level is counted.
  p_query.by_fields := array['level', 'service'];
  p_query.plan := '{"reads": ["level", "service"]}';
  v_source := logloom_private.stats_source(p_tenant_id, p_query, true, p_seconds);
  return format(
    'select date_bin(%L::interval, l.ts, ''epoch'') as ts, l.level, l.service, %s as count '
      '%s group by 1, 2, 3',
    make_interval(secs => p_seconds), v_source.count_sql, v_source.rows_sql
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.shown_secrets (
  p_secrets jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select coalesce(jsonb_object_agg(s.name, '{"set": true}'::jsonb), '{}')
    from jsonb_object_keys(p_secrets) s (name)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.tenants_errors()
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
    ('tenants.id_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      'Send a short name, such as that of your company.',
      '`create_tenant`: it cannot be a tenant''s id.'),
    ('tenants.role_is_unknown', 400, 'Invalid p_role: viewer, member, admin or owner',
      'docs/background/identity.md says what each may do.', 'There is no other role.'),
    ('tenants.viewer_needs_a_view', 400, 'A viewer needs p_view_id',
      'list_log_views shows the views of the tenant, create_log_view makes one.',
      'The role `viewer`, and no view.'),
    ('tenants.view_is_for_viewers', 400, 'p_view_id is for the role viewer',
      'Other roles read everything. Send p_role viewer, or leave p_view_id out.',
      'A view, and another role than `viewer`.'),
    ('tenants.view_not_found', 404, 'View not found',
      'list_log_views shows the views of this tenant.', 'The tenant has no such view.'),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of their tokens.', 'It cannot be the `sub` of a token.'),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', 'It cannot be an email address.'),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'They sign up first, and confirm the address.', 'No user of Supabase Auth has confirmed it.'),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no users of Supabase Auth to look for by p_email alone.',
      'Without Supabase Auth, `p_email` alone does not say who it is.'),
    ('tenants.already_a_member', 400, 'They are already a member of the tenant',
      'set_tenant_member_role changes what they may do.', '`add_tenant_member` of a member.'),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From the first member on, nobody else belongs to the tenant.',
      '`service_role` adds the first one.'),
    ('tenants.last_owner_stays', 400, 'The last owner must stay an owner',
      'Make another member owner first; delete_tenant removes the tenant as a whole.',
      'A tenant needs one.'),
    ('tenants.membership_not_found', 404, 'You do not belong to such a tenant',
      'list_log_tenants shows those that you belong to.',
      '`switch_log_tenant`, and the tenant is not there, or the caller is not a member.'),
    ('tenants.tenant_is_assigned', 409, 'An administrator chooses the tenant of this user',
      'Whoever runs the project changes app_metadata.tenant_id of the user.',
      '`switch_log_tenant`, and `app_metadata.tenant_id` of the token names one.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each.', 'The tenant has no such member.'),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. That of a deleted tenant is free when nothing of it is left.',
      '`create_tenant`, and a tenant of this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You already belong to a tenant',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users who belong to none.'),
    ('tenants.made_by_a_user', 400, 'A tenant must be created by a user, who becomes its owner',
      'service_role makes one by add_tenant_member with p_tenant_id and p_role owner.',
      '`service_role` calls `create_tenant`.'),
    ('tenants.not_made_by_users', 403, 'Users cannot create tenants here',
      'Whoever runs the project adds you to one, or sets tenants_by_users in '
        'logloom_private.settings.', '`tenants_by_users` in `logloom_private.settings` is off.'),
    ('tenants.not_made_by_anonymous_users', 403, 'Anonymous users cannot create tenants here',
      'Sign up, or ask whoever runs the project to set tenants_by_anonymous_users in '
        'logloom_private.settings.',
      'The token is of an anonymous sign-in (claim `is_anonymous`), and its tenant is not there '
        'yet.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Its id is free again afterwards.', null),
    ('tenants.not_found', 404, 'Tenant not found',
      'A tenant appears with its first write: create, update or ingest.',
      'Before its first write (create, update or ingest) a tenant does not exist.'),
    ('tenants.settings_not_found', 404, 'Tenant settings not found',
      'A tenant appears with its first write: create, update or ingest.', null),
    ('tenants.plan_has_no_room', 400, 'Plan limit exceeded: %s (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan has no room for one more `saved_searches` or `alerts`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_log_dashboard (
  p_name      text    DEFAULT NULL::text,
  p_panels    jsonb   DEFAULT '[]'::jsonb,
  p_is_shared boolean DEFAULT false
)
  RETURNS public.logloom_log_dashboard
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_panels jsonb;
  v_constraint text;
  v_row logloom.log_dashboards;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  v_panels := logloom_private.checked_panels(coalesce(p_panels, '[]'));
  perform logloom_private.require_room_for_log_dashboard();
  insert into logloom.log_dashboards (tenant_id, created_by, name, is_shared, panels)
  values (
    v_tenant_id, v_user_id, logloom_private.trim_space(p_name), coalesce(p_is_shared, false),
    v_panels
  )
  returning * into v_row;
  return logloom_private.log_dashboard_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('dashboards.' || v_constraint);
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_saved_search (
  p_name        text    DEFAULT NULL::text,
  p_query_dsl   text    DEFAULT NULL::text,
  p_description text    DEFAULT NULL::text,
  p_category    text    DEFAULT NULL::text,
  p_is_shared   boolean DEFAULT false,
  p_tags        text[]  DEFAULT NULL::text[],
  p_view_id     uuid    DEFAULT NULL::uuid,
  p_display     jsonb   DEFAULT NULL::jsonb
)
  RETURNS uuid
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_id uuid;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.check_query(p_query_dsl);
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_room_for('saved_searches');
  insert into logloom.saved_searches (
    tenant_id, created_by, name, query_dsl, description, category, is_shared, tags, view_id,
    display
  )
  values (
    v_tenant_id, v_user_id, logloom_private.trim_space(p_name), p_query_dsl,
    nullif(logloom_private.trim_space(p_description), ''),
    nullif(logloom_private.trim_space(p_category), ''),
    coalesce(p_is_shared, false), coalesce(p_tags, '{}'), p_view_id,
    coalesce(p_display, '{}')
  )
  returning id into v_id;
  return v_id;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.delete_log_dashboard (
  p_dashboard_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
begin
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  delete from logloom.log_dashboards d
  where d.tenant_id = v_tenant_id and d.dashboard_id = p_dashboard_id and d.created_by = v_user_id;
  if not found then
    perform logloom_private.refuse_log_dashboard(p_dashboard_id);
  end if;
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION public.get_log_dashboard (
  p_dashboard_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_log_dashboard
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.log_dashboards;
begin
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  select d.* into v_row
  from logloom.log_dashboards d
  where d.tenant_id = v_tenant_id and d.dashboard_id = p_dashboard_id;
  if not found then
    perform logloom_private.refuse_log_dashboard(p_dashboard_id);
  end if;
  return logloom_private.log_dashboard_of(v_row);
end;
$function$;

CREATE OR REPLACE FUNCTION public.get_log_secret_scope (
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS public.logloom_log_secret_scope
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return row(v_tenant_id)::public.logloom_log_secret_scope;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_log_dashboards (
  p_limit integer DEFAULT NULL::integer,
  p_after uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_log_dashboard
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'dashboard', 'dashboard_id',
    (
      select d.created_at from logloom.log_dashboards d
      where d.tenant_id = v_tenant_id and d.dashboard_id = p_after
    )
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
      from logloom.log_dashboards d
      cross join lateral logloom_private.log_dashboard_of(d) o
      where d.tenant_id = v_tenant_id
        and (p_after is null or (d.created_at, d.dashboard_id) < (v_after, p_after))
      order by d.created_at desc, d.dashboard_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_log_tenants (
  p_limit integer DEFAULT NULL::integer,
  p_after text    DEFAULT NULL::text
)
  RETURNS SETOF public.logloom_log_tenant
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query select t.* from logloom_private.read_memberships(p_limit, p_after) t;
end;
$function$;

CREATE OR REPLACE FUNCTION public.log_overview (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer
)
  RETURNS public.logloom_log_overview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  return logloom_private.read_log_overview(null, p_query_dsl, p_ts_from, p_ts_to, p_limit);
end;
$function$;

CREATE OR REPLACE FUNCTION public.switch_log_tenant (
  p_tenant_id text DEFAULT NULL::text
)
  RETURNS public.logloom_log_tenant
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.choose_tenant(p_tenant_id);
end;
$function$;

CREATE OR REPLACE FUNCTION public.update_log_dashboard (
  p_dashboard_id uuid    DEFAULT NULL::uuid,
  p_name         text    DEFAULT NULL::text,
  p_panels       jsonb   DEFAULT NULL::jsonb,
  p_is_shared    boolean DEFAULT NULL::boolean
)
  RETURNS public.logloom_log_dashboard
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_panels jsonb;
  v_constraint text;
  v_row logloom.log_dashboards;
begin
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  if p_panels is not null then
    v_panels := logloom_private.checked_panels(p_panels);
  end if;
  update logloom.log_dashboards d
  set
    name = coalesce(logloom_private.trim_space(p_name), d.name),
    panels = coalesce(v_panels, d.panels),
    is_shared = coalesce(p_is_shared, d.is_shared),
    updated_at = now()
  where d.tenant_id = v_tenant_id and d.dashboard_id = p_dashboard_id and d.created_by = v_user_id
  returning d.* into v_row;
  if not found then
    perform logloom_private.refuse_log_dashboard(p_dashboard_id);
  end if;
  return logloom_private.log_dashboard_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('dashboards.' || v_constraint);
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION public.update_saved_search (
  p_id          uuid    DEFAULT NULL::uuid,
  p_name        text    DEFAULT NULL::text,
  p_query_dsl   text    DEFAULT NULL::text,
  p_description text    DEFAULT NULL::text,
  p_category    text    DEFAULT NULL::text,
  p_is_shared   boolean DEFAULT NULL::boolean,
  p_tags        text[]  DEFAULT NULL::text[],
  p_view_id     uuid    DEFAULT NULL::uuid,
  p_display     jsonb   DEFAULT NULL::jsonb
)
  RETURNS public.logloom_saved_search
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_row logloom.saved_searches;
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl);
  end if;
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  -- An empty description or category takes it away.
  update logloom.saved_searches s
  set
    name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = coalesce(p_query_dsl, s.query_dsl),
    description = nullif(coalesce(logloom_private.trim_space(p_description), s.description), ''),
    category = nullif(coalesce(logloom_private.trim_space(p_category), s.category), ''),
    is_shared = coalesce(p_is_shared, s.is_shared),
    tags = coalesce(p_tags, s.tags),
    view_id = coalesce(p_view_id, s.view_id),
    display = coalesce(p_display, s.display),
    updated_at = now()
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id
  returning s.* into v_row;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return logloom_private.saved_search_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$function$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."log_dashboards"
    ADD CONSTRAINT "log_dashboards_tenant_id_fkey" FOREIGN KEY (tenant_id) REFERENCES logloom.tenants(tenant_id) ON DELETE CASCADE;
  CREATE INDEX log_dashboards_tenant_id_created_at_idx ON logloom.log_dashboards USING btree (tenant_id, created_at DESC, dashboard_id DESC);
  CREATE TRIGGER audit_log_dashboards
    AFTER INSERT OR DELETE OR UPDATE ON logloom.log_dashboards
    FOR EACH ROW
    EXECUTE FUNCTION logloom_private.audit_log_dashboards();
  CREATE POLICY "log_dashboards_delete_creator" ON "logloom"."log_dashboards"
    FOR DELETE
    TO "authenticated"
    USING (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));
  CREATE POLICY "log_dashboards_insert_creator" ON "logloom"."log_dashboards"
    FOR INSERT
    TO "authenticated"
    WITH CHECK (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));
  CREATE POLICY "log_dashboards_select_creator_or_shared" ON "logloom"."log_dashboards"
    FOR SELECT
    TO "authenticated"
    USING
      (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (is_shared OR (created_by = ( SELECT logloom_private.current_user_id() AS
      current_user_id)))));
  CREATE POLICY "log_dashboards_update_creator" ON "logloom"."log_dashboards"
    FOR UPDATE
    TO "authenticated"
    USING (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))))
    WITH CHECK (((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)) AND (created_by = ( SELECT logloom_private.current_user_id() AS current_user_id))));
  COMMENT ON COLUMN "logloom"."log_dashboards"."created_by" IS 'The claim sub of who made it.';
  COMMENT ON COLUMN "logloom"."log_dashboards"."panels" IS 'Objects with the members of public.logloom_log_panel, in the order of the grid.';
  COMMENT ON COLUMN "logloom"."plans"."max_log_dashboards" IS 'Dashboards that a tenant may have.';
  COMMENT ON COLUMN "logloom"."saved_searches"."display" IS 'What a page shows beside the query: its range, columns and the like. The page says what it means.';
  COMMENT ON COLUMN "logloom"."tenant_members"."chosen_at" IS 'When the member last switched to the tenant: tokens name the one that was chosen last.';
  COMMENT ON FUNCTION "public"."create_log_dashboard"(text, jsonb, boolean) IS 'Makes a dashboard and returns it. p_name: 1 to 200 characters after trimming. p_panels: at most 20 objects {title, query_dsl, kind, width}, kind lines, bars or number, width 1 to 12 (default 6). p_is_shared: colleagues see it, too. Errors: PT400 (plan limit, too), PT401, PT403.';
  COMMENT ON FUNCTION "public"."create_saved_search"(text, text, text, text, boolean, text[], uuid, jsonb) IS 'Saves a search and returns its id. p_name: 1 to 200 characters after trimming. p_query_dsl must compile. p_tags: at most 20. p_view_id, for admins: the view whose readers find it in their list, if it is shared. p_display: an object of at most 4,000 bytes, kept for the page that shows it. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';
  COMMENT ON FUNCTION "public"."delete_log_dashboard"(uuid) IS 'Deletes a dashboard. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';
  COMMENT ON FUNCTION "public"."get_log_dashboard"(uuid) IS 'A dashboard of the caller, or one that a colleague shares. Errors: PT400, PT401, PT403, PT404.';
  COMMENT ON FUNCTION "public"."get_log_secret_scope"(text) IS 'Whose secrets the caller may seal: {tenant_id}. The edge functions ask it before they seal one for that tenant. For admins. Errors: PT400, PT401, PT403.';
  COMMENT ON FUNCTION "public"."list_log_dashboards"(integer, uuid) IS 'The caller''s dashboards and those that colleagues share, newest first. p_limit 1 to 1000 (default 100), p_after: dashboard_id of the last item of the page before. Errors: PT400, PT401, PT403.';
  COMMENT ON FUNCTION "public"."list_log_tenants"(integer, text) IS 'The tenants that the caller belongs to and their role in each, by tenant_id. p_limit 1 to 1000 (default 100), p_after: tenant_id of the last item of the page before. Errors: PT400, PT401, PT403.';
  COMMENT ON FUNCTION "public"."log_overview"(text, text, text, integer) IS 'The services among the records of [p_ts_from, p_ts_to) that match p_query_dsl: how many records and errors each has, how many it had in the same hours the day before (of a longer range: as many days before), and when it was last seen. The largest first. p_limit 1 to 1000 (default 100). Errors: PT400, PT401, PT408, PT429.';
  COMMENT ON FUNCTION "public"."switch_log_tenant"(text) IS 'Chooses a tenant that the caller belongs to, and returns it. The custom access token hook names it in the tokens that Auth makes from then on: refresh the session. Where app_metadata.tenant_id names one, that decides: PT409. Errors: PT400, PT401, PT403, PT404 (not a member), PT409.';
  COMMENT ON FUNCTION "public"."update_log_dashboard"(uuid, text, jsonb, boolean) IS 'Changes what is given and returns the dashboard; p_panels takes the place of all panels. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';
  COMMENT ON FUNCTION "public"."update_saved_search"(uuid, text, text, text, text, boolean, text[], uuid, jsonb) IS 'Changes what is given and returns the saved search. An empty p_description or p_category takes it away. p_view_id, for admins: the view whose readers find it in their list, if it is shared. p_display takes the place of the one before. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';
  COMMENT ON TABLE "logloom"."audit_events" IS 'What was done to keys, members, views, dashboards, settings and plans, and deletions of records. Nobody changes or removes an event before settings.audit_lifetime has gone by.';
  COMMENT ON TABLE "logloom"."log_dashboards" IS 'Dashboards: private to their creator, or shared with the tenant to look at. Each reader sees the records of their own scope in them.';
  COMMENT ON TYPE "public"."logloom_log_dashboard" IS 'Queries that are shown together, in the order of panels. created_by: the claim sub of who made it.';
  COMMENT ON TYPE "public"."logloom_log_overview" IS 'The services of [ts_from, ts_to), the largest first, beside [before_from, before_to).';
  COMMENT ON TYPE "public"."logloom_log_panel" IS 'A panel of a dashboard. kind: lines (over time), bars (a bar for each group) or number. width: of the twelve columns of the grid.';
  COMMENT ON TYPE "public"."logloom_log_secret_scope" IS 'For which tenant the edge functions may seal secrets of the caller.';
  COMMENT ON TYPE "public"."logloom_log_service" IS 'What a service (null: records without one) sent in a range, and in the same hours of the days before. last_seen: the minute of its newest record of both; of a range of more than a day, to its 1,440th part.';
  COMMENT ON TYPE "public"."logloom_log_tenant" IS 'A tenant that the caller belongs to. is_current: the one that the token names.';
  COMMENT ON TYPE "public"."logloom_saved_search" IS 'A saved search. created_by: the claim sub of who made it. run_count: runs by anybody. view_id: the view whose readers find it in their list. display: what a page shows beside the query, such as its range and columns.';
  GRANT INSERT ("created_by") ON TABLE "logloom"."log_dashboards" TO "authenticated";
  GRANT INSERT ("is_shared"), UPDATE ("is_shared") ON TABLE "logloom"."log_dashboards" TO "authenticated";
  GRANT INSERT ("name"), UPDATE ("name") ON TABLE "logloom"."log_dashboards" TO "authenticated";
  GRANT INSERT ("panels"), UPDATE ("panels") ON TABLE "logloom"."log_dashboards" TO "authenticated";
  GRANT INSERT ("tenant_id") ON TABLE "logloom"."log_dashboards" TO "authenticated";
  GRANT UPDATE ("updated_at") ON TABLE "logloom"."log_dashboards" TO "authenticated";
  GRANT DELETE, SELECT ON TABLE "logloom"."log_dashboards" TO "authenticated";
  GRANT INSERT ("created_by") ON TABLE "logloom"."log_dashboards" TO "service_role";
  GRANT INSERT ("is_shared"), UPDATE ("is_shared") ON TABLE "logloom"."log_dashboards" TO "service_role";
  GRANT INSERT ("name"), UPDATE ("name") ON TABLE "logloom"."log_dashboards" TO "service_role";
  GRANT INSERT ("panels"), UPDATE ("panels") ON TABLE "logloom"."log_dashboards" TO "service_role";
  GRANT INSERT ("tenant_id") ON TABLE "logloom"."log_dashboards" TO "service_role";
  GRANT UPDATE ("updated_at") ON TABLE "logloom"."log_dashboards" TO "service_role";
  GRANT DELETE, SELECT ON TABLE "logloom"."log_dashboards" TO "service_role";
  REVOKE ALL ("display") ON TABLE "logloom"."saved_searches" FROM "authenticated";
  GRANT INSERT ("display"), UPDATE ("display") ON TABLE "logloom"."saved_searches" TO "authenticated";
  REVOKE ALL ("display") ON TABLE "logloom"."saved_searches" FROM "service_role";
  GRANT INSERT ("display"), UPDATE ("display") ON TABLE "logloom"."saved_searches" TO "service_role";
  REVOKE ALL ("chosen_at") ON TABLE "logloom"."tenant_members" FROM "supabase_auth_admin";
  GRANT SELECT ("chosen_at") ON TABLE "logloom"."tenant_members" TO "supabase_auth_admin";
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

select logloom_private.finish_migration();
