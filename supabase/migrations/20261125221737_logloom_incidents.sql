-- Incidents of alert rules.

SET local check_function_bodies = off;

CREATE TABLE "logloom"."alert_incidents" (
  "incident_id"     uuid                     NOT NULL DEFAULT gen_random_uuid(),
  "tenant_id"       text                     NOT NULL,
  "rule_id"         uuid                     NOT NULL,
  "rule_name"       text                     NOT NULL,
  "query_dsl"       text,
  "window_minutes"  integer                  NOT NULL,
  "threshold"       double precision         NOT NULL,
  "comparison"      text,
  "group"           jsonb,
  "view_id"         uuid,
  "opened_at"       timestamp with time zone NOT NULL,
  "last_fired_at"   timestamp with time zone NOT NULL,
  "fired_count"     integer                  NOT NULL DEFAULT 1,
  "value"           double precision         NOT NULL,
  "peak_value"      double precision         NOT NULL,
  "held_until"      timestamp with time zone NOT NULL,
  "resolved_at"     timestamp with time zone,
  "resolution"      text,
  "quiet_from"      timestamp with time zone,
  "acknowledged_at" timestamp with time zone,
  "acknowledged_by" text,
  CONSTRAINT "alert_incidents_acknowledgement_is_whole" CHECK (((acknowledged_at IS NULL) = (acknowledged_by IS NULL))),
  CONSTRAINT "alert_incidents_pkey" PRIMARY KEY (incident_id),
  CONSTRAINT "alert_incidents_resolution_is_known" CHECK ((resolution = ANY (ARRAY['recovered'::text, 'rule_changed'::text, 'rule_disabled'::text, 'rule_deleted'::text]))),
  CONSTRAINT "alert_incidents_resolution_is_whole" CHECK ((((resolved_at IS NULL) = (resolution IS NULL)) AND ((quiet_from IS NULL) OR (resolution = 'recovered'::text))))
);

ALTER TABLE "logloom"."alert_incidents"
  ENABLE ROW LEVEL SECURITY;

ALTER TABLE "logloom"."alert_incidents"
  FORCE ROW LEVEL SECURITY;

ALTER TABLE "logloom"."alert_incidents"
  SET (fillfactor=70);

ALTER TABLE "logloom"."alert_history"
  ADD COLUMN "incident_id" uuid;

CREATE TYPE "public"."logloom_alert_acknowledgement" AS (
  "success"      boolean,
  "acknowledged" integer
);

CREATE TYPE "public"."logloom_alert_incident_details" AS (
  "incident_id"     uuid,
  "tenant_id"       text,
  "rule_id"         uuid,
  "rule_name"       text,
  "query_dsl"       text,
  "window_minutes"  integer,
  "group"           jsonb,
  "state"           text,
  "opened_at"       timestamp WITH time zone,
  "last_fired_at"   timestamp WITH time zone,
  "resolved_at"     timestamp WITH time zone,
  "resolution"      text,
  "fired_count"     integer,
  "value"           double precision,
  "peak_value"      double precision,
  "threshold"       double precision,
  "comparison"      public.logloom_alert_comparison,
  "acknowledged_at" timestamp WITH time zone,
  "acknowledged_by" text,
  "alerts"          public.logloom_alert_history_entry[],
  "deliveries"      public.logloom_alert_delivery[]
);

CREATE TYPE "public"."logloom_alert_incident" AS (
  "incident_id"     uuid,
  "tenant_id"       text,
  "rule_id"         uuid,
  "rule_name"       text,
  "query_dsl"       text,
  "window_minutes"  integer,
  "group"           jsonb,
  "state"           text,
  "opened_at"       timestamp WITH time zone,
  "last_fired_at"   timestamp WITH time zone,
  "resolved_at"     timestamp WITH time zone,
  "resolution"      text,
  "fired_count"     integer,
  "value"           double precision,
  "peak_value"      double precision,
  "threshold"       double precision,
  "comparison"      public.logloom_alert_comparison,
  "acknowledged_at" timestamp WITH time zone,
  "acknowledged_by" text
);

ALTER TYPE "public"."logloom_alert_history_entry" ADD ATTRIBUTE "incident_id" uuid CASCADE;

ALTER TYPE "public"."logloom_alert_history_entry" ADD ATTRIBUTE "resolved_at" timestamp WITH time zone CASCADE;

