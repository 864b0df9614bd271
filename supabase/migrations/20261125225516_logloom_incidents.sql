-- Incidents, silences and channels of alerts.

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  lock table logloom.alert_rules, logloom.alert_history, logloom_private.notifications,
    logloom_private.webhook_secrets in access exclusive mode;
  -- In the order of supabase/schemas: functions return rows by position. No table has such a column.
  alter type public.logloom_alert_rule
    add attribute notify_on_recovery boolean cascade,
    add attribute for_minutes integer cascade,
    add attribute on_absent text cascade,
    add attribute group_wait_seconds integer cascade,
    add attribute notification_secrets jsonb cascade;
  alter type public.logloom_alert_history_entry
    add attribute incident_id uuid cascade,
    add attribute resolved_at timestamptz cascade,
    add attribute silence_id uuid cascade,
    add attribute absent boolean cascade;
  alter type public.logloom_claimed_notification
    add attribute tenant_id text cascade,
    add attribute rule_id uuid cascade,
    add attribute template jsonb cascade,
    add attribute is_complete boolean cascade;
  alter type logloom_private.alert_window add attribute absent boolean cascade;
  perform set_config('lock_timeout', '0', true);
end;
$$;

set local check_function_bodies = off;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  DROP TRIGGER "alert_history_enqueues_notifications" ON "logloom"."alert_history";
  ALTER TABLE "logloom"."alert_rules"
    DROP CONSTRAINT "alert_rules_destinations_are_known";
  ALTER TABLE "logloom"."alert_rules"
    DROP CONSTRAINT "alert_rules_destinations_have_addresses";
  ALTER TABLE "logloom"."audit_events"
    DROP CONSTRAINT "audit_events_action_is_known";
  ALTER TABLE "logloom_private"."notifications"
    DROP CONSTRAINT "notifications_channel_is_known";
  ALTER TABLE "logloom_private"."notifications"
    DROP CONSTRAINT "notifications_purpose_is_known";
  DROP FUNCTION "logloom_private"."channel_address"(text, jsonb);
  DROP FUNCTION "logloom_private"."channel_limit"(text, text);
  DROP FUNCTION "logloom_private"."enqueue_notifications"(logloom.alert_rules, uuid, text);
  DROP FUNCTION "logloom_private"."preview_alerts"(logloom_private.alert_window[], logloom.alert_rules);
  DROP FUNCTION "logloom_private"."require_room_for_test"(text, text);
  DROP FUNCTION "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid);
  DROP FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer, uuid);
  DROP FUNCTION "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid);
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
  CREATE TABLE "logloom"."alert_silences" (
    "silence_id" uuid                     NOT NULL DEFAULT gen_random_uuid(),
    "tenant_id"  text                     NOT NULL,
    "rule_id"    uuid,
    "group"      jsonb,
    "starts_at"  timestamp with time zone NOT NULL,
    "ends_at"    timestamp with time zone NOT NULL,
    "comment"    text,
    "created_by" text                     NOT NULL,
    "created_at" timestamp with time zone NOT NULL DEFAULT now(),
    "expired_at" timestamp with time zone,
    "expired_by" text,
    CONSTRAINT "alert_silences_comment_is_valid" CHECK (((length(comment) >= 1) AND (length(comment) <= 2000))),
    CONSTRAINT "alert_silences_end_after_they_begin" CHECK ((ends_at > starts_at)),
    CONSTRAINT "alert_silences_group_is_valid" CHECK (((jsonb_typeof("group") = 'object'::text) AND (octet_length(("group")::text) <= 8192))),
    CONSTRAINT "alert_silences_pkey" PRIMARY KEY (silence_id)
  );
  ALTER TABLE "logloom"."alert_silences"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom"."alert_silences"
    FORCE ROW LEVEL SECURITY;
  CREATE TABLE "logloom_private"."alert_states" (
    "rule_id"     uuid                     NOT NULL,
    "group_key"   text                     NOT NULL,
    "group"       jsonb,
    "looked_at"   timestamp with time zone NOT NULL,
    "seen_at"     timestamp with time zone,
    "holds_since" timestamp with time zone,
    CONSTRAINT "alert_states_pkey" PRIMARY KEY (rule_id, group_key)
  );
  ALTER TABLE "logloom_private"."alert_states"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom_private"."alert_states"
    FORCE ROW LEVEL SECURITY;
  ALTER TABLE "logloom_private"."alert_states"
    SET (fillfactor=70);
  CREATE TABLE "logloom_private"."notified_alerts" (
    "notification_id" uuid NOT NULL,
    "alert_id"        uuid NOT NULL,
    CONSTRAINT "notified_alerts_pkey" PRIMARY KEY (notification_id, alert_id)
  );
  ALTER TABLE "logloom_private"."notified_alerts"
    ENABLE ROW LEVEL SECURITY;
  ALTER TABLE "logloom_private"."notified_alerts"
    FORCE ROW LEVEL SECURITY;
  ALTER TABLE "logloom"."alert_history"
    ADD COLUMN "incident_id" uuid;
  ALTER TABLE "logloom"."alert_history"
    ADD COLUMN "silence_id" uuid;
  ALTER TABLE "logloom"."alert_history"
    ADD COLUMN "absent" boolean NOT NULL DEFAULT false;
  ALTER TABLE "logloom"."alert_rules"
    ADD COLUMN "notify_on_recovery" boolean NOT NULL DEFAULT false;
  ALTER TABLE "logloom"."alert_rules"
    ADD COLUMN "for_minutes" integer NOT NULL DEFAULT 0;
  ALTER TABLE "logloom"."alert_rules"
    ADD COLUMN "on_absent" text NOT NULL DEFAULT 'ignore'::text;
  ALTER TABLE "logloom"."alert_rules"
    ADD COLUMN "group_wait_seconds" integer NOT NULL DEFAULT 0;
  ALTER TABLE "logloom"."alert_rules"
    ADD COLUMN "notification_secrets" jsonb NOT NULL DEFAULT '{}'::jsonb;
  ALTER TABLE "logloom"."plans"
    ADD COLUMN "max_alert_silences" integer NOT NULL DEFAULT 1000;
  ALTER TABLE "logloom_private"."notifications"
    ADD COLUMN "incident_id" uuid;
  ALTER TABLE "logloom_private"."notifications"
    ADD COLUMN "group_key" text NOT NULL DEFAULT ''::text;
  ALTER TABLE "logloom_private"."notifications"
    ADD COLUMN "position" bigint GENERATED ALWAYS AS IDENTITY NOT NULL;
  ALTER TABLE "logloom_private"."notifications"
    ADD COLUMN "template" jsonb;
  ALTER TABLE "logloom_private"."notifications"
    ADD COLUMN "is_complete" boolean NOT NULL DEFAULT false;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "alert_absent_windows" integer NOT NULL DEFAULT 10;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "console_url" text;
  ALTER TABLE "logloom_private"."webhook_secrets"
    ADD COLUMN "changed_at" timestamp WITH time zone NOT NULL DEFAULT now();
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
  CREATE TYPE "public"."logloom_alert_silence" AS (
    "silence_id" uuid,
    "tenant_id"  text,
    "matcher"    jsonb,
    "starts_at"  timestamp WITH time zone,
    "ends_at"    timestamp WITH time zone,
    "state"      text,
    "comment"    text,
    "created_by" text,
    "created_at" timestamp WITH time zone,
    "expired_at" timestamp WITH time zone,
    "expired_by" text
  );
  CREATE TYPE "public"."logloom_unsealed_secret" AS (
    "rule_id"   uuid,
    "tenant_id" text,
    "secrets"   text[]
  );
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
    p_row.window_start, p_row.window_end, p_row."group", p_row.incident_id, p_resolved_at,
    p_row.silence_id, p_row.absent
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
  -- What it found before it was bound to the view is none of the view.
  if p_view_id is not null and (p_row.last_evaluated_at > p_row.asked_at) is not true then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
  end if;
  return logloom_private.alert_rule_of(p_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_rule_of (
  p_row logloom.alert_rules
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.rule_id, p_row.tenant_id, p_row.name, p_row.description, p_row.query_dsl,
    p_row.threshold, p_row.comparison::public.logloom_alert_comparison, p_row.window_minutes,
    p_row.cooldown_minutes, p_row.enabled, p_row.notification_destinations,
    p_row.notification_config, p_row.created_at, p_row.updated_at, p_row.last_evaluated_at,
    p_row.last_value, p_row.last_error, p_row.view_id,
    p_row.notify_on_recovery, p_row.for_minutes, p_row.on_absent, p_row.group_wait_seconds,
    logloom_private.shown_secrets(p_row.notification_secrets)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_silence_of (
  p_row logloom.alert_silences
)
  RETURNS public.logloom_alert_silence
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.silence_id, p_row.tenant_id,
    jsonb_strip_nulls(jsonb_build_object('rule_id', p_row.rule_id))
      || case when p_row."group" is null then '{}'
        else jsonb_build_object('group', p_row."group") end,
    p_row.starts_at, p_row.ends_at,
    logloom_private.alert_silence_state(p_row.starts_at, p_row.ends_at, p_row.expired_at),
    p_row.comment, p_row.created_by, p_row.created_at, p_row.expired_at, p_row.expired_by
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_silence_state (
  p_starts_at  timestamp with time zone,
  p_ends_at    timestamp with time zone,
  p_expired_at timestamp with time zone
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when p_expired_at is not null or p_ends_at <= now() then 'expired'
    when p_starts_at > now() then 'scheduled'
    else 'active'
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
      'Invalid p_notification_destinations: any of email, webhook, slack, '
        'discord, teams, pagerduty',
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
      'Send email for the destination email, webhook_url for webhook, and of p_secrets slack_url, '
        'discord_url, teams_url or pagerduty_key for the others; or disable the rule.', null),
    ('alerts.alert_rules_webhook_template_is_valid', 400,
      'Invalid p_notification_config: webhook_template is a text of 1 to 4000 characters, '
        'webhook_template_type is json or text',
      'Leave both out for the usual payload.', null),
    ('alerts.alert_rules_for_minutes_are_valid', 400, 'Invalid p_for_minutes: 0 to 1440',
      'A day is the longest.', null),
    ('alerts.alert_rules_on_absent_is_known', 400, 'Invalid p_on_absent: ignore or fire',
      'fire tells when a group stops that sent before.', null),
    ('alerts.alert_rules_group_wait_is_valid', 400, 'Invalid p_group_wait_seconds: 0 to 3600',
      'An hour is the longest.', null),
    ('alerts.absent_needs_groups', 400, 'p_on_absent fire needs a query with by',
      'Group by the field whose values are to go on sending, or compare count() with lt.', null),
    ('alerts.rule_not_found', 404, 'Alert rule not found',
      'list_alert_rules shows the rules of this tenant.', null),
    ('alerts.alert_not_found', 404, 'Alert not found', 'Send an alert_id of list_alert_history.',
      null),
    ('alerts.matcher_is_invalid', 400,
      'Invalid p_matcher: an object of rule_id (a UUID) and group (an object of texts)',
      'Send {} for all alerts of the tenant.', null),
    ('alerts.silence_ends_too_early', 400,
      'Invalid p_to: after p_from, and in the future', 'Send when alerts are to be sent again.',
      null),
    ('alerts.silence_comment_is_too_long', 400, 'Invalid p_comment: at most 2000 characters',
      'Shorten it.', null),
    ('alerts.no_room_for_silence', 400, 'Plan limit exceeded: alert silences (max %s)',
      'Expire one that nobody needs; or choose a larger plan.',
      '`create_alert_silence`: the plan''s `max_alert_silences`.'),
    ('alerts.silence_not_found', 404, 'Silence not found',
      'Send a silence_id of list_alert_silences.', null),
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

CREATE OR REPLACE FUNCTION logloom_private.changed_rule_secrets (
  p_current jsonb,
  p_secrets jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.changed_secrets(
    p_current, nullif(p_secrets, 'null'), '{slack_url,discord_url,teams_url,pagerduty_key}'
  );
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

CREATE OR REPLACE FUNCTION logloom_private.channel_address (
  p_channel text,
  p_config  jsonb,
  p_secrets jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- A channel that is not named here is an error, never somebody else's address.
  case p_channel
    when 'email' then return p_config ->> 'email';
    when 'webhook' then return p_config ->> 'webhook_url';
    when 'slack' then return p_secrets ->> 'slack_url';
    when 'discord' then return p_secrets ->> 'discord_url';
    when 'teams' then return p_secrets ->> 'teams_url';
    when 'pagerduty' then return p_secrets ->> 'pagerduty_key';
  end case;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.channel_kind (
  p_channel text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case p_channel when 'email' then 'email' else 'webhook' end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.channel_limit (
  p_kind      text,
  p_tenant_id text
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    to_jsonb(logloom_private.plan_of(p_tenant_id)) ->> (p_kind || 's_per_hour')
  )::integer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.claim_due_notifications (
  p_limit integer
)
  RETURNS SETOF public.logloom_claimed_notification
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the outbox or a webhook's secret
declare
  v_ids uuid[];
  v_notification logloom_private.notifications;
  v_refusal text;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('notifications'), 0);
  loop
    v_ids := logloom_private.next_notifications(p_limit);
    v_ids := array(
      select n.notification_id
      from logloom_private.notifications n
      -- Again, on the row as it is once locked: it may have been settled meanwhile.
      where n.notification_id = any(v_ids)
        and n.status = 'pending' and n.next_attempt_at <= now()
      for update of n skip locked
    );
    exit when cardinality(v_ids) = 0;
    for v_notification in
      select n.*
      from logloom_private.notifications n
      where n.notification_id = any(v_ids) and n.channel = 'email'
    loop
      v_refusal := logloom_private.email_refusal(v_notification);
      if v_refusal is not null then
        perform logloom_private.end_notification(v_notification, 'failed', null, v_refusal);
        v_ids := array_remove(v_ids, v_notification.notification_id);
      elsif v_notification.purpose = 'confirmation' and v_notification.attempts = 0 then
        insert into logloom_private.confirmation_mails (mailbox_digest)
        values (logloom_private.mailbox_digest(v_notification.address));
      end if;
    end loop;
    exit when cardinality(v_ids) > 0;
  end loop;
  perform logloom_private.postpone_notifications();

  insert into logloom_private.notification_usage as u (tenant_id, channel, hour, attempts)
  select n.tenant_id, k.kind, date_trunc('hour', now()), count(*)
  from logloom_private.notifications n
  cross join lateral logloom_private.channel_kind(n.channel) k (kind)
  where n.notification_id = any(v_ids)
  group by n.tenant_id, k.kind
  on conflict (tenant_id, channel, hour) do update
  set attempts = u.attempts + excluded.attempts;
  return query
  with claimed as (
    update logloom_private.notifications n
    set claim_id = gen_random_uuid(),
      attempts = n.attempts + 1,
      last_attempt_at = now(),
      next_attempt_at = now() + s.notification_claim_lifetime
    from logloom_private.settings s
    where n.notification_id = any(v_ids)
    returning n as notification
  )
  select
    (c.notification).notification_id, (c.notification).claim_id, (c.notification).channel,
    (c.notification).address,
    case (c.notification).purpose
      when 'confirmation' then logloom_private.mail_code(c.notification)
      else (c.notification).body
    end,
    array_remove(
      array[w.secret, case when w.previous_valid_until > now() then w.previous_secret end], null
    ),
    (c.notification).tenant_id, (c.notification).rule_id, (c.notification).template,
    (c.notification).is_complete or (c.notification).purpose = 'confirmation'
  from claimed c
  left join logloom_private.webhook_secrets w
    on w.rule_id = (c.notification).rule_id and (c.notification).channel = 'webhook';
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
  where i.rule_id = old.rule_id and i.resolved_at is null
    -- If not, they go with it.
    and exists (select from logloom.tenants t where t.tenant_id = i.tenant_id);
  delete from logloom_private.alert_states a where a.rule_id = old.rule_id;
  return case tg_op when 'DELETE' then old else new end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.collect_alert (
  p_rule     logloom.alert_rules,
  p_purpose  text,
  p_channel  text,
  p_alert_id uuid,
  p_body     text
)
  RETURNS logloom_private.notifications
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_waiting logloom_private.notifications;
  v_body jsonb;
begin
  select n.* into v_waiting
  from logloom_private.notifications n
  where n.rule_id = p_rule.rule_id and n.channel = p_channel and n.purpose = p_purpose
    and n.status = 'pending' and n.attempts = 0 and n.claim_id is null
    and n.next_attempt_at > clock_timestamp() and n.group_key = 'collected'
  order by n.position desc
  limit 1
  for update;
  if not found then
    return null;
  end if;
  v_body := v_waiting.body;
  -- As many as are shown; the others are in the history.
  if jsonb_array_length(v_body #> '{data,alerts}') < 100 then
    v_body := jsonb_set(
      v_body, '{data,alerts}', (v_body #> '{data,alerts}') || (p_body::jsonb #> '{data,alerts}')
    );
    update logloom_private.notifications n
    set body = v_body::text
    where n.notification_id = v_waiting.notification_id
    returning n.* into v_waiting;
  end if;
  if p_alert_id is not null then
    insert into logloom_private.notified_alerts (notification_id, alert_id)
    values (v_waiting.notification_id, p_alert_id)
    on conflict do nothing;
  end if;
  return v_waiting;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.complete_notification (
  p_notification_id uuid,
  p_claim_id        uuid
)
  RETURNS text
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the outbox
declare
  v_notification logloom_private.notifications;
  v_data jsonb;
  v_query text;
  v_view_id uuid;
  v_url constant text := (select s.console_url from logloom_private.settings s);
begin
  select n.* into v_notification
  from logloom_private.notifications n
  where n.notification_id = p_notification_id and n.claim_id = p_claim_id and not n.is_complete;
  if not found then
    return (
      select n.body from logloom_private.notifications n
      where n.notification_id = p_notification_id and n.claim_id = p_claim_id
    );
  end if;
  v_data := v_notification.body::jsonb -> 'data';
  v_query := logloom_private.records_query(
    v_data ->> 'query_dsl',
    case when jsonb_array_length(v_data -> 'alerts') = 1 and v_data -> 'group' <> 'null'
      then v_data -> 'group' end
  );
  v_data := v_data || jsonb_build_object(
    'url', v_url || '#q=' || logloom_private.percent_encoded(v_query)
      || '&from=' || logloom_private.percent_encoded(v_data ->> 'window_start')
      || '&to=' || logloom_private.percent_encoded(v_data ->> 'window_end'),
    'logs', '[]'::jsonb
  );
  if v_notification.purpose = 'alert' and v_query is not null then
    select h.view_id into v_view_id
    from logloom.alert_history h where h.alert_id = v_notification.alert_id;
    v_data := jsonb_set(v_data, '{logs}', logloom_private.newest_records(
      v_notification.tenant_id, v_view_id, v_query, v_data ->> 'window_start',
      v_data ->> 'window_end'
    ));
  end if;
  update logloom_private.notifications n
  set body = (n.body::jsonb || jsonb_build_object('data', v_data))::text, is_complete = true
  where n.notification_id = p_notification_id and n.claim_id = p_claim_id and not n.is_complete
  returning n.body into v_notification.body;
  return v_notification.body;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.completed_preview (
  p_preview    public.logloom_alert_preview,
  p_values     logloom_private.alert_window[],
  p_is_grouped boolean,
  p_rule       logloom.alert_rules
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_step constant interval := make_interval(mins => p_preview.step_minutes);
  v_crowded timestamptz[];
  v_seen logloom_private.alert_window[];
  v_alerts public.logloom_alert_preview_entry[];
begin
  select s.* into v_settings from logloom_private.settings s;
  -- A window with more groups than a rule looks at has no value: the rule fires for none.
  v_crowded := array(
    select w.window_end
    from unnest(p_values) w
    group by w.window_end
    having count(*) > v_settings.alert_groups
  );
  v_seen := array(select w from unnest(p_values) w where w.window_end <> all(v_crowded));
  v_alerts := logloom_private.preview_alerts(v_seen, p_rule, v_step);
  p_preview.total_alerts := cardinality(v_alerts);
  p_preview.alerts := array(
    select a
    from (
      select o.a, sum(octet_length((o.a)."group"::text)) over (
        order by (o.a).window_end desc, (o.a)."group"
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
      from (
        select a from unnest(v_alerts) a
        order by a.window_end desc, a."group"
        limit case when p_is_grouped then v_settings.preview_alerts end
      ) o
    ) n
    where coalesce(n.bytes_before, 0) < v_settings.max_page_bytes / 2
    order by (n.a).window_end, (n.a)."group"
  );
  p_preview.series := array(
    select row(e.window_end, max(w.value))::public.logloom_alert_preview_point
    from (
      select g from generate_series(p_preview.ts_from + v_step, p_preview.ts_to, v_step) g
      union
      select w.window_end from unnest(p_values) w
    ) e (window_end)
    left join unnest(v_seen) w on w.window_end = e.window_end
    group by e.window_end
    order by e.window_end
  );
  if not p_is_grouped then
    return p_preview;
  end if;
  p_preview.crowded_windows := cardinality(v_crowded);
  p_preview.total_groups := (select count(distinct w."group") from unnest(p_values) w);
  p_preview.groups := array(
    select row(g."group", g.alerts, g.series)::public.logloom_alert_preview_group
    from (
      select
        w."group", coalesce(a.alerts, 0)::integer as alerts, max(w.value) as greatest,
        array_agg(
          row(w.window_end, w.value)::public.logloom_alert_preview_point order by w.window_end
        ) as series
      from unnest(v_seen) w
      left join (
        select a."group", count(*) as alerts from unnest(v_alerts) a group by 1
      ) a on a."group" = w."group"
      group by w."group", a.alerts
      order by coalesce(a.alerts, 0) desc, greatest desc nulls last, w."group"
      limit v_settings.search_series
    ) g
    where octet_length(g."group"::text) < v_settings.max_page_bytes / 64
  );
  return p_preview;
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
    from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.incident_id = p_incident_id
    order by n.created_at desc, n.notification_id desc
    limit 100
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.due_alert_windows (
  p_rule_ids uuid[],
  p_round    logloom_private.alert_rounds
)
  RETURNS SETOF logloom_private.alert_window
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    r.rule_id, e.window_end - make_interval(mins => r.window_minutes), e.window_end,
    null::double precision, null::text, null::jsonb, null::boolean
  from logloom.alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_writes a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(r.last_evaluated_at + interval '1 minute', p_round.window_end - s.alert_grace),
      p_round.window_end - s.alert_catch_up_limit
    ),
    p_round.window_end,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    and r.enabled
    -- A window that ended before the rule was what it is now holds less than a search showed then:
    -- the first is the next round's.
    and e.window_end > r.asked_at
    -- Of the time before its first evaluation, only the last window.
    and (r.last_evaluated_at is not null or e.window_end = p_round.window_end)
    -- A window that was evaluated is looked at again only where something came late.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at
      or e.window_end > a.first_ts
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.due_notifications()
  RETURNS TABLE (
    notification_id uuid,
    tenant_id       text,
    next_attempt_at timestamp with time zone,
    is_beyond_plan  boolean,
    channel_limit   integer
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  with due as (
    select
      n.notification_id, n.tenant_id, k.kind, n.next_attempt_at,
      row_number() over (
        partition by n.tenant_id, k.kind order by n.next_attempt_at
      ) as channel_place
    from logloom_private.notifications n
    cross join lateral logloom_private.channel_kind(n.channel) k (kind)
    where n.status = 'pending' and n.next_attempt_at <= now()
      -- Nothing is resolved before it was triggered, or triggered anew before it was resolved.
      and not (
        (n.purpose = 'recovery' or n.purpose = 'alert' and n.channel = 'pagerduty')
        and exists (
          select
          from logloom_private.notifications e
          where e.rule_id = n.rule_id and e.channel = n.channel and e.status = 'pending'
            and e.purpose in ('alert', 'recovery')
            and e.group_key = n.group_key and e.position < n.position
        )
      )
  ), senders as (
    select
      d.tenant_id, d.kind,
      logloom_private.channel_limit(d.kind, d.tenant_id) as attempts
    from (select distinct x.tenant_id, x.kind from due x) d
  )
  select
    d.notification_id, d.tenant_id, d.next_attempt_at,
    d.channel_place > s.attempts - coalesce(u.attempts, 0), s.attempts
  from due d
  join senders s on s.tenant_id = d.tenant_id and s.kind = d.kind
  left join logloom_private.notification_usage u
    on u.tenant_id = d.tenant_id and u.channel = d.kind and u.hour = date_trunc('hour', now());
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_alert_silence (
  p_tenant_id  text,
  p_silence_id uuid
)
  RETURNS public.logloom_alert_silence
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes silences, which keep others from being told
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.alert_silences;
begin
  perform logloom_private.require_parameter('p_silence_id', p_silence_id is null);
  select s.* into v_row
  from logloom.alert_silences s
  where s.tenant_id = v_tenant_id and s.silence_id = p_silence_id
  for update;
  if not found then
    perform logloom_private.refuse('alerts.silence_not_found');
  end if;
  -- One that is over stays as it ended.
  if v_row.expired_at is null and v_row.ends_at > now() then
    update logloom.alert_silences s
    set expired_at = now(), expired_by = logloom_private.actor()
    where s.silence_id = p_silence_id
    returning s.* into v_row;
    insert into logloom.audit_events (tenant_id, actor, action, subject, details)
    values (
      v_tenant_id, logloom_private.actor(), 'alert_silence.expired', p_silence_id::text,
      jsonb_build_object('rule_id', v_row.rule_id, 'ends_at', v_row.ends_at)
    );
  end if;
  return logloom_private.alert_silence_of(v_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.end_notification (
  p_notification logloom_private.notifications,
  p_outcome      text,
  p_status       integer,
  p_error        text
)
  RETURNS logloom_private.notifications
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_ended logloom_private.notifications;
  v_alert_ids constant uuid[] := p_notification.alert_id || array(
    select a.alert_id
    from logloom_private.notified_alerts a
    where a.notification_id = p_notification.notification_id
  );
begin
  update logloom_private.notifications n
  set claim_id = null,
    status = case p_outcome when 'delivered' then 'delivered' else 'failed' end,
    settled_at = now(),
    last_status = p_status,
    last_error = p_error
  where n.notification_id = p_notification.notification_id
  returning n.* into v_ended;
  if p_outcome = 'delivered' then
    update logloom.alert_history h
    set notification_sent_at = coalesce(h.notification_sent_at, now()),
      notification_channels
        = array_remove(h.notification_channels, v_ended.channel) || v_ended.channel
    where h.alert_id = any (v_alert_ids);
  else
    update logloom.alert_history h
    set notification_error = v_ended.channel || ': ' || coalesce(p_error, 'not delivered')
    where h.alert_id = any (v_alert_ids);
  end if;
  return v_ended;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_alert_notifications()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rule logloom.alert_rules;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  -- An entry outlives its rule, and may be put back without it: then nobody is to hear of it.
  if found then
    perform logloom_private.enqueue_notifications(
      v_rule, 'alert', new, logloom_private.notification_body('alert.triggered', v_rule, new)
    );
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_notifications (
  p_rule        logloom.alert_rules,
  p_purpose     text,
  p_alert       logloom.alert_history,
  p_body        text,
  p_is_silenced boolean               DEFAULT false
)
  RETURNS SETOF logloom_private.notifications
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_preferences constant jsonb := to_jsonb(
    (logloom_private.effective_settings(p_rule.tenant_id)).notification_preferences
  );
  v_lifetime constant interval := (
    select s.notification_lifetime from logloom_private.settings s
  );
  v_destination record;
  v_collects boolean;
  v_notification logloom_private.notifications;
begin
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into logloom_private.webhook_secrets (rule_id)
    values (p_rule.rule_id)
    on conflict (rule_id) do nothing;
  end if;
  for v_destination in
    select d.channel, a.address
    from unnest(p_rule.notification_destinations) d (channel)
    cross join lateral logloom_private.channel_address(
      d.channel, p_rule.notification_config, p_rule.notification_secrets
    ) a (address)
    where (v_preferences -> (logloom_private.channel_kind(d.channel) || '_enabled'))::boolean
      and a.address is not null
      and (
        p_purpose <> 'recovery' or d.channel = 'pagerduty'
        or p_rule.notify_on_recovery and not p_is_silenced
      )
  loop
    -- A pager has an incident for each group.
    v_collects := p_purpose <> 'test' and p_rule.group_wait_seconds > 0
      and p_alert."group" is not null and v_destination.channel <> 'pagerduty';
    if v_collects then
      v_notification := logloom_private.collect_alert(
        p_rule, p_purpose, v_destination.channel, p_alert.alert_id, p_body
      );
      if v_notification.notification_id is not null then
        return next v_notification;
        continue;
      end if;
    end if;
    insert into logloom_private.notifications (
      tenant_id, rule_id, alert_id, incident_id, purpose, channel, address, body, expires_at,
      next_attempt_at, group_key, template
    )
    values (
      p_rule.tenant_id, p_rule.rule_id, p_alert.alert_id, p_alert.incident_id, p_purpose,
      v_destination.channel, v_destination.address, p_body, now() + v_lifetime,
      case
        when v_collects then now() + make_interval(secs => p_rule.group_wait_seconds)
        else now()
      end,
      case when v_collects then 'collected' else coalesce(md5(p_alert."group"::text), '') end,
      case when v_destination.channel = 'webhook' then jsonb_build_object(
        'text', p_rule.notification_config -> 'webhook_template',
        'type', coalesce(p_rule.notification_config -> 'webhook_template_type', '"json"')
      ) end
    )
    returning * into v_notification;
    if v_notification.channel = 'email' and not logloom_private.address_is_confirmed(
      v_notification.tenant_id, v_notification.address
    ) then
      v_notification := logloom_private.end_notification(
        v_notification, 'failed', null,
        case
          -- Whoever tests asks for another code. An alert asks for nothing: it may fire for ever.
          when p_purpose = 'test' then logloom_private.request_confirmation(p_rule, true)
          else logloom_private.unconfirmed_address(
            v_notification.tenant_id, v_notification.address
          )
        end
      );
    end if;
    return next v_notification;
  end loop;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_recovery()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rule logloom.alert_rules;
  v_end logloom.alert_history;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  if not found
    or not (v_rule.notify_on_recovery or 'pagerduty' = any (v_rule.notification_destinations))
    or not exists (
      select
      from logloom.alert_history h
      where h.incident_id = new.incident_id and h.silence_id is null
    )
    or exists (
      select
      from logloom_private.notifications n
      where n.incident_id = new.incident_id and n.purpose = 'recovery'
        and n.created_at >= new.last_fired_at
    )
  then
    return null;
  end if;
  v_end.incident_id := new.incident_id;
  v_end."group" := new."group";
  perform logloom_private.enqueue_notifications(
    v_rule, 'recovery', v_end, logloom_private.recovery_body(v_rule, new),
    logloom_private.silence_of_alert(
      new.tenant_id, new.rule_id, new."group", new.resolved_at
    ) is not null
  );
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue_rule_test (
  p_rule_id uuid
)
  RETURNS SETOF public.logloom_alert_delivery
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_rule logloom.alert_rules;
  v_sample logloom.alert_history;
  v_kind text;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  select r.* into v_rule
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  if exists (
    select
    from logloom_private.notifications n
    cross join logloom_private.settings s
    where n.tenant_id = v_tenant_id and n.rule_id = p_rule_id and n.purpose = 'test'
      and n.created_at > now() - s.notification_test_interval
  ) then
    perform logloom_private.refuse('notifications.tested_a_moment_ago');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(v_tenant_id)
  );
  for v_kind in
    select distinct logloom_private.channel_kind(d.channel)
    from unnest(v_rule.notification_destinations) d (channel)
  loop
    perform logloom_private.require_room_for_test(v_tenant_id, v_kind);
  end loop;
  v_sample.triggered_at := now();
  v_sample.window_end := date_trunc('minute', now());
  v_sample.window_start := v_sample.window_end - make_interval(mins => v_rule.window_minutes);
  v_sample.value := v_rule.threshold;
  v_sample.threshold := v_rule.threshold;
  return query
  select d.*
  from logloom_private.enqueue_notifications(
    v_rule, 'test', v_sample, logloom_private.notification_body('alert.test', v_rule, v_sample)
  ) n
  cross join lateral logloom_private.delivery(n) d;
  if not found then
    perform logloom_private.refuse('notifications.no_destination');
  end if;
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
    "group", view_id, incident_id, silence_id, absent
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end, p_window."group", p_rule.view_id,
    logloom_private.held_incident(p_rule, p_window, p_now, true),
    logloom_private.silence_of_alert(
      p_rule.tenant_id, p_rule.rule_id, p_window."group", p_now
    ),
    p_window.absent is true
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
        'alert_incident_state', 'alert_rule_of', 'alert_silence_of', 'alert_silence_state',
        'api_key_status', 'change_log_view', 'change_member', 'changed_rule_secrets',
        'changed_secrets', 'check_query', 'check_settings', 'confirm_address',
        'deliveries_of_incident', 'distinct_destinations', 'effective_settings',
        'end_alert_silence', 'end_portal_session', 'enqueue_rule_test', 'enroll_member',
        'found_tenant', 'hold_view', 'is_being_deleted', 'is_viewer', 'issue_api_key',
        'issue_ingest_token', 'issue_portal_session', 'list_bytes', 'list_limit', 'log_view_of',
        'make_alert_silence', 'make_log_view', 'my_key_reads', 'my_stored', 'my_usage',
        'new_api_key', 'note_saved_search_run', 'page_of_addresses', 'page_of_deliveries',
        'page_place', 'plan_feature', 'plan_of', 'preview_windows', 'provision_current_tenant',
        'put_back_delivery', 'read_alert_history', 'read_alert_rules', 'read_log',
        'read_log_changes', 'read_log_context', 'read_log_export', 'read_log_fields',
        'read_log_histogram', 'read_log_page', 'read_log_series', 'read_log_stats', 'read_log_tail',
        'read_members', 'read_query_validity', 'read_saved_search', 'read_saved_searches',
        'reads_again', 'reads_only', 'refuse_for_now', 'refuse_saved_search', 'refuse_with_headers',
        'remove_log_view', 'replace_webhook_secret', 'request_deletion', 'require_groups',
        'require_parameter', 'require_role', 'require_room_for', 'require_room_for_api_key',
        'require_rule_in_view', 'require_view_by_admin', 'require_view_for_key',
        'require_writing_client', 'resolve_tenant_to_change', 'retention_days', 'saved_search_of',
        'sent_claims', 'service_operations', 'shown_secrets', 'tags_are_valid', 'tenant_with_plan',
        'time_parameter', 'token_is_valid', 'trim_space'
      ]),
      ('service_role', array[
        'claim_due_notifications', 'complete_notification', 'ingest', 'ingest_each',
        'open_portal_session', 'put_sealed', 'read_by_key', 'read_health', 'run_writer_in_place',
        'settle_claim', 'unsealed_secrets'
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
    -- Several may have been opened at once, by windows that were caught up with.
    order by l.opened_at desc, l.held_until desc
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

CREATE OR REPLACE FUNCTION logloom_private.judge_alert_rules (
  p_rule_ids uuid[],
  p_round    logloom_private.alert_rounds,
  p_now      timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
begin
  return logloom_private.settle_alert_windows(
    array(
      with due as materialized (
        select d.rule_id, d.window_start, d.window_end, r.group_id, r.aggregate, r.window_minutes,
          min(d.window_start) over (partition by d.rule_id) as first_start
        from logloom_private.due_alert_windows(p_rule_ids, p_round) d
        join logloom_private.planned_alert_rules r on r.rule_id = d.rule_id
      )
      select row(
        d.rule_id, d.window_start, d.window_end,
        logloom_private.partial_value(
          d.aggregate, d.window_minutes, t.events, t.numbers, t.total, t.least, t.greatest
        ),
        null, null, null
      )::logloom_private.alert_window
      from due d
      join logloom_private.alert_groups g on g.group_id = d.group_id
      cross join lateral (
        select
          sum(m.events) as events, sum(m.numbers) as numbers, sum(m.total) as total,
          min(m.least) as least, max(m.greatest) as greatest
        from logloom_private.alert_partials m
        where m.group_id = d.group_id and m.minute >= d.window_start and m.minute < d.window_end
      ) t
      where g.write_seq >= p_round.write_seq_to
        and (
          g.filled_from < d.first_start or (g.filled_from = d.first_start and g.filled_id is null)
        )
      union all
      select row(
        r.rule_id, p_round.window_end, p_round.window_end, null,
        coalesce(r.refusal, g.last_error), null, null
      )::logloom_private.alert_window
      from logloom_private.planned_alert_rules r
      left join logloom_private.alert_groups g on g.group_id = r.group_id
      where r.rule_id = any(p_rule_ids)
        and r.asked_at < p_round.window_end
        and (
          r.refusal is not null
          or (g.last_error is not null and g.retry_at > p_round.window_end)
        )
    ),
    p_round, p_now
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.lasting_windows (
  p_rule       logloom.alert_rules,
  p_window_end timestamp with time zone,
  p_seen       logloom_private.alert_window[],
  p_holding    logloom_private.alert_window[]
)
  RETURNS logloom_private.alert_window[]
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_holding logloom_private.alert_window[] := p_holding;
begin
  select s.* into v_settings from logloom_private.settings s;
  if p_rule.on_absent = 'fire' then
    v_holding := v_holding || array(
      select row(
        p_rule.rule_id, p_window_end - make_interval(mins => p_rule.window_minutes), p_window_end,
        0, null, a."group", true
      )::logloom_private.alert_window
      from logloom_private.alert_states a
      where a.rule_id = p_rule.rule_id
        and a.seen_at < p_window_end
        and a.seen_at >= p_window_end - make_interval(
          mins => p_rule.window_minutes * v_settings.alert_absent_windows
        )
        and not exists (
          select from unnest(p_seen) s where md5(s."group"::text) = a.group_key
        )
      order by a.seen_at desc, a.group_key
      limit v_settings.alert_groups
    );
  end if;
  insert into logloom_private.alert_states as a (
    rule_id, group_key, "group", looked_at, seen_at, holds_since
  )
  select
    p_rule.rule_id, w.group_key, w."group", p_window_end,
    case when w.is_seen and p_rule.on_absent = 'fire' then p_window_end end,
    case when w.holds then p_window_end end
  from (
    select
      coalesce(md5(u."group"::text), '') as group_key, (array_agg(u."group"))[1] as "group",
      bool_or(u.holds) as holds, bool_or(not u.holds or u.absent is not true) as is_seen
    from (
      select h."group", h.absent, true as holds from unnest(v_holding) h
      union all
      select s."group", s.absent, false from unnest(p_seen) s where p_rule.on_absent = 'fire'
    ) u
    group by 1
  ) w
  on conflict (rule_id, group_key) do update
  set looked_at = greatest(a.looked_at, p_window_end),
    seen_at = greatest(a.seen_at, excluded.seen_at),
    -- A window that is looked at again says nothing new of how long.
    holds_since = case
      when a.looked_at >= p_window_end then a.holds_since
      else coalesce(a.holds_since, excluded.holds_since)
    end;
  -- What does not hold begins anew; what was not seen for long is forgotten.
  update logloom_private.alert_states a
  set holds_since = null, looked_at = p_window_end
  where a.rule_id = p_rule.rule_id and a.looked_at < p_window_end and a.holds_since is not null;
  update logloom_private.alert_states a
  set holds_since = null
  where a.rule_id = p_rule.rule_id and a.looked_at = p_window_end
    and a.holds_since is not null
    and not exists (
      select from unnest(v_holding) h where coalesce(md5(h."group"::text), '') = a.group_key
    );
  delete from logloom_private.alert_states a
  where a.rule_id = p_rule.rule_id
    and a.holds_since is null
    and (
      a.seen_at < p_window_end - make_interval(
        mins => p_rule.window_minutes * v_settings.alert_absent_windows
      )
    ) is not false;
  delete from logloom_private.alert_states a
  where a.rule_id = p_rule.rule_id and a.group_key = any (array(
    select o.group_key
    from logloom_private.alert_states o
    where o.rule_id = p_rule.rule_id
    order by o.seen_at desc nulls last, o.group_key
    offset v_settings.alert_groups * v_settings.alert_absent_windows
  ));
  return array(
    select h
    from unnest(v_holding) h
    join logloom_private.alert_states a
      on a.rule_id = p_rule.rule_id and a.group_key = coalesce(md5(h."group"::text), '')
    where a.holds_since <= p_window_end - make_interval(mins => p_rule.for_minutes)
    order by h."group"
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.make_alert_silence (
  p_tenant_id text,
  p_matcher   jsonb,
  p_from      text,
  p_to        text,
  p_comment   text
)
  RETURNS public.logloom_alert_silence
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes silences, which keep others from being told
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_alert_silences;
  v_from constant timestamptz := coalesce(
    logloom_private.time_parameter('p_from', p_from), now()
  );
  v_to constant timestamptz := logloom_private.time_parameter('p_to', p_to);
  v_row logloom.alert_silences;
begin
  perform logloom_private.require_parameter('p_matcher', p_matcher is null);
  perform logloom_private.require_parameter('p_to', p_to is null);
  if jsonb_typeof(p_matcher) <> 'object'
    or p_matcher - '{rule_id,group}'::text[] <> '{}'
    or p_matcher ? 'rule_id' and not (
      jsonb_typeof(p_matcher -> 'rule_id') = 'string'
      and pg_input_is_valid(p_matcher ->> 'rule_id', 'uuid')
    )
    or p_matcher ? 'group' and not (
      jsonb_typeof(p_matcher -> 'group') = 'object'
      and octet_length((p_matcher -> 'group')::text) <= 8192
      and not jsonb_path_exists(
        p_matcher -> 'group', '$.* ? (@.type() != "string" && @.type() != "null")'
      )
    )
  then
    perform logloom_private.refuse('alerts.matcher_is_invalid');
  elsif v_to <= v_from or v_to <= now() then
    perform logloom_private.refuse('alerts.silence_ends_too_early');
  elsif length(logloom_private.trim_space(p_comment)) > 2000 then
    perform logloom_private.refuse('alerts.silence_comment_is_too_long');
  elsif p_matcher ? 'rule_id' and not exists (
    select from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = (p_matcher ->> 'rule_id')::uuid
  ) then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('alerts'), hashtext(v_tenant_id)
  );
  if (
    select count(*) >= v_max
    from logloom.alert_silences s
    where s.tenant_id = v_tenant_id and s.ends_at > now() and s.expired_at is null
  ) then
    perform logloom_private.refuse('alerts.no_room_for_silence', v_max::text);
  end if;
  insert into logloom.alert_silences (
    tenant_id, rule_id, "group", starts_at, ends_at, comment, created_by
  )
  values (
    v_tenant_id, (p_matcher ->> 'rule_id')::uuid, p_matcher -> 'group', v_from, v_to,
    nullif(logloom_private.trim_space(p_comment), ''), logloom_private.actor()
  )
  returning * into v_row;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'alert_silence.created', v_row.silence_id::text,
    jsonb_build_object('rule_id', v_row.rule_id, 'starts_at', v_from, 'ends_at', v_to)
  );
  return logloom_private.alert_silence_of(v_row);
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
  v_scope.tenant_id := p_tenant_id;
  v_scope.actor := 'alerts';
  if p_view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_view_id);
    -- Which operations its readers have is another matter.
    v_scope.operations := null;
  end if;
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

CREATE OR REPLACE FUNCTION logloom_private.notification_body (
  p_type  text,
  p_rule  logloom.alert_rules,
  p_alert logloom.alert_history
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
begin
  return json_build_object(
    'type', p_type,
    'timestamp', to_char(p_alert.triggered_at, v_iso),
    'data', json_build_object(
      'alert_id', p_alert.alert_id,
      'rule_id', p_rule.rule_id,
      'tenant_id', p_rule.tenant_id,
      'name', p_rule.name,
      'description', p_rule.description,
      'query_dsl', p_rule.query_dsl,
      'value', p_alert.value,
      'group', p_alert."group",
      'comparison', p_rule.comparison,
      'threshold', p_alert.threshold,
      'window_minutes', p_rule.window_minutes,
      'window_start', to_char(p_alert.window_start, v_iso),
      'window_end', to_char(p_alert.window_end, v_iso),
      'triggered_at', to_char(p_alert.triggered_at, v_iso),
      'incident_id', p_alert.incident_id,
      'absent', coalesce(p_alert.absent, false),
      'alerts', json_build_array(json_build_object(
        'alert_id', p_alert.alert_id,
        'group', logloom_private.short_group(p_alert."group"),
        'value', p_alert.value,
        'absent', coalesce(p_alert.absent, false)
      ))
    )
  )::text;
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
    'complete_alert_notification',
    'confirm_alert_address',
    'create_alert_rule',
    'create_alert_silence',
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
    'expire_alert_silence',
    'export_logs',
    'get_alert_incident',
    'get_alert_rule',
    'get_api_key_usage',
    'get_current_tenant',
    'get_log',
    'get_log_context',
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
    'list_alert_silences',
    'list_api_keys',
    'list_log_fields',
    'list_log_portal_sessions',
    'list_log_retention_runs',
    'list_log_views',
    'list_saved_searches',
    'list_tenant_audit_events',
    'list_tenant_members',
    'list_unsealed_alert_secrets',
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
    'seal_alert_secret',
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

CREATE OR REPLACE FUNCTION logloom_private.page_of_deliveries (
  p_alert_id uuid,
  p_rule_id  uuid,
  p_limit    integer,
  p_after    uuid
)
  RETURNS SETOF public.logloom_alert_delivery
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit integer;
  v_after timestamptz;
  v_collecting constant uuid[] := array(
    select a.notification_id
    from logloom_private.notified_alerts a
    where a.alert_id = p_alert_id
  );
begin
  perform logloom_private.require_parameter('p_alert_id', num_nonnulls(p_alert_id, p_rule_id) = 0);
  if p_alert_id is not null and not exists (
    select from logloom.alert_history h where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  ) then
    perform logloom_private.refuse('alerts.alert_not_found');
  end if;
  v_limit := logloom_private.list_limit(p_limit);
  v_after := logloom_private.page_place(
    p_after::text, 'delivery', 'delivery_id',
    (
      select n.created_at from logloom_private.notifications n
      where n.tenant_id = v_tenant_id and n.notification_id = p_after
    )
  );
  return query
  select d.*
  from logloom_private.notifications n
  cross join lateral logloom_private.delivery(n) d
  where n.tenant_id = v_tenant_id
    and (
      p_alert_id is null or n.alert_id = p_alert_id or n.notification_id = any (v_collecting)
    )
    and (p_rule_id is null or n.rule_id = p_rule_id)
    and (p_after is null or (n.created_at, n.notification_id) < (v_after, p_after))
  order by n.created_at desc, n.notification_id desc
  limit v_limit;
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

CREATE OR REPLACE FUNCTION logloom_private.percent_encoded (
  p_text text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select coalesce(string_agg(
      case
        when c.bytes ~ '^[A-Za-z0-9_.~-]$' then c.bytes
        else regexp_replace(
          upper(encode(convert_to(c.bytes, 'UTF8'), 'hex')), '(..)', '%\1', 'g'
        )
      end, '' order by c.n
    ), '')
    from regexp_split_to_table(p_text, '') with ordinality c (bytes, n)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_alerts (
  p_values logloom_private.alert_window[],
  p_rule   logloom.alert_rules,
  p_step   interval
)
  RETURNS public.logloom_alert_preview_entry[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_value logloom_private.alert_window;
  v_last public.logloom_alert_preview_entry;
  v_before logloom_private.alert_window;
  v_since timestamptz;
  v_alerts public.logloom_alert_preview_entry[] := '{}';
begin
  for v_value in
    select w.*
    from unnest(p_values) w
    where logloom_private.alert_condition_holds(w.value, p_rule.comparison, p_rule.threshold)
    order by w."group", w.window_end
  loop
    if v_before.window_end + p_step = v_value.window_end is not true
      or v_value."group" is distinct from v_before."group"
    then
      v_since := v_value.window_end;
    end if;
    v_before := v_value;
    continue when v_value.window_end < v_since + make_interval(mins => p_rule.for_minutes);
    if v_last.window_end is null
      or v_value."group" is distinct from v_last."group"
      or v_value.window_end
        >= v_last.window_end + make_interval(mins => p_rule.cooldown_minutes)
    then
      v_last := row(v_value.window_start, v_value.window_end, v_value.value, v_value."group");
      v_alerts := v_alerts || v_last;
    end if;
  end loop;
  return v_alerts;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.preview_partial_values (
  p_query          logloom_private.compiled_query,
  p_source         text,
  p_tenant_id      text,
  p_from           timestamp with time zone,
  p_to             timestamp with time zone,
  p_window_minutes integer
)
  RETURNS logloom_private.alert_window[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_values logloom_private.alert_window[];
begin
  execute 'select array(select row(null, e.at - $4, e.at, logloom_private.partial_value($5, $6, '
    || 'sum(p.events) over w, sum(p.numbers) over w, sum(p.total) over w, min(p.least) over w, '
    || 'max(p.greatest) over w), null, null, null)::logloom_private.alert_window '
    || 'from generate_series($2 + interval ''1 minute'', $3, ''1 minute'') e (at) left join ('
    || logloom_private.alert_partials_sql(
      'select 1 as group_id, s.* from (' || p_source || ') s', p_query.filter,
      logloom_private.alert_number_sql(p_query)
    )
    || ') p on p.minute = e.at - interval ''1 minute'' '
    || 'window w as (order by e.at rows between $6 - 1 preceding and current row) '
    || 'order by e.at offset $6 - 1)'
  into v_values
  using p_tenant_id, p_from - v_window, p_to, v_window,
    coalesce(p_query.aggregate, 'count'), p_window_minutes;
  return v_values;
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

CREATE OR REPLACE FUNCTION logloom_private.put_back_delivery (
  p_delivery_id uuid
)
  RETURNS public.logloom_alert_delivery
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_notification logloom_private.notifications;
  v_address text;
begin
  perform logloom_private.require_parameter('p_delivery_id', p_delivery_id is null);
  select n.* into v_notification
  from logloom_private.notifications n
  where n.tenant_id = v_tenant_id and n.notification_id = p_delivery_id
  for update;
  if not found then
    perform logloom_private.refuse('notifications.delivery_not_found');
  end if;
  if v_notification.status = 'delivered' then
    perform logloom_private.refuse('notifications.delivery_arrived');
  end if;
  if v_notification.purpose = 'confirmation' then
    perform logloom_private.refuse('notifications.code_is_not_mailed_twice');
  end if;
  v_address := coalesce(
    (
      select logloom_private.channel_address(
        v_notification.channel, r.notification_config, r.notification_secrets
      )
      from logloom.alert_rules r
      where r.rule_id = v_notification.rule_id
    ),
    v_notification.address
  );
  if v_notification.channel = 'email'
    and not logloom_private.address_is_confirmed(v_tenant_id, v_address)
  then
    perform logloom_private.refuse('notifications.address_is_not_confirmed');
  end if;
  -- One that is under way stays with who claimed it. The address may have been mended meanwhile.
  update logloom_private.notifications n
  set status = 'pending',
    settled_at = null,
    next_attempt_at = case when n.claim_id is null then now() else n.next_attempt_at end,
    expires_at = now() + (select s.notification_lifetime from logloom_private.settings s),
    address = v_address
  where n.notification_id = p_delivery_id
  returning n.* into v_notification;
  return logloom_private.delivery(v_notification);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.put_sealed (
  p_rule_id uuid,
  p_digest  text,
  p_sealed  text
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes the secrets
begin
  update logloom_private.webhook_secrets w
  set
    secret = case
      when encode(sha256(convert_to(w.secret, 'UTF8')), 'hex') = p_digest then p_sealed
      else w.secret
    end,
    previous_secret = case
      when encode(sha256(convert_to(w.previous_secret, 'UTF8')), 'hex') = p_digest then p_sealed
      else w.previous_secret
    end
  where w.rule_id = p_rule_id;
  update logloom.alert_rules r
  set notification_secrets = (
    select jsonb_object_agg(
      s.key,
      case when encode(sha256(convert_to(s.value, 'UTF8')), 'hex') = p_digest then p_sealed
        else s.value end
    )
    from jsonb_each_text(r.notification_secrets) s
  )
  where r.rule_id = p_rule_id and r.notification_secrets <> '{}';
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

CREATE OR REPLACE FUNCTION logloom_private.records_query (
  p_query_dsl text,
  p_group     jsonb
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_query logloom_private.compiled_query := logloom_private.compile_query(p_query_dsl);
  v_state logloom_private.query_state;
  v_bar integer;
  v_text text := p_query_dsl;
  v_group text;
begin
  if v_query.aggregate is not null then
    v_state := logloom_private.query_tokenize(p_query_dsl, now());
    select max(t.position) into v_bar
    from unnest(v_state.texts, v_state.positions) t (text, position)
    where t.text = '|';
    v_text := left(p_query_dsl, v_bar - 1);
  end if;
  v_text := coalesce(nullif(logloom_private.trim_space(v_text), ''), '*');
  if p_group is null then
    return v_text;
  end if;
  select string_agg(
    case
      when p_group ->> f is null then '-' || f || ':*'
      when f = 'level' then f || ':' || (p_group ->> f)
      else f || ':="' || replace(replace(p_group ->> f, '\', '\\'), '"', '\"') || '"'
    end, ' ' order by n
  )
  into v_group
  from unnest(v_query.by_fields) with ordinality b (f, n);
  v_text := v_text || ' | where ' || v_group;
  perform logloom_private.compile_query(v_text);
  return v_text;
exception when sqlstate 'PT400' then
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.recovery_body (
  p_rule     logloom.alert_rules,
  p_incident logloom.alert_incidents
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
begin
  return json_build_object(
    'type', 'alert.resolved',
    'timestamp', to_char(p_incident.resolved_at, v_iso),
    'data', json_build_object(
      'alert_id', null,
      'rule_id', p_rule.rule_id,
      'tenant_id', p_rule.tenant_id,
      'name', p_incident.rule_name,
      'description', p_rule.description,
      'query_dsl', p_incident.query_dsl,
      'value', p_incident.value,
      'peak_value', p_incident.peak_value,
      'group', p_incident."group",
      'comparison', p_incident.comparison,
      'threshold', p_incident.threshold,
      'window_minutes', p_incident.window_minutes,
      'window_start', to_char(
        p_incident.opened_at - make_interval(mins => p_incident.window_minutes), v_iso
      ),
      'window_end', to_char(p_incident.held_until, v_iso),
      'opened_at', to_char(p_incident.opened_at, v_iso),
      'resolved_at', to_char(p_incident.resolved_at, v_iso),
      'resolution', p_incident.resolution,
      'incident_id', p_incident.incident_id,
      'alerts', json_build_array(json_build_object(
        'alert_id', null,
        'group', logloom_private.short_group(p_incident."group"),
        'value', p_incident.value,
        'absent', false
      ))
    )
  )::text;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replace_webhook_secret (
  p_rule_id uuid
)
  RETURNS public.logloom_webhook_secret
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reaches the secrets
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_result public.logloom_webhook_secret;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  insert into logloom_private.webhook_secrets as w (rule_id)
  select r.rule_id
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  on conflict (rule_id) do update
  set previous_secret = w.secret,
    previous_valid_until = now() + (
      select s.webhook_secret_overlap from logloom_private.settings s
    ),
    secret = excluded.secret,
    changed_at = now()
  returning w.rule_id, w.secret, w.previous_valid_until into v_result;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return v_result;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_confirmation (
  p_rule      logloom.alert_rules,
  p_is_repeat boolean
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_address constant text := logloom_private.channel_address(
    'email', p_rule.notification_config, '{}'
  );
  v_mailbox constant text := lower(v_address);
  v_mailed constant text := 'The address is not confirmed: confirm_alert_address takes the code '
    'that is mailed to it';
  v_settings logloom_private.settings;
  v_mails record;
begin
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(p_rule.tenant_id)
  );
  select s.* into v_settings from logloom_private.settings s;
  select
    count(*) as of_tenant, count(*) filter (where m.is_to_address) as to_address,
    max(m.created_at) filter (where m.is_to_address) as last_at,
    bool_or(m.is_to_address and m.status = 'pending') as is_under_way
  into v_mails
  from (
    select n.*, lower(n.address) = v_mailbox as is_to_address
    from logloom_private.notifications n
    where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation'
      and n.created_at > now() - v_settings.confirmation_lifetime
  ) m;
  -- One code for all rules with the address; another one is for who asks for it.
  if v_mails.is_under_way
    or v_mails.last_at > now() - v_settings.confirmation_interval
    or not p_is_repeat and exists (
      select
      from logloom_private.notification_addresses a
      where a.tenant_id = p_rule.tenant_id and a.mailbox = v_mailbox
        and a.code_expires_at > now() and a.tries < v_settings.confirmation_tries
    )
  then
    return v_mailed;
  elsif v_mails.of_tenant >= v_settings.confirmation_codes_per_tenant
    or v_mails.to_address >= v_settings.confirmation_codes_per_address
  then
    return 'The address is not confirmed, and enough codes were mailed for today';
  end if;
  -- The code itself is made when the mail is.
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, 'confirmation', 'email', v_address,
    '{"type": "address.confirmation"}', now() + v_settings.notification_lifetime
  );
  return v_mailed;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_confirmation_of_rule()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes to the outbox
begin
  if not logloom_private.address_is_confirmed(
    new.tenant_id, logloom_private.channel_address('email', new.notification_config, '{}')
  ) then
    perform logloom_private.request_confirmation(new, false);
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_groups (
  p_query_dsl text,
  p_on_absent text
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role calls the compiler's parts
begin
  if p_on_absent = 'fire'
    and cardinality((logloom_private.compile_query(p_query_dsl)).by_fields) = 0
  then
    perform logloom_private.refuse('alerts.absent_needs_groups');
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_room_for_test (
  p_tenant_id text,
  p_kind      text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_limit constant integer := logloom_private.channel_limit(p_kind, p_tenant_id);
  v_room_at timestamptz;
begin
  if v_limit = 0 then
    v_room_at := now() + interval '1 hour';
  else
    select n.created_at + interval '1 hour' into v_room_at
    from logloom_private.notifications n
    where n.tenant_id = p_tenant_id and n.purpose = 'test'
      and logloom_private.channel_kind(n.channel) = p_kind
      and n.created_at > now() - interval '1 hour'
    order by n.created_at desc
    offset v_limit - 1
    limit 1;
  end if;
  if v_room_at is not null then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_room_at - now()))::integer,
      'notifications.no_room_for_test',
      v_limit::text,
      p_kind
    );
  end if;
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

CREATE OR REPLACE FUNCTION logloom_private.scan_alert_group (
  p_group_id bigint,
  p_round    logloom_private.alert_rounds,
  p_now      timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_matches constant text := 'pg_temp.alert_matches';
  v_began timestamptz;
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_rule_ids uuid[];
  v_query_dsl text;
  v_window_minutes integer;
  v_view_id uuid;
  v_query logloom_private.compiled_query;
  v_due logloom_private.alert_window[];
  v_start timestamptz;
  v_end timestamptz;
  v_reading logloom_private.alert_reading;
  v_found logloom_private.alert_window[];
  v_windows logloom_private.alert_window[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  select array_agg(r.rule_id), min(r.query_dsl), min(r.window_minutes), min(r.view_id::text)
  into v_rule_ids, v_query_dsl, v_window_minutes, v_view_id
  from logloom_private.planned_alert_rules r
  where r.group_id = p_group_id;
  v_due := array(select d from logloom_private.due_alert_windows(v_rule_ids, p_round) d);
  for v_start, v_end in
    select distinct d.window_start, d.window_end from unnest(v_due) d order by 2 desc
  loop
    v_began := clock_timestamp();
    v_query := logloom_private.compile_rule(
      v_group.tenant_id, v_query_dsl, v_view_id, v_end
    );
    perform logloom_private.empty_staging_table(v_matches, false);
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_start, v_end, null, v_query.filter,
      'insert into ' || v_matches || ' select f.* from found f',
      v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records
    );
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_reading.records, logloom_private.milliseconds_since(v_began)
      );
      return 0;
    end if;
    v_query.filter := 'true';
    v_found := logloom_private.window_values(
      v_query, 'select m.* from ' || v_matches || ' m', v_group.tenant_id, v_start, v_end,
      v_window_minutes, v_settings.alert_groups + 1
    );
    if cardinality(v_found) > v_settings.alert_groups then
      raise exception
        'The rule found more than % groups: narrow the filter, or group by another field',
        v_settings.alert_groups;
    end if;
    v_windows := v_windows || array(
      select row(d.rule_id, d.window_start, d.window_end, f.value, null, f."group", null)
        ::logloom_private.alert_window
      from unnest(v_due) d
      left join unnest(v_found) f on true
      where d.window_end = v_end
    );
  end loop;
  update logloom_private.alert_groups g
  set failures = 0, retry_at = null, last_error = null
  where g.group_id = p_group_id;
  return logloom_private.settle_alert_windows(v_windows, p_round, p_now);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.send_notifications()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_endpoint logloom_private.notify_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if not exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) and not exists (
    -- Sealed at once, if the function can. If not, it is not asked for ever.
    select from logloom_private.webhook_secrets w
    where (starts_with(w.secret, 'whsec_') or starts_with(w.previous_secret, 'whsec_'))
      and w.changed_at > now() - interval '1 minute'
  ) then
    return;
  end if;
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  if v_pg_net is not null then
    execute 'select ' || v_pg_net::regproc || '(url := $1, body := ''{}'', headers := $2)'
    using v_endpoint.url,
      jsonb_build_object(
        'Content-Type', 'application/json', 'X-Logloom-Notify-Secret', v_endpoint.secret
      );
    return;
  end if;
  perform extensions.http_set_curlopt('CURLOPT_TIMEOUT_MS', '3000');
  select r.status into v_status
  from extensions.http(
    row(
      'POST', v_endpoint.url,
      array[extensions.http_header('X-Logloom-Notify-Secret', v_endpoint.secret)],
      'application/json', '{}'
    )::extensions.http_request
  ) r;
  if v_status <> 202 then
    raise exception 'the function logloom-notify answered %', v_status;
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
    'complete_alert_notification',
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'ingest_text',
    'list_unsealed_alert_secrets',
    'open_log_portal_session',
    'read_logs',
    'run_writer',
    'seal_alert_secret',
    'settle_alert_notification'
  ];
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
    if v_told.error is null and (v_rule.for_minutes > 0 or v_rule.on_absent = 'fire') then
      v_told.holding := logloom_private.lasting_windows(
        v_rule, v_told.window_end, v_told.seen, v_told.holding
      );
    end if;
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

CREATE OR REPLACE FUNCTION logloom_private.short_group (
  p_group jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select jsonb_object_agg(
      g.key, case when length(g.value) > 200 then left(g.value, 199) || '…' else g.value end
    )
    from jsonb_each_text(p_group) g
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

CREATE OR REPLACE FUNCTION logloom_private.silence_of_alert (
  p_tenant_id text,
  p_rule_id   uuid,
  p_group     jsonb,
  p_at        timestamp with time zone
)
  RETURNS uuid
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select s.silence_id
    from logloom.alert_silences s
    where s.tenant_id = p_tenant_id
      and s.starts_at <= p_at
      and s.ends_at > p_at
      and s.expired_at is null
      and (s.rule_id is null or s.rule_id = p_rule_id)
      and (s."group" is null or p_group @> s."group")
    order by s.created_at, s.silence_id
    limit 1
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.telling_windows (
  p_windows logloom_private.alert_window[]
)
  RETURNS TABLE (
    rule_id    uuid,
    window_end timestamp with time zone,
    error      text,
    seen       logloom_private.alert_window[],
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
    coalesce(array_agg(j.found) filter (
      where num_nonnulls(j.value, j."group") > 0
    ), '{}'),
    coalesce(array_agg(j.found order by j."group") filter (where j.holds), '{}')
  from (
    select
      w.rule_id, w.window_end, w.error, w."group", w.value, h.holds, w as found,
      bool_or(h.holds or r.for_minutes > 0 or r.on_absent = 'fire') over (
        partition by w.rule_id
      ) as tells
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id
    cross join lateral logloom_private.alert_condition_holds(
      w.value, r.comparison, r.threshold
    ) h (holds)
  ) j
  where j.tells
    or exists (
      select from logloom.alert_incidents i
      where i.rule_id = j.rule_id and i.resolved_at is null
    )
  group by j.rule_id, j.window_end
  order by j.window_end, j.rule_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.unsealed_secrets (
  p_key_id text,
  p_after  uuid
)
  RETURNS SETOF public.logloom_unsealed_secret
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the secrets
declare
  v_sealed constant text := 'lls1.' || p_key_id || '.';
begin
  return query
  select u.rule_id, u.tenant_id, array_agg(u.secret)
  from (
    select r.rule_id, r.tenant_id, s.secret
    from logloom.alert_rules r
    left join logloom_private.webhook_secrets w on w.rule_id = r.rule_id
    cross join lateral (
      select unnest(array[w.secret, w.previous_secret])
      union all
      select e.value from jsonb_each_text(r.notification_secrets) e
    ) s (secret)
    where (p_after is null or r.rule_id > p_after)
      and s.secret is not null and not starts_with(s.secret, v_sealed)
  ) u
  group by u.rule_id, u.tenant_id
  order by u.rule_id
  limit 100;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.window_values (
  p_query          logloom_private.compiled_query,
  p_source         text,
  p_tenant_id      text,
  p_from           timestamp with time zone,
  p_to             timestamp with time zone,
  p_window_minutes integer,
  p_limit          integer                        DEFAULT NULL::integer
)
  RETURNS logloom_private.alert_window[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_value text := coalesce(p_query.aggregate_sql, 'count(*)::double precision');
  v_join text := 'left join ';
  v_group text := 'null::jsonb';
  v_values logloom_private.alert_window[];
begin
  if p_query.aggregate = 'rate' then
    v_value := v_value || ' / ' || p_window_minutes;
  end if;
  if cardinality(p_query.by_sql) > 0 then
    v_join := 'join ';
    select 'jsonb_object($6, array[' || string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ')
      || ']::text[])'
    into v_group
    from unnest(p_query.by_sql) b;
  elsif p_from + v_window = p_to then
    -- One window needs no sorting.
    execute 'select array[row(null, $2, $3, ' || v_value
      || ', null, null, null)::logloom_private.alert_window] from (' || p_source || ') l where ('
      || p_query.filter || ')'
    into v_values
    using p_tenant_id, p_from, p_to;
    return v_values;
  end if;
  execute 'select array_agg(row(null, v.starts, v.starts + $4, v.value, null, v."group", null)'
    || '::logloom_private.alert_window) from (select w.starts, ' || v_value || ' as value, '
    || v_group || ' as "group" from generate_series($2, $3 - $4, $4) w (starts) ' || v_join
    || '(select l.*, date_bin($4, l.ts, $2) as starts from (' || p_source || ') l where ('
    || p_query.filter || ')) l on l.starts = w.starts group by '
    || array_to_string(array['w.starts'] || p_query.by_sql, ', ') || ' limit $5) v'
  into v_values
  using p_tenant_id, p_from, p_to, v_window, p_limit, p_query.by_fields;
  return coalesce(v_values, '{}');
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

CREATE OR REPLACE FUNCTION public.complete_alert_notification (
  p_notification_id uuid DEFAULT NULL::uuid,
  p_claim_id        uuid DEFAULT NULL::uuid
)
  RETURNS text
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '5s'
  AS $function$
begin
  perform logloom_private.require_parameter('p_notification_id', p_notification_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  return logloom_private.complete_notification(p_notification_id, p_claim_id);
end;
$function$;

CREATE OR REPLACE FUNCTION public.create_alert_rule (
  p_tenant_id                 text             DEFAULT NULL::text,
  p_name                      text             DEFAULT NULL::text,
  p_description               text             DEFAULT NULL::text,
  p_query_dsl                 text             DEFAULT NULL::text,
  p_threshold                 double precision DEFAULT NULL::double precision,
  p_comparison                text             DEFAULT NULL::text,
  p_window_minutes            integer          DEFAULT NULL::integer,
  p_cooldown_minutes          integer          DEFAULT NULL::integer,
  p_enabled                   boolean          DEFAULT NULL::boolean,
  p_notification_destinations text[]           DEFAULT NULL::text[],
  p_notification_config       jsonb            DEFAULT NULL::jsonb,
  p_view_id                   uuid             DEFAULT NULL::uuid,
  p_notify_on_recovery        boolean          DEFAULT NULL::boolean,
  p_for_minutes               integer          DEFAULT NULL::integer,
  p_on_absent                 text             DEFAULT NULL::text,
  p_group_wait_seconds        integer          DEFAULT NULL::integer,
  p_secrets                   jsonb            DEFAULT NULL::jsonb,
  p_saved_search_id           uuid             DEFAULT NULL::uuid
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_search logloom.saved_searches;
  v_constraint text;
  v_row logloom.alert_rules;
begin
  if p_saved_search_id is not null then
    select s.* into v_search
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.id = p_saved_search_id;
    if not found then
      perform logloom_private.refuse('saved_searches.not_found');
    end if;
  end if;
  v_search.name := coalesce(p_name, v_search.name);
  v_search.query_dsl := coalesce(p_query_dsl, v_search.query_dsl);
  perform logloom_private.require_parameter('p_name', v_search.name is null);
  perform logloom_private.require_parameter('p_query_dsl', v_search.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', p_threshold is null);
  perform logloom_private.require_parameter('p_comparison', p_comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', p_window_minutes is null);
  perform logloom_private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  perform logloom_private.require_parameter('p_enabled', p_enabled is null);
  perform logloom_private.check_query(v_search.query_dsl, true);
  perform logloom_private.require_groups(v_search.query_dsl, p_on_absent);
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_rule_in_view(v_tenant_id, v_search.query_dsl, p_view_id);
  perform logloom_private.require_room_for('alerts', p_tenant_id);
  insert into logloom.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by, view_id,
    notify_on_recovery, for_minutes, on_absent, group_wait_seconds, notification_secrets
  )
  values (
    v_tenant_id, logloom_private.trim_space(v_search.name),
    nullif(logloom_private.trim_space(p_description), ''),
    v_search.query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes, p_enabled,
    logloom_private.distinct_destinations(p_notification_destinations),
    coalesce(nullif(p_notification_config, 'null'), '{}'), logloom_private.current_user_id(),
    p_view_id, coalesce(p_notify_on_recovery, false), coalesce(p_for_minutes, 0),
    coalesce(p_on_absent, 'ignore'), coalesce(p_group_wait_seconds, 0),
    logloom_private.changed_rule_secrets('{}', p_secrets)
  )
  returning r.* into v_row;
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

REVOKE ALL
  ON FUNCTION
    "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, uuid)
  FROM PUBLIC, "anon";

CREATE OR REPLACE FUNCTION public.create_alert_silence (
  p_matcher   jsonb DEFAULT NULL::jsonb,
  p_from      text  DEFAULT NULL::text,
  p_to        text  DEFAULT NULL::text,
  p_comment   text  DEFAULT NULL::text,
  p_tenant_id text  DEFAULT NULL::text
)
  RETURNS public.logloom_alert_silence
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.make_alert_silence(p_tenant_id, p_matcher, p_from, p_to, p_comment);
end;
$function$;

CREATE OR REPLACE FUNCTION public.expire_alert_silence (
  p_silence_id uuid DEFAULT NULL::uuid,
  p_tenant_id  text DEFAULT NULL::text
)
  RETURNS public.logloom_alert_silence
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return logloom_private.end_alert_silence(p_tenant_id, p_silence_id);
end;
$function$;

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

CREATE OR REPLACE FUNCTION public.list_alert_silences (
  p_tenant_id text    DEFAULT NULL::text,
  p_limit     integer DEFAULT NULL::integer,
  p_after     uuid    DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_alert_silence
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_list_bytes constant integer := logloom_private.list_bytes();
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'silence', 'silence_id',
    (
      select s.created_at from logloom.alert_silences s
      where s.tenant_id = v_tenant_id and s.silence_id = p_after
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      logloom_private.alert_silence_of(s) as item,
      sum(octet_length(s."group"::text) + octet_length(coalesce(s.comment, ''))) over (
        order by s.created_at desc, s.silence_id desc
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select l.*
      from logloom.alert_silences l
      where l.tenant_id = v_tenant_id
        and (p_after is null or (l.created_at, l.silence_id) < (v_after, p_after))
      order by l.created_at desc, l.silence_id desc
      limit v_limit
    ) s
    order by s.created_at desc, s.silence_id desc
  ) p
  where coalesce(p.bytes_before, 0) < v_list_bytes;
end;
$function$;

CREATE OR REPLACE FUNCTION public.list_unsealed_alert_secrets (
  p_key_id text DEFAULT NULL::text,
  p_after  uuid DEFAULT NULL::uuid
)
  RETURNS SETOF public.logloom_unsealed_secret
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  return query select u.* from logloom_private.unsealed_secrets(p_key_id, p_after) u;
end;
$function$;

CREATE OR REPLACE FUNCTION public.preview_alert_rule (
  p_tenant_id        text             DEFAULT NULL::text,
  p_rule_id          uuid             DEFAULT NULL::uuid,
  p_query_dsl        text             DEFAULT NULL::text,
  p_threshold        double precision DEFAULT NULL::double precision,
  p_comparison       text             DEFAULT NULL::text,
  p_window_minutes   integer          DEFAULT NULL::integer,
  p_cooldown_minutes integer          DEFAULT NULL::integer,
  p_view_id          uuid             DEFAULT NULL::uuid,
  p_for_minutes      integer          DEFAULT NULL::integer
)
  RETURNS public.logloom_alert_preview
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_rule logloom.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform logloom_private.refuse('alerts.rule_not_found');
    end if;
  end if;
  v_rule.view_id := coalesce(p_view_id, v_rule.view_id);
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.threshold := coalesce(p_threshold, v_rule.threshold);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  v_rule.for_minutes := coalesce(p_for_minutes, v_rule.for_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', v_rule.threshold is null);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif v_rule.window_minutes not between 1 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif v_rule.cooldown_minutes not between 0 and 10080 then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  elsif v_rule.for_minutes not between 0 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_for_minutes_are_valid');
  end if;
  return logloom_private.preview_windows(p_tenant_id, v_rule);
exception
when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
when connection_exception or admin_shutdown or internal_error then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return public.preview_alert_rule(
    p_tenant_id, p_rule_id, p_query_dsl, p_threshold, p_comparison, p_window_minutes,
    p_cooldown_minutes, p_view_id, p_for_minutes
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.seal_alert_secret (
  p_rule_id uuid DEFAULT NULL::uuid,
  p_digest  text DEFAULT NULL::text,
  p_sealed  text DEFAULT NULL::text
)
  RETURNS public.logloom_success
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  perform logloom_private.require_parameter('p_digest', p_digest is null);
  perform logloom_private.require_parameter('p_sealed', p_sealed is null);
  if p_sealed !~ '^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}$' then
    perform logloom_private.refuse('parameters.secret_is_not_sealed', 'p_sealed');
  end if;
  perform logloom_private.put_sealed(p_rule_id, p_digest, p_sealed);
  return row(true)::public.logloom_success;
end;
$function$;

CREATE OR REPLACE FUNCTION public.update_alert_rule (
  p_rule_id                   uuid             DEFAULT NULL::uuid,
  p_name                      text             DEFAULT NULL::text,
  p_description               text             DEFAULT NULL::text,
  p_query_dsl                 text             DEFAULT NULL::text,
  p_threshold                 double precision DEFAULT NULL::double precision,
  p_comparison                text             DEFAULT NULL::text,
  p_window_minutes            integer          DEFAULT NULL::integer,
  p_cooldown_minutes          integer          DEFAULT NULL::integer,
  p_enabled                   boolean          DEFAULT NULL::boolean,
  p_notification_destinations text[]           DEFAULT NULL::text[],
  p_notification_config       jsonb            DEFAULT NULL::jsonb,
  p_view_id                   uuid             DEFAULT NULL::uuid,
  p_notify_on_recovery        boolean          DEFAULT NULL::boolean,
  p_for_minutes               integer          DEFAULT NULL::integer,
  p_on_absent                 text             DEFAULT NULL::text,
  p_group_wait_seconds        integer          DEFAULT NULL::integer,
  p_secrets                   jsonb            DEFAULT NULL::jsonb
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl, true);
  end if;
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  -- An empty description takes it away; notification_config is replaced as a whole.
  update logloom.alert_rules r
  set
    name = coalesce(logloom_private.trim_space(p_name), r.name),
    description = nullif(coalesce(logloom_private.trim_space(p_description), r.description), ''),
    query_dsl = coalesce(p_query_dsl, r.query_dsl),
    threshold = coalesce(p_threshold, r.threshold),
    comparison = coalesce(p_comparison, r.comparison),
    window_minutes = coalesce(p_window_minutes, r.window_minutes),
    cooldown_minutes = coalesce(p_cooldown_minutes, r.cooldown_minutes),
    enabled = coalesce(p_enabled, r.enabled),
    notification_destinations = case
      when p_notification_destinations is null then r.notification_destinations
      else logloom_private.distinct_destinations(p_notification_destinations)
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    view_id = coalesce(p_view_id, r.view_id),
    notify_on_recovery = coalesce(p_notify_on_recovery, r.notify_on_recovery),
    for_minutes = coalesce(p_for_minutes, r.for_minutes),
    on_absent = coalesce(p_on_absent, r.on_absent),
    group_wait_seconds = coalesce(p_group_wait_seconds, r.group_wait_seconds),
    notification_secrets = logloom_private.changed_rule_secrets(
      r.notification_secrets, p_secrets
    ),
    updated_at = now(),
    asked_at = case
      when (r.query_dsl, r.threshold, r.comparison, r.window_minutes) = (
          coalesce(p_query_dsl, r.query_dsl), coalesce(p_threshold, r.threshold),
          coalesce(p_comparison, r.comparison), coalesce(p_window_minutes, r.window_minutes)
        )
        and r.view_id is not distinct from coalesce(p_view_id, r.view_id)
        and r.enabled >= coalesce(p_enabled, r.enabled)
        then r.asked_at
      else now()
    end
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  perform logloom_private.require_groups(v_row.query_dsl, v_row.on_absent);
  perform logloom_private.require_rule_in_view(v_tenant_id, v_row.query_dsl, v_row.view_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  ALTER TABLE "logloom"."alert_history"
    ADD CONSTRAINT "alert_history_incident_id_fkey" FOREIGN KEY (incident_id) REFERENCES logloom.alert_incidents(incident_id) ON DELETE SET NULL;
  ALTER TABLE "logloom"."alert_incidents"
    ADD CONSTRAINT "alert_incidents_tenant_id_fkey" FOREIGN KEY (tenant_id) REFERENCES logloom.tenants(tenant_id) ON DELETE CASCADE;
  ALTER TABLE "logloom"."alert_rules"
    ADD CONSTRAINT "alert_rules_destinations_are_known"
      CHECK (((notification_destinations <@ '{email,webhook,slack,discord,teams,pagerduty}'::text[]) AND (cardinality(notification_destinations) <= 6)));
  ALTER TABLE "logloom"."alert_rules"
    ADD CONSTRAINT "alert_rules_destinations_have_addresses" CHECK (((NOT enabled) OR ((((notification_config ->> 'email'::text) IS
      NOT NULL) OR (NOT ('email'::text = ANY (notification_destinations)))) AND (((notification_config ->> 'webhook_url'::text) IS
      NOT NULL) OR (NOT ('webhook'::text = ANY (notification_destinations)))) AND
      ((notification_secrets ? 'slack_url'::text) OR (NOT ('slack'::text = ANY (notification_destinations)))) AND
      ((notification_secrets ? 'discord_url'::text) OR (NOT ('discord'::text = ANY (notification_destinations)))) AND
      ((notification_secrets ? 'teams_url'::text) OR (NOT ('teams'::text = ANY (notification_destinations)))) AND
      ((notification_secrets ? 'pagerduty_key'::text) OR (NOT ('pagerduty'::text = ANY (notification_destinations)))))));
  ALTER TABLE "logloom"."alert_rules"
    ADD CONSTRAINT "alert_rules_for_minutes_are_valid" CHECK (((for_minutes >= 0) AND (for_minutes <= 1440)));
  ALTER TABLE "logloom"."alert_rules"
    ADD CONSTRAINT "alert_rules_group_wait_is_valid" CHECK (((group_wait_seconds >= 0) AND (group_wait_seconds <= 3600)));
  ALTER TABLE "logloom"."alert_rules"
    ADD CONSTRAINT "alert_rules_on_absent_is_known" CHECK ((on_absent = ANY (ARRAY['ignore'::text, 'fire'::text])));
  ALTER TABLE "logloom"."alert_rules"
    ADD CONSTRAINT "alert_rules_webhook_template_is_valid"
      CHECK
      (((NOT (notification_config ?| '{webhook_template,webhook_template_type}'::text[])) OR (((jsonb_typeof((notification_config -> 'webhook_template'::text)) = 'string'::text) AND
      ((length((notification_config ->> 'webhook_template'::text)) >= 1) AND (length((notification_config ->> 'webhook_template'::text)) <= 4000)) AND
      (COALESCE((notification_config ->> 'webhook_template_type'::text), 'json'::text) = ANY (ARRAY['json'::text, 'text'::text]))) IS TRUE)));
  ALTER TABLE "logloom"."alert_silences"
    ADD CONSTRAINT "alert_silences_tenant_id_fkey" FOREIGN KEY (tenant_id) REFERENCES logloom.tenants(tenant_id) ON DELETE CASCADE;
  ALTER TABLE "logloom"."audit_events"
    ADD CONSTRAINT "audit_events_action_is_known"
      CHECK
      ((action = ANY (ARRAY['api_key.created'::text, 'api_key.changed'::text, 'api_key.revoked'::text, 'api_key.deleted'::text, 'alert_silence.created'::text,
      'alert_silence.expired'::text,
      'ingest_token.created'::text,
      'portal_session.created'::text,
      'portal_session.first_used'::text,
      'portal_session.revoked'::text,
      'member.added'::text,
      'member.changed'::text,
      'member.removed'::text,
      'settings.changed'::text,
      'plan.changed'::text, 'view.created'::text, 'view.changed'::text, 'view.deleted'::text, 'logs.deletion_requested'::text, 'logs.deletion_finished'::text])));
  ALTER TABLE "logloom"."plans"
    ADD CONSTRAINT "plans_max_alert_silences_is_not_negative" CHECK ((max_alert_silences >= 0));
  ALTER TABLE "logloom_private"."alert_states"
    ADD CONSTRAINT "alert_states_rule_id_fkey" FOREIGN KEY (rule_id) REFERENCES logloom.alert_rules(rule_id) ON DELETE CASCADE;
  ALTER TABLE "logloom_private"."notifications"
    ADD CONSTRAINT "notifications_channel_is_known" CHECK ((channel = ANY (ARRAY['email'::text, 'webhook'::text, 'slack'::text, 'discord'::text, 'teams'::text, 'pagerduty'::text])));
  ALTER TABLE "logloom_private"."notifications"
    ADD CONSTRAINT "notifications_incident_id_fkey" FOREIGN KEY (incident_id) REFERENCES logloom.alert_incidents(incident_id) ON DELETE SET NULL;
  ALTER TABLE "logloom_private"."notifications"
    ADD CONSTRAINT "notifications_purpose_is_known" CHECK ((purpose = ANY (ARRAY['alert'::text, 'recovery'::text, 'test'::text, 'confirmation'::text])));
  ALTER TABLE "logloom_private"."notified_alerts"
    ADD CONSTRAINT "notified_alerts_alert_id_fkey" FOREIGN KEY (alert_id) REFERENCES logloom.alert_history(alert_id) ON DELETE CASCADE;
  ALTER TABLE "logloom_private"."notified_alerts"
    ADD CONSTRAINT "notified_alerts_notification_id_fkey" FOREIGN KEY (notification_id) REFERENCES logloom_private.notifications(notification_id) ON DELETE CASCADE;
  ALTER TABLE "logloom_private"."settings"
    ADD CONSTRAINT "settings_alert_absent_windows_are_positive" CHECK ((alert_absent_windows >= 1));
  ALTER TABLE "logloom_private"."settings"
    ADD CONSTRAINT "settings_console_url_is_an_address" CHECK (((console_url ~ '^https?://[^\s#]+$'::text) AND (length(console_url) <= 500)));
  CREATE INDEX alert_history_incident_id_triggered_at_idx ON logloom.alert_history USING btree (incident_id, triggered_at DESC, alert_id DESC);
  CREATE INDEX alert_incidents_resolved_at_idx ON logloom.alert_incidents USING brin (resolved_at);
  CREATE UNIQUE INDEX alert_incidents_rule_id_open_idx ON logloom.alert_incidents USING btree (rule_id, COALESCE(md5(("group")::text), ''::text))
    WHERE (resolved_at IS NULL);
  CREATE INDEX alert_incidents_rule_id_opened_at_idx ON logloom.alert_incidents USING btree (rule_id, opened_at DESC, incident_id DESC);
  CREATE INDEX alert_incidents_tenant_id_open_idx ON logloom.alert_incidents USING btree (tenant_id, opened_at DESC, incident_id DESC)
    WHERE (resolved_at IS NULL);
  CREATE INDEX alert_incidents_tenant_id_opened_at_idx ON logloom.alert_incidents USING btree (tenant_id, opened_at DESC, incident_id DESC);
  CREATE INDEX alert_silences_ends_at_idx ON logloom.alert_silences USING btree (ends_at);
  CREATE INDEX alert_silences_tenant_id_created_at_idx ON logloom.alert_silences USING btree (tenant_id, created_at DESC, silence_id DESC);
  CREATE INDEX notifications_incident_id_idx ON logloom_private.notifications USING btree (incident_id, created_at DESC, notification_id DESC);
  CREATE INDEX notifications_rule_id_channel_idx ON logloom_private.notifications USING btree (rule_id, channel, "position")
    WHERE (status = 'pending'::text);
  CREATE INDEX notified_alerts_alert_id_idx ON logloom_private.notified_alerts USING btree (alert_id);
  CREATE INDEX webhook_secrets_unsealed_idx ON logloom_private.webhook_secrets USING btree (changed_at)
    WHERE (starts_with(secret, 'whsec_'::text) OR starts_with(previous_secret, 'whsec_'::text));
  CREATE TRIGGER alert_history_enqueues_notifications
    AFTER INSERT ON logloom.alert_history
    FOR EACH ROW
    WHEN (((new.notification_sent_at IS NULL) AND (new.silence_id IS NULL)))
    EXECUTE FUNCTION logloom_private.enqueue_alert_notifications();
  CREATE TRIGGER alert_incidents_enqueue_recovery
    AFTER UPDATE OF resolved_at ON logloom.alert_incidents
    FOR EACH ROW
    WHEN (((old.resolved_at IS NULL) AND (new.resolved_at IS NOT NULL)))
    EXECUTE FUNCTION logloom_private.enqueue_recovery();
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
  CREATE POLICY "alert_silences_select_tenant" ON "logloom"."alert_silences"
    FOR SELECT
    TO "authenticated"
    USING ((tenant_id = ( SELECT logloom_private.current_tenant_id() AS current_tenant_id)));
  COMMENT ON COLUMN "logloom"."alert_history"."absent" IS 'It fired since its group, which had sent before, sent nothing.';
  COMMENT ON COLUMN "logloom"."alert_history"."incident_id" IS 'The incident that it is part of.';
  COMMENT ON COLUMN "logloom"."alert_history"."silence_id" IS 'The silence that kept it from being sent.';
  COMMENT ON COLUMN "logloom"."alert_incidents"."acknowledged_by" IS 'The claim sub of who acknowledged it first.';
  COMMENT ON COLUMN "logloom"."alert_incidents"."held_until" IS 'The end of the last window in which the condition held.';
  COMMENT ON COLUMN "logloom"."alert_incidents"."peak_value" IS 'Of such a window, the value that is farthest from the threshold.';
  COMMENT ON COLUMN "logloom"."alert_incidents"."quiet_from" IS 'The end of the window in which it held no longer.';
  COMMENT ON COLUMN "logloom"."alert_incidents"."rule_name" IS 'This and what follows is of the rule when the incident opened. query_dsl and comparison are null of rules that were deleted before there were incidents.';
  COMMENT ON COLUMN "logloom"."alert_incidents"."value" IS 'Of the last window in which the condition held.';
  COMMENT ON COLUMN "logloom"."alert_rules"."for_minutes" IS 'How long the condition holds before the rule fires.';
  COMMENT ON COLUMN "logloom"."alert_rules"."group_wait_seconds" IS 'So long notifications of several groups are collected into one.';
  COMMENT ON COLUMN "logloom"."alert_rules"."notification_config" IS 'Free-form. email and webhook_url are the addresses of the destinations of these names, webhook_template and webhook_template_type (json or text) say what a webhook sends.';
  COMMENT ON COLUMN "logloom"."alert_rules"."notification_secrets" IS 'Sealed texts by name: slack_url, discord_url, teams_url, pagerduty_key.';
  COMMENT ON COLUMN "logloom"."alert_rules"."on_absent" IS 'fire: a group of a rule with by that had records a while ago and has none now fires.';
  COMMENT ON COLUMN "logloom"."plans"."max_alert_silences" IS 'Silences of alerts that a tenant may have at once, scheduled ones included.';
  COMMENT ON COLUMN "logloom"."plans"."webhooks_per_hour" IS 'The same for webhooks, chats and pagers: all that goes by HTTP.';
  COMMENT ON COLUMN "logloom_private"."notifications"."address" IS 'Of channels that are reached by a secret, sealed: only the function logloom-notify opens it.';
  COMMENT ON COLUMN "logloom_private"."notifications"."is_complete" IS 'The body has the link and the newest records.';
  COMMENT ON COLUMN "logloom_private"."settings"."alert_absent_windows" IS 'A group of a rule with on_absent that sent in so many windows before is missed.';
  COMMENT ON COLUMN "logloom_private"."settings"."console_url" IS 'Of the console''s page, for links in messages. Null: messages have none.';
  COMMENT ON FUNCTION "public"."acknowledge_alert"(uuid) IS 'Records that the caller answers an alert, and with the last of an incident''s alerts the incident. Again: no change. Errors: PT400, PT401, PT404.';
  COMMENT ON FUNCTION "public"."acknowledge_alert_incidents"(uuid[]) IS 'Records that the caller answers incidents, 1 to 1000, with all their alerts. Those that nobody had acknowledged before are counted; ids that the tenant does not have are passed over, unless it has none of them. Errors: PT400, PT401, PT404.';
  COMMENT ON FUNCTION "public"."complete_alert_notification"(uuid, uuid) IS 'What the edge function logloom-notify calls before the first attempt: the body of a claimed notification with the link to the console and the newest records. Null without the claim. Errors: PT400.';
  COMMENT ON FUNCTION
    "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, uuid) IS
    'Creates an alert rule and returns it. p_comparison: gt, gte, lt, lte, eq or neq. p_window_minutes 1 to 1440, p_cooldown_minutes 0 to 10080. p_notification_destinations: email, webhook, whose addresses are in p_notification_config (email, webhook_url); slack, discord, teams, pagerduty, whose sealed addresses are in p_secrets (slack_url, discord_url, teams_url, pagerduty_key). p_view_id, for admins: the view that it is evaluated in. p_saved_search_id: where name and query come from unless given. p_for_minutes 0 to 1440, p_on_absent ignore or fire, p_group_wait_seconds 0 to 3600. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';
  COMMENT ON FUNCTION "public"."create_alert_silence"(jsonb, text, text, text, text) IS 'From p_from (now) to p_to nothing is sent of alerts that p_matcher matches: {"rule_id": …}, {"group": {field: text}}, both, or {} for all. They are evaluated and kept all the same. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';
  COMMENT ON FUNCTION "public"."expire_alert_silence"(uuid, text) IS 'Ends a silence now and returns it; one that is over stays as it was. Errors: PT400, PT401, PT403, PT404.';
  COMMENT ON FUNCTION "public"."get_alert_incident"(uuid) IS 'An incident with its newest 100 alerts and 100 deliveries. Errors: PT400, PT401, PT404.';
  COMMENT ON FUNCTION "public"."get_log_secret_scope"(text) IS 'Whose secrets the caller may seal: {tenant_id}. The edge functions ask it before they seal one for that tenant. For admins. Errors: PT400, PT401, PT403.';
  COMMENT ON FUNCTION "public"."list_alert_incidents"(text, uuid, text, integer, uuid) IS 'Incidents of the tenant, newest first: of one rule, and open, acknowledged or resolved, where given. p_limit 1 to 1000 (default 100), p_after: incident_id of the last item of the page before. With long groups a page may have fewer; the one after the last has none. Errors: PT400, PT401, PT403.';
  COMMENT ON FUNCTION "public"."list_alert_silences"(text, integer, uuid) IS 'Silences of the tenant, newest first; those that are over, too, for 30 days. p_limit 1 to 1000 (default 100), p_after: silence_id of the last item of the page before. Errors: PT400, PT401, PT403.';
  COMMENT ON FUNCTION "public"."list_unsealed_alert_secrets"(text, uuid) IS 'What the edge function logloom-notify asks for: secrets of alert rules that its key p_key_id did not seal, of 100 rules after p_after. Errors: PT400.';
  COMMENT ON FUNCTION "public"."preview_alert_rule"(text, uuid, text, double precision, text, integer, integer, uuid, integer) IS 'When a rule would have fired over the last 24 h, and the values that it would have seen: the rule p_rule_id, with what else is given in place of its own. Percentiles, distinct counts and queries with by are looked at in windows side by side; of the latter each group fires apart. Errors: PT400, PT401, PT403, PT404, PT408.';
  COMMENT ON FUNCTION "public"."seal_alert_secret"(uuid, text, text) IS 'What the edge function logloom-notify calls: p_sealed takes the place of the secret of a rule whose SHA-256 as hex is p_digest. Errors: PT400.';
  COMMENT ON FUNCTION
    "public"."update_alert_rule"(uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb) IS
    'Changes what is given and returns the alert rule. An empty p_description takes it away, p_notification_config is replaced as a whole; of p_secrets each member replaces its own, null takes it away. p_view_id, for admins: the view that it is evaluated in. Errors: PT400, PT401, PT403, PT404.';
  COMMENT ON TABLE "logloom"."alert_incidents" IS 'A rule, and of a rule with by one of its groups, whose condition holds since it fired: from the first alert until a window in which it holds no longer.';
  COMMENT ON TABLE "logloom"."alert_silences" IS 'For a time nothing is sent of alerts that match: of a rule, of groups with these members, or of all. Rules are evaluated, and the history says which silence it was.';
  COMMENT ON TABLE "logloom_private"."alert_states" IS 'Since when the condition of a rule with for_minutes holds, and when groups of a rule with on_absent had records.';
  COMMENT ON TABLE "logloom_private"."notification_usage" IS 'Attempts to deliver, by tenant, kind of channel (email, webhook) and hour of the clock: what the plan limits.';
  COMMENT ON TABLE "logloom_private"."notifications" IS 'The outbox: one row for an alert and a destination, for its recovery, or for a test or a code that confirms an address; the last three have no alert.';
  COMMENT ON TABLE "logloom_private"."notified_alerts" IS 'Further alerts of a notification that collected those of several groups.';
  COMMENT ON TYPE "public"."logloom_alert_acknowledgement" IS 'acknowledged: how many incidents nobody had acknowledged before.';
  COMMENT ON TYPE "public"."logloom_alert_delivery" IS 'A notification on its way: status is pending, delivered or failed, purpose alert, recovery, test or confirmation, which is the mail with a code. alert_id is null for all but the first. While it is pending it is tried at next_attempt_at, and no more after gives_up_at.';
  COMMENT ON TYPE "public"."logloom_alert_history_entry" IS 'An alert: the value that a rule saw, and whether it was acknowledged and delivered. resolved_at: when its incident ended; null while that is open. silence_id: of the silence that kept it from being sent. absent: it fired since its group sent nothing.';
  COMMENT ON TYPE "public"."logloom_alert_incident" IS 'A rule, and of a rule with by one of its groups, whose condition holds since opened_at. state: open, acknowledged or resolved. resolution: recovered, rule_changed, rule_disabled or rule_deleted; null before. value is that of the last window in which the condition held, peak_value the one farthest from the threshold.';
  COMMENT ON TYPE "public"."logloom_alert_incident_details" IS 'An incident with its newest alerts and deliveries, at most 100 of each.';
  COMMENT ON TYPE "public"."logloom_alert_rule" IS 'An alert rule. Windows and cooldowns are in minutes. view_id: the view that it is evaluated in; null: all records. notification_secrets: which are set, {"slack_url": {"set": true}}.';
  COMMENT ON TYPE "public"."logloom_alert_silence" IS 'For a time nothing is sent of alerts that match. matcher: {rule_id, group}, either or none. state: scheduled, active or expired.';
  COMMENT ON TYPE "public"."logloom_claimed_notification" IS 'A notification to deliver now, and the secrets to sign it with, sealed or not yet. One that is not complete is completed by complete_alert_notification.';
  COMMENT ON TYPE "public"."logloom_log_secret_scope" IS 'For which tenant the edge functions may seal secrets of the caller.';
  COMMENT ON TYPE "public"."logloom_unsealed_secret" IS 'Secrets of a rule that the function''s present key did not seal.';
  GRANT EXECUTE
    ON FUNCTION
      "public"."create_alert_rule"(text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid, boolean, integer, text, integer, jsonb, uuid)
    TO "authenticated", "service_role";
  GRANT UPDATE ("acknowledged_at") ON TABLE "logloom"."alert_incidents" TO "authenticated";
  GRANT UPDATE ("acknowledged_by") ON TABLE "logloom"."alert_incidents" TO "authenticated";
  GRANT SELECT ON TABLE "logloom"."alert_incidents" TO "authenticated";
  GRANT UPDATE ("acknowledged_at") ON TABLE "logloom"."alert_incidents" TO "service_role";
  GRANT UPDATE ("acknowledged_by") ON TABLE "logloom"."alert_incidents" TO "service_role";
  GRANT SELECT ON TABLE "logloom"."alert_incidents" TO "service_role";
  REVOKE ALL ("for_minutes") ON TABLE "logloom"."alert_rules" FROM "authenticated";
  GRANT INSERT ("for_minutes"), UPDATE ("for_minutes") ON TABLE "logloom"."alert_rules" TO "authenticated";
  REVOKE ALL ("group_wait_seconds") ON TABLE "logloom"."alert_rules" FROM "authenticated";
  GRANT INSERT ("group_wait_seconds"), UPDATE ("group_wait_seconds") ON TABLE "logloom"."alert_rules" TO "authenticated";
  REVOKE ALL ("notification_secrets") ON TABLE "logloom"."alert_rules" FROM "authenticated";
  GRANT INSERT ("notification_secrets"), UPDATE ("notification_secrets") ON TABLE "logloom"."alert_rules" TO "authenticated";
  REVOKE ALL ("notify_on_recovery") ON TABLE "logloom"."alert_rules" FROM "authenticated";
  GRANT INSERT ("notify_on_recovery"), UPDATE ("notify_on_recovery") ON TABLE "logloom"."alert_rules" TO "authenticated";
  REVOKE ALL ("on_absent") ON TABLE "logloom"."alert_rules" FROM "authenticated";
  GRANT INSERT ("on_absent"), UPDATE ("on_absent") ON TABLE "logloom"."alert_rules" TO "authenticated";
  REVOKE ALL ("for_minutes") ON TABLE "logloom"."alert_rules" FROM "service_role";
  GRANT INSERT ("for_minutes"), UPDATE ("for_minutes") ON TABLE "logloom"."alert_rules" TO "service_role";
  REVOKE ALL ("group_wait_seconds") ON TABLE "logloom"."alert_rules" FROM "service_role";
  GRANT INSERT ("group_wait_seconds"), UPDATE ("group_wait_seconds") ON TABLE "logloom"."alert_rules" TO "service_role";
  REVOKE ALL ("notification_secrets") ON TABLE "logloom"."alert_rules" FROM "service_role";
  GRANT INSERT ("notification_secrets"), UPDATE ("notification_secrets") ON TABLE "logloom"."alert_rules" TO "service_role";
  REVOKE ALL ("notify_on_recovery") ON TABLE "logloom"."alert_rules" FROM "service_role";
  GRANT INSERT ("notify_on_recovery"), UPDATE ("notify_on_recovery") ON TABLE "logloom"."alert_rules" TO "service_role";
  REVOKE ALL ("on_absent") ON TABLE "logloom"."alert_rules" FROM "service_role";
  GRANT INSERT ("on_absent"), UPDATE ("on_absent") ON TABLE "logloom"."alert_rules" TO "service_role";
  GRANT SELECT ON TABLE "logloom"."alert_silences" TO "authenticated", "service_role";
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

create function logloom_private.unsealed_secret_count()
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select count(*)
    from logloom_private.webhook_secrets w
    where starts_with(w.secret, 'whsec_') or starts_with(w.previous_secret, 'whsec_')
  );
end;
$$;

create or replace function logloom_private.read_health()
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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
  v_grades constant text[] := array(
    select c.value ->> 'status'
    from jsonb_each((v_checks - 'jobs') || (v_checks -> 'jobs')) c
  );
  v_status constant text := case
    when 'unhealthy' = any (v_grades) then 'unhealthy'
    when 'degraded' = any (v_grades) then 'degraded'
    else 'healthy'
  end;
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
        'available', v_status = 'healthy',
        'status', v_status,
        'checks', coalesce(logloom_private.unhealthy_checks(v_checks - 'jobs'), '{}')
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
$$;

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

update logloom_private.notifications n
set incident_id = h.incident_id
from logloom.alert_history h
where h.alert_id = n.alert_id;

update logloom.plans set max_alert_silences = 10 where plan_id = 'free';

update logloom.plans set max_alert_silences = 100 where plan_id = 'pro';

select logloom_private.finish_migration();