CREATE OR REPLACE FUNCTION logloom_private.alert_entry_of (
  p_row            logloom.alert_history,
  p_resolved_at    timestamp with time zone,
  p_sees_addresses boolean
)
  RETURNS public.logloom_alert_history_entry
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.alert_id, p_row.rule_id, p_row.tenant_id, p_row.triggered_at, p_row.value,
    p_row.threshold, p_row.acknowledged_at is not null, p_row.acknowledged_at,
    p_row.acknowledged_by, p_row.notification_sent_at is not null, p_row.notification_sent_at,
    case when p_sees_addresses then p_row.notification_channels else '{}' end,
    case when p_sees_addresses then p_row.notification_error end,
    p_row.window_start, p_row.window_end, p_row."group", p_row.incident_id, p_resolved_at
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_incident_of (
  p_row logloom.alert_incidents
)
  RETURNS public.logloom_alert_incident
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.incident_id, p_row.tenant_id, p_row.rule_id, p_row.rule_name, p_row.query_dsl,
    p_row.window_minutes, p_row."group",
    logloom_private.alert_incident_state(p_row.resolved_at, p_row.acknowledged_at),
    p_row.opened_at, p_row.last_fired_at, p_row.resolved_at, p_row.resolution, p_row.fired_count,
    p_row.value, p_row.peak_value, p_row.threshold,
    p_row.comparison::public.logloom_alert_comparison, p_row.acknowledged_at, p_row.acknowledged_by
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_incident_state (
  p_resolved_at     timestamp with time zone,
  p_acknowledged_at timestamp with time zone
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when p_resolved_at is not null then 'resolved'
    when p_acknowledged_at is not null then 'acknowledged'
    else 'open'
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alerts_errors()
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
    ('alerts.query_reads_what_is_hidden', 400, 'The query asks for what the view %s hides',
      'Ask for other fields, or bind the rule to another view.',
      'A rule that is evaluated in a view names one of its hidden fields, or an attribute beside '
        'one, or looks through any text.'),
    ('alerts.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to is not.', null),
    ('alerts.alert_rules_name_is_valid', 400, 'Invalid p_name: 1 to 200 characters after trimming',
      'Name the rule after what it watches.', null),
    ('alerts.alert_rules_description_is_valid', 400,
      'Invalid p_description: at most 2000 characters', 'Shorten it.', null),
    ('alerts.alert_rules_threshold_is_finite', 400, 'Invalid p_threshold: a finite number',
      'Send a JSON number.', null),
    ('alerts.alert_rules_comparison_is_known', 400,
      'Invalid p_comparison: one of gt, gte, lt, lte, eq, neq',
      'The value of the query stands at the left: gt fires when it is above p_threshold.', null),
    ('alerts.alert_rules_window_is_valid', 400, 'Invalid p_window_minutes: 1 to 1440',
      'A day is the longest window.', null),
    ('alerts.alert_rules_cooldown_is_valid', 400, 'Invalid p_cooldown_minutes: 0 to 10080',
      'Seven days is the longest cooldown.', null),
    ('alerts.alert_rules_destinations_are_known', 400,
      'Invalid p_notification_destinations: any of email, webhook',
      'Send a flat array of these texts.', null),
    ('alerts.alert_rules_config_is_object', 400,
      'Invalid p_notification_config: an object of at most 8192 bytes',
      'Send a JSON object with email and webhook_url.', null),
    ('alerts.alert_rules_email_is_valid', 400,
      'Invalid p_notification_config: email is no email address',
      'Send one address, without a name or angle brackets.', null),
    ('alerts.alert_rules_webhook_url_is_valid', 400,
      'Invalid p_notification_config: webhook_url is no https URL',
      'Send an https URL without user name and password.', null),
    ('alerts.alert_rules_destinations_have_addresses', 400,
      'Invalid p_notification_config: an enabled rule needs the address of each destination',
      'Send email for the destination email, webhook_url for webhook, or disable the rule.', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id of list_alert_history.',
      null),
    ('alerts.incident_not_found', 404, 'Incident not found',
      'Send an incident_id of list_alert_incidents.', null),
    ('alerts.incident_state_is_unknown', 400,
      'Invalid p_state: one of open, acknowledged, resolved',
      'Leave it out for all incidents.', null),
    ('alerts.too_many_incidents', 400, 'Invalid p_incident_ids: 1 to 1000 ids',
      'Acknowledge further ones in another call.', null),
    ('alerts.query_gives_no_number', 400,
      'Invalid p_query_dsl: an alert rule compares one number, so it takes one aggregate',
      'Leave the other stages out; the filter may stand before the bar.', null),
    ('alerts.preview_names_now', 400, 'A query that names now has no preview',
      'Leave ts out: the window says which time is meant.',
      '`preview_alert_rule`: `now` differs from window to window.'),
    ('alerts.preview_took_too_long', 408, 'The preview took too long',
      'Narrow the query, by service or level say.',
      '`preview_alert_rule`: 15 seconds. Narrow the query.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.close_incidents_of_rule()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role ends incidents
begin
  update logloom.alert_incidents i
  set
    resolved_at = now(),
    resolution = case
      when tg_op = 'DELETE' then 'rule_deleted'
      when new.enabled then 'rule_changed'
      else 'rule_disabled'
    end
  where i.rule_id = old.rule_id and i.resolved_at is null;
  return case tg_op when 'DELETE' then old else new end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.deliveries_of_incident (
  p_tenant_id   text,
  p_incident_id uuid
)
  RETURNS public.logloom_alert_delivery[]
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  return array(
    select logloom_private.delivery(n)
    from logloom.alert_history h
    join logloom_private.notifications n on n.alert_id = h.alert_id
    where h.tenant_id = v_tenant_id and h.incident_id = p_incident_id
    order by n.created_at desc, n.notification_id desc
    limit 100
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fire_alert (
  p_rule   logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now    timestamp with time zone
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_cooldown constant interval := make_interval(mins => p_rule.cooldown_minutes);
begin
  -- From window to window, so that the moments at which rounds happen to run do not matter. In
  -- both directions: a late record may make an earlier window fire after a later one did.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and (
        h.window_end = p_window.window_end
        or h.window_end > p_window.window_end - v_cooldown
        and h.window_end < p_window.window_end + v_cooldown
      )
  ) then
    perform logloom_private.held_incident(p_rule, p_window, p_now, false);
    return false;
  end if;
  insert into logloom.alert_history (
    tenant_id, rule_id, triggered_at, value, threshold, window_start, window_end,
    "group", view_id, incident_id
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end, p_window."group", p_rule.view_id,
    logloom_private.held_incident(p_rule, p_window, p_now, true)
  )
  on conflict (rule_id, window_end, (coalesce(md5("group"::text), ''))) do nothing;
  return found;
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
        'change_member', 'check_query', 'check_settings', 'confirm_address',
        'deliveries_of_incident', 'distinct_destinations', 'effective_settings',
        'end_portal_session', 'enqueue_rule_test', 'enroll_member', 'found_tenant', 'hold_view',
        'is_being_deleted', 'is_viewer', 'issue_api_key', 'issue_ingest_token',
        'issue_portal_session', 'list_bytes', 'list_limit', 'log_view_of', 'make_log_view',
        'my_key_reads', 'my_stored', 'my_usage', 'new_api_key', 'note_saved_search_run',
        'page_of_addresses', 'page_of_deliveries', 'page_place', 'plan_feature', 'plan_of',
        'preview_windows', 'provision_current_tenant', 'put_back_delivery', 'read_alert_history',
        'read_alert_rules', 'read_log', 'read_log_changes', 'read_log_context', 'read_log_export',
        'read_log_fields', 'read_log_histogram', 'read_log_page', 'read_log_series',
        'read_log_stats', 'read_log_tail', 'read_members', 'read_query_validity',
        'read_saved_search', 'read_saved_searches', 'reads_again', 'reads_only', 'refuse_for_now',
        'refuse_saved_search', 'refuse_with_headers', 'remove_log_view', 'replace_webhook_secret',
        'request_deletion', 'require_parameter', 'require_role', 'require_room_for',
        'require_room_for_api_key', 'require_rule_in_view', 'require_view_by_admin',
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

CREATE OR REPLACE FUNCTION logloom_private.held_incident (
  p_rule   logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now    timestamp with time zone,
  p_fires  boolean
)
  RETURNS uuid
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_incident_id uuid;
begin
  update logloom.alert_incidents i
  set
    resolved_at = null,
    resolution = null,
    quiet_from = null,
    last_fired_at = case when p_fires then p_now else i.last_fired_at end,
    fired_count = i.fired_count + p_fires::integer,
    value = case when p_window.window_end >= i.held_until then p_window.value else i.value end,
    peak_value = case
      when abs(p_window.value - i.threshold) > abs(i.peak_value - i.threshold) then p_window.value
      else i.peak_value
    end,
    held_until = greatest(i.held_until, p_window.window_end)
  from (
    select l.incident_id
    from logloom.alert_incidents l
    where l.rule_id = p_rule.rule_id and l."group" is not distinct from p_window."group"
    order by l.opened_at desc, l.incident_id desc
    limit 1
  ) l
  where i.incident_id = l.incident_id
    and (
      i.resolved_at is null
      or i.resolution = 'recovered' and (not p_fires or p_window.window_end <= i.quiet_from)
    )
  returning i.incident_id into v_incident_id;
  if not found and p_fires then
    insert into logloom.alert_incidents (
      tenant_id, rule_id, rule_name, query_dsl, window_minutes, threshold, comparison, "group",
      view_id, opened_at, last_fired_at, value, peak_value, held_until
    )
    values (
      p_rule.tenant_id, p_rule.rule_id, p_rule.name, p_rule.query_dsl, p_rule.window_minutes,
      p_rule.threshold, p_rule.comparison, p_window."group", p_rule.view_id, p_now, p_now,
      p_window.value, p_window.value, p_window.window_end
    )
    returning incident_id into v_incident_id;
  end if;
  return v_incident_id;
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
    'create_log_portal_session',
    'create_log_view',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
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
    'list_log_fields',
    'list_log_portal_sessions',
    'list_log_retention_runs',
    'list_log_views',
    'list_saved_searches',
    'list_tenant_audit_events',
    'list_tenant_members',
    'log_changes',
    'log_histogram',
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
    'tail_logs',
    'test_alert_rule',
    'update_alert_rule',
    'update_log_view',
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
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
        ('logloom.alert_history', 'r.triggered_at < $1', v_settings.alert_history_lifetime),
        -- After its last alert.
        ('logloom.alert_incidents', 'r.resolved_at < $1', v_settings.alert_history_lifetime),
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
    logloom_private.alert_reader(p_scope, 'list_alert_history', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert', 'alert_id',
    (
      select h.triggered_at from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id and h.alert_id = p_after
        and (v_scope.view_id is null or h.view_id = v_scope.view_id)
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
        and (v_scope.view_id is null or h.view_id = v_scope.view_id)
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

CREATE OR REPLACE FUNCTION logloom_private.resolve_incidents (
  p_rule_id    uuid,
  p_window_end timestamp with time zone,
  p_held       jsonb[],
  p_now        timestamp with time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.alert_incidents i
  set resolved_at = p_now, resolution = 'recovered', quiet_from = p_window_end
  where i.rule_id = p_rule_id
    and i.resolved_at is null
    and i.held_until < p_window_end
    and coalesce(i."group", 'null') <> all (p_held);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_alert_windows (
  p_windows logloom_private.alert_window[],
  p_round   logloom_private.alert_rounds,
  p_now     timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_told record;
  v_rule logloom.alert_rules;
  v_window logloom_private.alert_window;
  v_has_fired boolean;
  v_fired integer := 0;
  v_errors jsonb := '{}';
begin
  for v_told in select t.* from logloom_private.telling_windows(p_windows) t loop
    -- Held, so that nobody who changes it meanwhile leaves an incident open.
    select r.* into v_rule
    from logloom.alert_rules r
    where r.rule_id = v_told.rule_id and r.enabled and r.asked_at < v_told.window_end
    for no key update;
    continue when not found;
    foreach v_window in array v_told.holding loop
      begin
        v_has_fired := logloom_private.fire_alert(v_rule, v_window, p_now);
        v_fired := v_fired + v_has_fired::integer;
      exception when others then
        v_errors := v_errors || jsonb_build_object(v_told.rule_id, sqlerrm);
      end;
    end loop;
    continue when v_told.error is not null;
    begin
      perform logloom_private.resolve_incidents(
        v_rule.rule_id, v_told.window_end,
        array(select coalesce(h."group", 'null') from unnest(v_told.holding) h), p_now
      );
    exception when others then
      v_errors := v_errors || jsonb_build_object(v_told.rule_id, sqlerrm);
    end;
  end loop;

  update logloom.alert_rules r
  set
    last_evaluated_at = p_round.window_end,
    last_value = w.value,
    last_error = coalesce(v_errors ->> w.rule_id::text, w.error)
  from (
    select
      u.rule_id,
      max(u.value) filter (where u.window_end = p_round.window_end) as value,
      max(u.error) as error
    from unnest(p_windows) u
    group by u.rule_id
  ) w
  where r.rule_id = w.rule_id;
  return v_fired;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.telling_windows (
  p_windows logloom_private.alert_window[]
)
  RETURNS TABLE (
    rule_id    uuid,
    window_end timestamp with time zone,
    error      text,
    holding    logloom_private.alert_window[]
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    j.rule_id, j.window_end, min(j.error),
    coalesce(array_agg(j.seen order by j."group") filter (where j.holds), '{}')
  from (
    select
      w.rule_id, w.window_end, w.error, w."group", h.holds, w as seen,
      bool_or(h.holds) over (partition by w.rule_id) as has_holding
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id
    cross join lateral logloom_private.alert_condition_holds(
      w.value, r.comparison, r.threshold
    ) h (holds)
  ) j
  where j.has_holding
    or exists (
      select from logloom.alert_incidents i
      where i.rule_id = j.rule_id and i.resolved_at is null
    )
  group by j.rule_id, j.window_end
  order by j.window_end, j.rule_id;
end;
$function$;

CREATE OR REPLACE FUNCTION public.acknowledge_alert (
  p_alert_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_incident_id uuid;
begin
  perform logloom_private.require_parameter('p_alert_id', p_alert_id is null);
  -- Held before its entries: so does who fires one more.
  perform
  from logloom.alert_incidents i
  where i.tenant_id = v_tenant_id and i.incident_id = (
    select h.incident_id
    from logloom.alert_history h
    where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  )
  for no key update;
  -- The first acknowledgement stays on record.
  update logloom.alert_history h
  set
    acknowledged_at = coalesce(h.acknowledged_at, now()),
    acknowledged_by = coalesce(h.acknowledged_by, v_user_id)
  where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  returning h.incident_id into v_incident_id;
  if not found then
    perform logloom_private.refuse('alerts.alert_not_found');
  end if;
  update logloom.alert_incidents i
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where i.tenant_id = v_tenant_id and i.incident_id = v_incident_id
    and i.acknowledged_at is null
    and not exists (
      select from logloom.alert_history h
      where h.incident_id = v_incident_id and h.acknowledged_at is null
    );
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION public.acknowledge_alert_incidents (
  p_incident_ids uuid[] DEFAULT NULL::uuid[]
)
  RETURNS public.logloom_alert_acknowledgement
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_held uuid[];
  v_acknowledged integer;
begin
  perform logloom_private.require_parameter('p_incident_ids', p_incident_ids is null);
  if cardinality(p_incident_ids) not between 1 and 1000 then
    perform logloom_private.refuse('alerts.too_many_incidents');
  end if;
  -- In one order, so that two callers never wait for each other.
  v_held := array(
    select i.incident_id
    from logloom.alert_incidents i
    where i.tenant_id = v_tenant_id and i.incident_id = any (p_incident_ids)
    order by i.incident_id
    for no key update
  );
  if cardinality(v_held) = 0 then
    perform logloom_private.refuse('alerts.incident_not_found');
  end if;
  -- The first acknowledgement stays on record.
  update logloom.alert_incidents i
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where i.incident_id = any (v_held) and i.acknowledged_at is null;
  get diagnostics v_acknowledged = row_count;
  update logloom.alert_history h
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where h.tenant_id = v_tenant_id and h.incident_id = any (v_held) and h.acknowledged_at is null;
  return row(true, v_acknowledged)::public.logloom_alert_acknowledgement;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."acknowledge_alert_incidents"(uuid[]) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.get_alert_incident (
  p_incident_id uuid DEFAULT NULL::uuid
)
  RETURNS public.logloom_alert_incident_details
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.alert_incidents;
  v_item public.logloom_alert_incident;
begin
  perform logloom_private.require_parameter('p_incident_id', p_incident_id is null);
  select i.* into v_row
  from logloom.alert_incidents i
  where i.tenant_id = v_tenant_id and i.incident_id = p_incident_id;
  if not found then
    perform logloom_private.refuse('alerts.incident_not_found');
  end if;
  v_item := logloom_private.alert_incident_of(v_row);
  return row(
    v_item.incident_id, v_item.tenant_id, v_item.rule_id, v_item.rule_name, v_item.query_dsl,
    v_item.window_minutes, v_item."group", v_item.state, v_item.opened_at, v_item.last_fired_at,
    v_item.resolved_at, v_item.resolution, v_item.fired_count, v_item.value, v_item.peak_value,
    v_item.threshold, v_item.comparison, v_item.acknowledged_at, v_item.acknowledged_by,
    array(
      select logloom_private.alert_entry_of(h, v_row.resolved_at, true)
      from logloom.alert_history h
      where h.tenant_id = v_tenant_id and h.incident_id = p_incident_id
      order by h.triggered_at desc, h.alert_id desc
      limit 100
    ),
    logloom_private.deliveries_of_incident(null, p_incident_id)
  );
end;
$function$;

REVOKE ALL ON FUNCTION "public"."get_alert_incident"(uuid) FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.list_alert_incidents (
  p_tenant_id text    DEFAULT NULL::text,
  p_rule_id   uuid    DEFAULT NULL::uuid,
  p_state     text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_alert_incident
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_list_bytes constant integer := logloom_private.list_bytes();
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'incident', 'incident_id',
    (
      select i.opened_at from logloom.alert_incidents i
      where i.tenant_id = v_tenant_id and i.incident_id = p_after
    )
  );
begin
  if p_state not in ('open', 'acknowledged', 'resolved') then
    perform logloom_private.refuse('alerts.incident_state_is_unknown');
  end if;
  return query
  select (p.item).*
  from (
    select
      logloom_private.alert_incident_of(i) as item,
      -- A group may be a whole message.
      sum(octet_length(i."group"::text) + octet_length(i.query_dsl)) over (
        order by i.opened_at desc, i.incident_id desc
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select l.*
      from logloom.alert_incidents l
      where l.tenant_id = v_tenant_id
        and (p_rule_id is null or l.rule_id = p_rule_id)
        and (p_state is null or (l.resolved_at is not null) = (p_state = 'resolved'))
        and (
          p_state is null or p_state = 'resolved'
          or (l.acknowledged_at is not null) = (p_state = 'acknowledged')
        )
        and (p_after is null or (l.opened_at, l.incident_id) < (v_after, p_after))
      order by l.opened_at desc, l.incident_id desc
      limit v_limit
    ) i
    order by i.opened_at desc, i.incident_id desc
  ) p
  where coalesce(p.bytes_before, 0) < v_list_bytes;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."list_alert_incidents"(text, uuid, text, integer, uuid) FROM PUBLIC, "anon";

ALTER TABLE "logloom"."alert_history"
  ADD CONSTRAINT "alert_history_incident_id_fkey" FOREIGN KEY (incident_id) REFERENCES logloom.alert_incidents(incident_id) ON DELETE SET NULL;

ALTER TABLE "logloom"."alert_incidents"
  ADD CONSTRAINT "alert_incidents_tenant_id_fkey" FOREIGN KEY (tenant_id) REFERENCES logloom.tenants(tenant_id) ON DELETE CASCADE;

CREATE INDEX alert_history_incident_id_triggered_at_idx ON logloom.alert_history USING btree (incident_id, triggered_at DESC, alert_id DESC);

CREATE INDEX alert_incidents_resolved_at_idx ON logloom.alert_incidents USING brin (resolved_at);

CREATE UNIQUE INDEX alert_incidents_rule_id_open_idx ON logloom.alert_incidents USING btree (rule_id, COALESCE(md5(("group")::text), ''::text))
  WHERE (resolved_at IS NULL);

CREATE INDEX alert_incidents_rule_id_opened_at_idx ON logloom.alert_incidents USING btree (rule_id, opened_at DESC, incident_id DESC);

CREATE INDEX alert_incidents_tenant_id_open_idx ON logloom.alert_incidents USING btree (tenant_id, opened_at DESC, incident_id DESC)
  WHERE (resolved_at IS NULL);

CREATE INDEX alert_incidents_tenant_id_opened_at_idx ON logloom.alert_incidents USING btree (tenant_id, opened_at DESC, incident_id DESC);

CREATE TRIGGER alert_rules_close_incidents_on_change
  AFTER UPDATE OF enabled, asked_at ON logloom.alert_rules
  FOR EACH ROW
  WHEN (((old.enabled AND (NOT new.enabled)) OR (new.asked_at > old.asked_at)))
  EXECUTE FUNCTION logloom_private.close_incidents_of_rule();

CREATE TRIGGER alert_rules_close_incidents_on_delete
  BEFORE DELETE ON logloom.alert_rules
  FOR EACH ROW
  EXECUTE FUNCTION logloom_private.close_incidents_of_rule();

CREATE POLICY "alert_incidents_select_tenant" ON "logloom"."alert_incidents"
  FOR SELECT
  TO "authenticated"
  USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));

CREATE POLICY "alert_incidents_update_tenant" ON "logloom"."alert_incidents"
  FOR UPDATE
  TO "authenticated"
  USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)))
  WITH CHECK ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));

COMMENT ON COLUMN "logloom"."alert_history"."incident_id" IS 'The incident that it is part of.';

COMMENT ON COLUMN "logloom"."alert_incidents"."acknowledged_by" IS 'The claim sub of who acknowledged it first.';

COMMENT ON COLUMN "logloom"."alert_incidents"."held_until" IS 'The end of the last window in which the condition held.';

COMMENT ON COLUMN "logloom"."alert_incidents"."peak_value" IS 'Of such a window, the value that is farthest from the threshold.';

COMMENT ON COLUMN "logloom"."alert_incidents"."quiet_from" IS 'The end of the window in which it held no longer.';

COMMENT ON COLUMN "logloom"."alert_incidents"."rule_name" IS 'This and what follows is of the rule when the incident opened. query_dsl and comparison are null of rules that were deleted before there were incidents.';

COMMENT ON COLUMN "logloom"."alert_incidents"."value" IS 'Of the last window in which the condition held.';

COMMENT ON FUNCTION "public"."acknowledge_alert"(uuid) IS 'Records that the caller answers an alert, and with the last of an incident''s alerts the incident. Again: no change. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."acknowledge_alert_incidents"(uuid[]) IS 'Records that the caller answers incidents, 1 to 1000, with all their alerts. Those that nobody had acknowledged before are counted; ids that the tenant does not have are passed over, unless it has none of them. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."get_alert_incident"(uuid) IS 'An incident with its newest 100 alerts and 100 deliveries. Errors: PT400, PT401, PT404.';

COMMENT ON FUNCTION "public"."list_alert_incidents"(text, uuid, text, integer, uuid) IS 'Incidents of the tenant, newest first: of one rule, and open, acknowledged or resolved, where given. p_limit 1 to 1000 (default 100), p_after: incident_id of the last item of the page before. With long groups a page may have fewer; the one after the last has none. Errors: PT400, PT401, PT403.';

COMMENT ON TABLE "logloom"."alert_incidents" IS 'A rule, and of a rule with by one of its groups, whose condition holds since it fired: from the first alert until a window in which it holds no longer.';

COMMENT ON TYPE "public"."logloom_alert_acknowledgement" IS 'acknowledged: how many incidents nobody had acknowledged before.';

COMMENT ON TYPE "public"."logloom_alert_history_entry" IS 'An alert: the value that a rule saw, and whether it was acknowledged and delivered. resolved_at: when its incident ended; null while that is open.';

COMMENT ON TYPE "public"."logloom_alert_incident" IS 'A rule, and of a rule with by one of its groups, whose condition holds since opened_at. state: open, acknowledged or resolved. resolution: recovered, rule_changed, rule_disabled or rule_deleted; null before. value is that of the last window in which the condition held, peak_value the one farthest from the threshold.';

COMMENT ON TYPE "public"."logloom_alert_incident_details" IS 'An incident with its newest alerts and deliveries, at most 100 of each.';

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_entry_of"(logloom.alert_history, timestamp WITH time zone, boolean) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_incident_of"(logloom.alert_incidents) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."alert_incident_state"(timestamp WITH time zone, timestamp WITH time zone) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."deliveries_of_incident"(text, uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."acknowledge_alert_incidents"(uuid[]) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."get_alert_incident"(uuid) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "public"."list_alert_incidents"(text, uuid, text, integer, uuid) TO "authenticated", "service_role";

GRANT UPDATE ("acknowledged_at") ON TABLE "logloom"."alert_incidents" TO "authenticated";

GRANT UPDATE ("acknowledged_by") ON TABLE "logloom"."alert_incidents" TO "authenticated";

GRANT SELECT ON TABLE "logloom"."alert_incidents" TO "authenticated";

GRANT UPDATE ("acknowledged_at") ON TABLE "logloom"."alert_incidents" TO "service_role";

GRANT UPDATE ("acknowledged_by") ON TABLE "logloom"."alert_incidents" TO "service_role";

GRANT SELECT ON TABLE "logloom"."alert_incidents" TO "service_role";

-- The history so far as incidents: alerts of a rule and group that followed one another as soon as
-- the cooldown allowed are one. Of deleted rules nobody knows what they asked.
create temporary table episodes on commit drop as
select n.alert_id, n.rule_id, n.group_key, n.fired_for,
  first_value(n.alert_id) over (
    partition by n.rule_id, n.group_key, n.number order by n.fired_for, n.alert_id
  ) as incident_id
from (
  select f.*, count(*) filter (where f.is_first) over (
    partition by f.rule_id, f.group_key order by f.fired_for, f.alert_id
  ) as number
  from (
    select h.alert_id, h.rule_id, p.fired_for, p.group_key,
      (
        p.fired_for - lag(p.fired_for) over (
          partition by h.rule_id, p.group_key order by p.fired_for, h.alert_id
        ) <= make_interval(mins => coalesce(r.cooldown_minutes, 0) + 1)
      ) is not true as is_first
    from logloom.alert_history h
    left join logloom.alert_rules r on r.rule_id = h.rule_id
    cross join lateral (
      select coalesce(h.window_end, h.triggered_at) as fired_for,
        coalesce(md5(h."group"::text), '') as group_key
    ) p
  ) f
) n;

insert into logloom.alert_incidents (
  incident_id, tenant_id, rule_id, rule_name, query_dsl, window_minutes, threshold, comparison,
  "group", view_id, opened_at, last_fired_at, fired_count, value, peak_value, held_until,
  resolved_at, resolution, acknowledged_at, acknowledged_by
)
select
  e.incident_id, l.tenant_id, l.rule_id, coalesce(r.name, 'Deleted rule'), r.query_dsl,
  coalesce(
    (extract(epoch from l.window_end - l.window_start) / 60)::integer, r.window_minutes, 0
  ),
  l.threshold, r.comparison, l."group", l.view_id, e.opened_at, e.last_fired_at, e.fired_count,
  l.value, e.peak_value, e.held_until,
  -- What may go on is for the next round to end.
  case when not o.goes_on then e.last_fired_at end,
  case when not o.goes_on then 'recovered' end,
  case when e.is_acknowledged then e.acknowledged_at end,
  case when e.is_acknowledged then e.acknowledged_by end
from (
  select
    p.incident_id, p.rule_id, p.group_key, min(h.triggered_at) as opened_at,
    max(h.triggered_at) as last_fired_at, count(*) as fired_count,
    max(p.fired_for) as held_until,
    (array_agg(h.value order by abs(h.value - h.threshold) desc))[1] as peak_value,
    (array_agg(p.alert_id order by p.fired_for desc, p.alert_id desc))[1] as last_alert_id,
    bool_and(h.acknowledged_at is not null) as is_acknowledged,
    min(h.acknowledged_at) as acknowledged_at,
    (array_agg(h.acknowledged_by order by h.acknowledged_at))[1] as acknowledged_by,
    max(max(p.fired_for)) over (partition by p.rule_id, p.group_key) = max(p.fired_for) as is_last
  from pg_temp.episodes p
  join logloom.alert_history h on h.alert_id = p.alert_id
  group by p.incident_id, p.rule_id, p.group_key
) e
join logloom.alert_history l on l.alert_id = e.last_alert_id
left join logloom.alert_rules r on r.rule_id = e.rule_id
cross join lateral (
  select coalesce(
    e.is_last and r.enabled and e.held_until > r.asked_at
      and e.held_until >= r.last_evaluated_at - make_interval(mins => r.cooldown_minutes + 1),
    false
  ) as goes_on
) o;

update logloom.alert_history h
set incident_id = e.incident_id
from pg_temp.episodes e
where e.alert_id = h.alert_id;

select logloom_private.finish_migration();
