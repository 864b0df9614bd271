-- Everything since the last release. npm run migration writes this file: change supabase/schemas,
-- supabase/unreleased/before.sql or supabase/unreleased/after.sql instead.

set local search_path = pg_catalog, pg_temp;

SET local check_function_bodies = off;

ALTER TABLE "logloom"."alert_incidents"
  DROP CONSTRAINT "alert_incidents_resolution_is_known";

ALTER TABLE "logloom"."alert_incidents"
  DROP CONSTRAINT "alert_incidents_resolution_is_whole";

DROP FUNCTION "logloom_private"."alert_needs"(logloom_private.alert_rounds);

DROP FUNCTION "logloom_private"."end_answered_batch"(logloom.log_streams, integer, integer, text);

DROP FUNCTION "logloom_private"."fail_stream"(logloom.log_streams, integer, text, integer);

DROP FUNCTION "logloom_private"."pending_alert_groups"(logloom_private.alert_rounds);

DROP FUNCTION "logloom_private"."resolve_incidents"(uuid, timestamp WITH time zone, jsonb[], timestamp WITH time zone);

DROP FUNCTION "logloom_private"."settle_delivered"(logloom.log_streams, integer, jsonb, integer);

DROP FUNCTION "logloom_private"."settle_refused"(logloom.log_streams, integer, text, jsonb);

DROP FUNCTION "logloom_private"."settle_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean);

DROP FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean);

ALTER TABLE "logloom"."alert_incidents"
  ADD COLUMN "end_told_at" timestamp WITH time zone;

ALTER TABLE "logloom"."log_streams"
  ADD COLUMN "last_answer" text;

ALTER TABLE "logloom"."log_streams"
  ADD COLUMN "is_proven" boolean NOT NULL DEFAULT false;

ALTER TABLE "logloom"."log_streams"
  ADD COLUMN "failing_told_at" timestamp WITH time zone;

ALTER TABLE "logloom"."log_streams"
  ADD COLUMN "test_answer" text;

ALTER TABLE "logloom_private"."alert_groups"
  ADD COLUMN "turn_at" timestamp WITH time zone;

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "stream_tells_after" interval NOT NULL DEFAULT '01:00:00'::interval;

ALTER TYPE "public"."logloom_alert_rule" ADD ATTRIBUTE "late_seconds" double precision CASCADE;

ALTER TYPE "public"."logloom_log_stream" ADD ATTRIBUTE "last_answer" text CASCADE;

ALTER TYPE "public"."logloom_log_stream" ADD ATTRIBUTE "test_answer" text CASCADE;

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
    -- The id has to be given here, so "leave it out" would be no help.
    if not logloom_private.is_service_role()
      and p_tenant_id <> logloom_private.resolve_tenant_to_change()
    then
      perform logloom_private.refuse('tenants.deletes_another');
    end if;
    v_tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    perform logloom_private.require_role(v_tenant_id, 'owner');
    perform logloom_private.lock_members(v_tenant_id);
    -- Another request may have been first.
    select d.* into v_deletion
    from logloom_private.tenant_deletions d
    where d.tenant_id = v_tenant_id and d.finished_at is null;
  end if;
  if v_deletion.deletion_id is null then
    if not exists (select from logloom.tenants t where t.tenant_id = v_tenant_id) then
      perform logloom_private.refuse('tenants.not_found');
    end if;
    v_deletion := logloom_private.begin_tenant_deletion(v_tenant_id);
  end if;
  return row(
    v_deletion.deletion_id, v_deletion.tenant_id, v_deletion.requested_at
  )::public.logloom_tenant_deletion;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_health (
  p_now       timestamp with time zone,
  p_watermark timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_window_end timestamptz;
  v_has_rules constant boolean := exists (select from logloom.alert_rules r where r.enabled);
  v_waits boolean;
  v_late_rules bigint;
  v_late interval;
  v_reason text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select r.window_end into v_window_end from logloom_private.alert_rounds r
  where r.finished_at is not null;
  -- As late_seconds() has it, without a call for each rule.
  select count(*) filter (where l.late > v_settings.alert_round_limit), max(l.late)
  into v_late_rules, v_late
  from logloom.alert_rules r
  cross join lateral (
    select v_window_end - greatest(r.last_evaluated_at, date_trunc('minute', r.asked_at)) as late
  ) l
  where r.enabled;
  v_waits := v_has_rules
    and coalesce(p_now - p_watermark, 'infinity') > v_settings.alert_watermark_limit;
  if v_waits then
    v_reason := 'Rules wait until all that was acknowledged is visible';
  elsif v_has_rules and v_window_end is not null
    and logloom_private.silence_since(v_window_end, p_now) > v_settings.alert_round_limit
  then
    v_reason := logloom_private.silence_reason(
      'No round of the alert rules', logloom_private.silence_since(v_window_end, p_now),
      v_settings.alert_round_limit
    );
  elsif v_late_rules > 0 then
    v_reason := format(
      '%s alert rules are late, by up to %s: list_alert_rules shows late_seconds',
      v_late_rules, v_late
    );
  end if;
  return logloom_private.health_grade(null, v_reason) || jsonb_build_object(
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', v_window_end,
    'late_rules', v_late_rules,
    'late_seconds', greatest(coalesce(extract(epoch from v_late)::double precision, 0), 0)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.alert_needs (
  p_round logloom_private.alert_rounds
)
  RETURNS TABLE (
    group_id    bigint,
    needed_from timestamp with time zone,
    is_due      boolean,
    is_new      boolean,
    due_at      timestamp with time zone
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select
    r.group_id,
    min(
      greatest(
        least(
          r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace
        ),
        p_round.window_end - r.delay - s.alert_catch_up_limit
      ) - make_interval(mins => r.window_minutes)
    ),
    bool_or(
      r.asked_at < p_round.window_end - r.delay
      and r.last_evaluated_at is distinct from p_round.window_end
    ),
    bool_and(r.last_evaluated_at is null),
    min(coalesce(r.last_evaluated_at, r.asked_at))
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  where r.group_id is not null
  group by r.group_id;
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
    p_row.asked_at := greatest(
      p_row.asked_at,
      (select v.shows_since from logloom.log_views v where v.view_id = p_view_id)
    );
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
    logloom_private.shown_secrets(p_row.notification_secrets), logloom_private.late_seconds(p_row)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.change_log_stream (
  p_tenant_id text,
  p_stream_id uuid,
  p_name      text,
  p_query_dsl text,
  p_config    jsonb,
  p_secrets   jsonb,
  p_enabled   boolean,
  p_view_id   uuid
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes streams, whose state is theirs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.log_streams;
  v_query_dsl text;
  v_config jsonb;
  v_secrets jsonb;
  v_is_other boolean;
  v_is_same boolean;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  if length(logloom_private.trim_space(p_name)) not between 1 and 100 then
    perform logloom_private.refuse('streams.name_is_invalid');
  end if;
  v_query_dsl := case when num_nonnulls(p_query_dsl, p_view_id) = 0 then v_row.query_dsl
    else logloom_private.checked_stream_query(
      v_tenant_id, coalesce(p_query_dsl, v_row.query_dsl), coalesce(p_view_id, v_row.view_id)
    ) end;
  v_is_other := (v_query_dsl, coalesce(p_view_id, v_row.view_id))
    is distinct from (v_row.query_dsl, v_row.view_id);
  v_is_same := not v_is_other and num_nonnulls(p_config, p_secrets) = 0;
  v_config := case when p_config is null then v_row.config
    else logloom_private.checked_stream_config(v_row.kind, p_config) end;
  v_secrets := logloom_private.changed_secrets(
    v_row.secrets, p_secrets, logloom_private.stream_secret_names(v_row.kind)
  );
  perform logloom_private.require_secrets_again(v_row, v_config, p_secrets);
  v_row.config := v_config;
  v_row.secrets := v_secrets;
  perform logloom_private.refuse_own_keys(v_tenant_id, v_row.secrets);
  update logloom.log_streams s
  set name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = v_query_dsl,
    config = v_row.config,
    secrets = v_row.secrets,
    enabled = coalesce(p_enabled, s.enabled),
    view_id = coalesce(p_view_id, s.view_id),
    updated_at = now(),
    maker = case when p_enabled then logloom_private.stream_maker() else s.maker end,
    paused_at = case when p_enabled is null then s.paused_at end,
    pause_reason = case when p_enabled is null then s.pause_reason end,
    failing_since = case when p_enabled is null then s.failing_since end,
    attempts = case when p_enabled is null then s.attempts else 0 end,
    failing_told_at = case when p_enabled is null then s.failing_told_at end,
    is_proven = s.is_proven and num_nonnulls(p_config, p_secrets) = 0,
    refused_in_a_row = case when p_enabled is null then s.refused_in_a_row else 0 end,
    -- Nobody noted what came meanwhile.
    pending_since = case when p_enabled then coalesce(s.pending_since, now())
      else s.pending_since end,
    -- Whoever sends with what was before does not settle for it, nor seals it again.
    claim_id = case when v_is_same then s.claim_id end,
    claimed_at = case when v_is_same then s.claimed_at end,
    claimed_until = case when v_is_same then s.claimed_until end,
    -- What is changed is tried at once, and with it sizes that a receiver did not take.
    next_attempt_at = now(),
    batch_bytes = case when p_config is null then s.batch_bytes else 1000000 end,
    batch_id = case when not v_is_other then s.batch_id end,
    batch_made_at = case when not v_is_other then s.batch_made_at end,
    batch_end_seq = case when not v_is_other then s.batch_end_seq end,
    batch_end_id = case when not v_is_other then s.batch_end_id end,
    batch_records = case when not v_is_other then s.batch_records end,
    batch_skipped = case when not v_is_other then s.batch_skipped end
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
exception when unique_violation then
  perform logloom_private.refuse('streams.name_is_taken');
  return null;
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
    -- One message says one reason why it is over.
    and n.body::jsonb #> '{data,resolution}' is not distinct from
      p_body::jsonb #> '{data,resolution}'
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
    where n.status = 'pending' and n.next_attempt_at <= now() and n.expires_at > now()
      -- Nothing is resolved before it was triggered, or triggered anew before it was resolved.
      and not (
        n.purpose in ('alert', 'recovery')
        and exists (
          select
          from logloom_private.notifications e
          where e.rule_id = n.rule_id and e.channel = n.channel and e.status = 'pending'
            and (
              e.purpose = 'recovery'
              or e.purpose = 'alert' and (n.purpose = 'recovery' or n.channel = 'pagerduty')
            )
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

CREATE OR REPLACE FUNCTION logloom_private.end_answered_batch (
  p_stream logloom.log_streams,
  p_took   integer,
  p_status integer,
  p_error  text,
  p_answer text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_refused constant integer := p_stream.batch_records - p_took;
  v_was_all constant boolean := p_stream.batch_end_id is null
    and p_stream.batch_end_seq >= logloom_private.last_write_seq();
begin
  p_stream := logloom_private.end_batch(p_stream);
  update logloom.log_streams s
  set sent_records = s.sent_records + p_took,
    refused_records = s.refused_records + v_refused,
    refused_in_a_row = case when p_took > 0 then 0 else s.refused_in_a_row + v_refused end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_took > 0 then
    update logloom.log_streams s
    set sent_batches = s.sent_batches + 1,
      batch_limit = least(s.batch_limit * 2, 1000),
      -- Doubled, every other batch would be too large again.
      batch_bytes = least(s.batch_bytes + s.batch_bytes / 10, 1000000),
      failing_since = null,
      failing_told_at = null,
      is_proven = true,
      last_success_at = now()
    where s.stream_id = p_stream.stream_id;
  elsif p_stream.refused_in_a_row >= 100 then
    perform logloom_private.pause_stream(p_stream, 'refused');
  end if;
  if v_was_all then
    perform logloom_private.release_stream(p_stream, p_stream.position_seq - 1);
  end if;
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
    or new.end_told_at is not null
  then
    return null;
  end if;
  v_end.incident_id := new.incident_id;
  v_end."group" := new."group";
  perform
  from logloom_private.enqueue_notifications(
    v_rule, 'recovery', v_end, logloom_private.recovery_body(v_rule, new),
    logloom_private.silence_of_alert(
      new.tenant_id, new.rule_id, new."group", new.resolved_at
    ) is not null
  );
  if found then
    update logloom.alert_incidents i
    set end_told_at = new.resolved_at
    where i.incident_id = new.incident_id;
  end if;
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.fail_stream (
  p_stream      logloom.log_streams,
  p_status      integer,
  p_error       text,
  p_answer      text,
  p_retry_after integer
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_settings logloom_private.settings;
begin
  select c.* into v_settings from logloom_private.settings c;
  update logloom.log_streams s
  set attempts = s.attempts + 1,
    failing_since = coalesce(s.failing_since, now()),
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer,
    next_attempt_at = now() + logloom_private.stream_delay(s.attempts + 1, p_retry_after),
    claim_id = null,
    claimed_at = null,
    claimed_until = null
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  if p_stream.failing_since < now() - v_settings.stream_gives_up_after then
    perform logloom_private.pause_stream(p_stream, 'failing');
  elsif p_stream.failing_told_at is null
    and p_stream.failing_since < now() - v_settings.stream_tells_after
  then
    perform logloom_private.mail_stream_owners(p_stream, 'stream.failing', 'failing');
    update logloom.log_streams s set failing_told_at = now()
    where s.stream_id = p_stream.stream_id;
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
  v_last constant logloom.alert_incidents :=
    logloom_private.last_incident(p_rule.rule_id, p_window."group");
  -- A late record has windows evaluated again that held before the end: those are no news.
  v_end_was_told constant boolean :=
    v_last.end_told_at is not null and p_window.window_end > v_last.held_until;
begin
  -- From window to window, so that the moments at which rounds happen to run do not matter. In
  -- both directions: a late record may make an earlier window fire after a later one did.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and (
        h.window_end = p_window.window_end
        or not v_end_was_told
        and h.window_end > p_window.window_end - v_cooldown
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
        'api_key_status', 'change_log_stream', 'change_log_view', 'change_member',
        'changed_rule_secrets', 'changed_secrets', 'check_query', 'check_settings',
        'checked_panels', 'choose_tenant', 'confirm_address', 'current_admin_tenant_id',
        'deliveries_of_incident', 'distinct_destinations', 'effective_settings',
        'end_alert_silence', 'end_portal_session', 'enqueue_rule_test', 'enroll_member',
        'found_tenant', 'hold_view', 'is_being_deleted', 'is_viewer', 'iso_instant',
        'issue_api_key', 'issue_ingest_token', 'issue_portal_session', 'late_seconds', 'list_bytes',
        'list_limit',
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
        'complete_notification', 'ingest_each', 'match_archive', 'next_stream_batch',
        'open_portal_session', 'put_sealed', 'read_by_key', 'read_health', 'run_writer_in_place',
        'settle_archive_work', 'settle_claim', 'settle_stream_batch', 'unsealed_secrets'
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
  v_last constant logloom.alert_incidents :=
    logloom_private.last_incident(p_rule.rule_id, p_window."group");
  v_incident_id uuid;
begin
  update logloom.alert_incidents i
  set
    resolved_at = null,
    resolution = null,
    quiet_from = null,
    end_told_at = case when not p_fires then i.end_told_at end,
    last_fired_at = case when p_fires then p_now else i.last_fired_at end,
    fired_count = i.fired_count + p_fires::integer,
    value = case when p_window.window_end >= i.held_until then p_window.value else i.value end,
    peak_value = case
      when abs(p_window.value - i.threshold) > abs(i.peak_value - i.threshold) then p_window.value
      else i.peak_value
    end,
    held_until = greatest(i.held_until, p_window.window_end)
  where i.incident_id = v_last.incident_id
    and (
      i.resolved_at is null
      or i.resolution in ('recovered', 'still_absent')
      and (not p_fires or p_window.window_end <= i.quiet_from)
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

CREATE OR REPLACE FUNCTION logloom_private.last_incident (
  p_rule_id uuid,
  p_group   jsonb
)
  RETURNS logloom.alert_incidents
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select i
    from logloom.alert_incidents i
    where i.rule_id = p_rule_id and i."group" is not distinct from p_group
    -- Several may have been opened at once, by windows that were caught up with.
    order by i.opened_at desc, i.held_until desc
    limit 1
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.late_seconds (
  p_rule logloom.alert_rules
)
  RETURNS double precision
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reads the rounds
begin
  return coalesce(
    (
      select greatest(extract(epoch from n.window_end - l.window_end), 0)
      from logloom_private.alert_rounds r
      cross join lateral (
        -- One that is under way is not late yet.
        select r.window_end - (r.finished_at is null)::integer * interval '1 minute' as window_end
      ) n
      cross join lateral (
        select greatest(p_rule.last_evaluated_at, date_trunc('minute', p_rule.asked_at))
          as window_end
      ) l
      where p_rule.enabled
    ),
    0
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.log_stream_of (
  p_row logloom.log_streams
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return row(
    p_row.stream_id, p_row.tenant_id, p_row.name, p_row.query_dsl, p_row.kind, p_row.config,
    logloom_private.shown_secrets(p_row.secrets), p_row.enabled, p_row.view_id, p_row.maker,
    p_row.created_at, p_row.updated_at,
    case
      when not p_row.enabled then 'disabled'
      when p_row.paused_at is not null then 'paused'
      when p_row.failing_since is not null then 'failing'
      else 'sending'
    end,
    coalesce(round(extract(epoch from clock_timestamp() - p_row.pending_since), 3), 0),
    case when p_row.enabled and p_row.paused_at is null and p_row.pending_since is not null
      then p_row.next_attempt_at end,
    p_row.failing_since, p_row.last_success_at, p_row.last_status, p_row.last_error,
    p_row.paused_at, p_row.pause_reason, p_row.sent_batches, p_row.sent_records,
    p_row.skipped_records, p_row.refused_records, p_row.test_requested_at,
    p_row.test_finished_at, p_row.test_status, p_row.test_error, p_row.last_answer,
    p_row.test_answer
  )::public.logloom_log_stream;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.mail_stream_owners (
  p_stream logloom.log_streams,
  p_type   text,
  p_reason text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  insert into logloom_private.notifications (
    tenant_id, rule_id, purpose, channel, address, body, expires_at
  )
  select
    p_stream.tenant_id, p_stream.stream_id, 'stream', 'email', u.email,
    jsonb_build_object(
      'type', p_type, 'timestamp', now(),
      'data', jsonb_build_object(
        'stream_id', p_stream.stream_id, 'name', p_stream.name, 'kind', p_stream.kind,
        'reason', p_reason, 'failing_since', p_stream.failing_since,
        'last_error', p_stream.last_error, 'answer', p_stream.last_answer
      )
    )::text,
    now() + c.notification_lifetime
  from logloom_private.settings c
  cross join logloom_private.auth_users_by_id(
    array(
      select m.user_id from logloom.tenant_members m
      where m.tenant_id = p_stream.tenant_id and m.role = 'owner'
      order by m.created_at
      limit 20
    )
  ) u
  where u.email is not null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.origin_of (
  p_url text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return regexp_replace(
    regexp_replace(lower(substring(p_url from '^[^/]*//[^/?#]*')), '^(https://.*):443$', '\1'),
    '^(http://.*):80$', '\1'
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pause_stream (
  p_stream logloom.log_streams,
  p_reason text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.log_streams s
  set paused_at = now(),
    pause_reason = p_reason,
    claim_id = null,
    claimed_at = null,
    claimed_until = null
  where s.stream_id = p_stream.stream_id and s.paused_at is null;
  if not found then
    return;
  end if;
  perform logloom_private.mail_stream_owners(p_stream, 'stream.paused', p_reason);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pauses_unproven (
  p_stream logloom.log_streams,
  p_status integer,
  p_error  text,
  p_answer text
)
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_stream.is_proven then
    return false;
  end if;
  update logloom.log_streams s
  set attempts = 0,
    failing_since = coalesce(s.failing_since, now()),
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id
  returning s.* into p_stream;
  perform
    logloom_private.drop_batch(p_stream),
    logloom_private.pause_stream(p_stream, 'refused');
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pending_alert_groups (
  p_round logloom_private.alert_rounds
)
  RETURNS TABLE (
    tenant_id    text,
    group_id     bigint,
    has_partials boolean,
    needed_from  timestamp with time zone,
    place        bigint
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select g.tenant_id, g.group_id, g.filter is not null, n.needed_from,
    row_number() over (
      partition by g.tenant_id, n.is_new
      order by greatest(n.due_at, g.turn_at), coalesce(g.ms_per_record, 0) + g.spent_ms, g.group_id
    ) * 2 - (not n.is_new)::integer
  from logloom_private.alert_groups g
  join logloom_private.alert_needs(p_round) n on n.group_id = g.group_id
  where coalesce(g.retry_at <= p_round.window_end, true)
    and case
      when g.filter is null then n.is_due
      else g.write_seq is null
        or g.write_seq < p_round.write_seq_to
        or g.filled_from > n.needed_from
        or (g.filled_from = n.needed_from and g.filled_id is not null)
    end;
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
  v_tells_end constant boolean := p_rule.notify_on_recovery
    or 'pagerduty' = any (p_rule.notification_destinations);
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
      or v_tells_end and v_since > v_last.window_end
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

CREATE OR REPLACE FUNCTION logloom_private.query_parse_sort (
  p_state logloom_private.query_state,
  p_plan  jsonb
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_rows constant boolean := p_plan ?| array['aggregates', 'patterns'];
  v_columns constant text[] := case
    when p_plan ? 'patterns' then array['count', 'first', 'last', 'pattern']
    when not v_rows then array['ts']
    else array(select a ->> 'name' from jsonb_array_elements(p_plan -> 'aggregates') a)
      || case when p_plan ? 'bucket' then array['ts'] else '{}'::text[] end
      || array(select b ->> 'name' from jsonb_array_elements(p_plan -> 'by') b)
  end;
  v_keys jsonb := '[]';
  v_name text;
begin
  if p_state.texts[2] <> 'by' then
    perform logloom_private.refuse_at(
      p_state.positions[2],
      'stages.sort_needs_by',
      -- The column that is meant, where there is one: "sort desc count" has it behind the order.
      case when not v_rows then 'ts'
        when ltrim(p_state.texts[2], '-') = any (v_columns) then ltrim(p_state.texts[2], '-')
        when p_state.texts[3] = any (v_columns) then p_state.texts[3]
        else v_columns[1] end
        || case when left(p_state.texts[2], 1) = '-'
          or p_state.texts[2] ~* '^desc$' or p_state.texts[3] ~* '^desc$'
          then ' desc' else '' end
    );
  end if;
  p_state."at" := 2;
  loop
    p_state := logloom_private.query_spend(p_state, 1);
    p_state."at" := p_state."at" + 1;
    v_name := p_state.texts[p_state."at"];
    if not v_name = any(v_columns) or (not v_rows and jsonb_array_length(v_keys) > 0) then
      perform logloom_private.refuse_at(
        p_state.positions[p_state."at"],
        case when v_name = '' and v_rows then 'stages.sort_column_is_missing'
          when v_name = '' then 'stages.sort_ts_is_missing'
          when v_rows then 'stages.sort_column_is_unknown'
          else 'stages.records_are_sorted_by_ts' end,
        logloom_private.query_excerpt(v_name),
        array_to_string(v_columns, ', ')
      );
    end if;
    p_state."at" := p_state."at" + 1;
    v_keys := v_keys || jsonb_build_object(
      'name', v_name, 'descending', p_state.texts[p_state."at"] = 'desc'
    );
    if p_state.texts[p_state."at"] in ('asc', 'desc') then
      p_state."at" := p_state."at" + 1;
    end if;
    exit when p_state.texts[p_state."at"] <> ',';
  end loop;
  p_state.node := p_plan || jsonb_build_object('sort', v_keys);
  return p_state;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_alert_windows (
  p_round logloom_private.alert_rounds,
  p_now   timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_began constant timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
  v_rule_ids uuid[];
  v_group_ids bigint[];
  v_pending record;
  v_tenant_id text;
  v_fired integer := 0;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_rule_ids := logloom_private.plan_alert_rules(p_now, v_settings.alert_step_rules / 2);
  if cardinality(v_rule_ids) > 0 then
    return logloom_private.judge_alert_rules(v_rule_ids, p_round, p_now);
  end if;
  v_group_ids := logloom_private.fill_small_alert_groups(p_round, v_settings.alert_step_rules * 2);
  if cardinality(v_group_ids) = 0 then
    for v_pending in
      with pending as materialized (
        select p.* from logloom_private.pending_alert_groups(p_round) p
      )
      select p.*
      from pending p
      where p.tenant_id = (
        select f.tenant_id
        from pending f
        left join logloom_private.alert_spending s on s.tenant_id = f.tenant_id
        -- Who took least of this round comes first.
        order by coalesce(s.spent_ms, 0), f.tenant_id
        limit 1
      )
      order by p.place
    loop
      v_tenant_id := v_pending.tenant_id;
      v_group_ids := v_group_ids || v_pending.group_id;
      update logloom_private.alert_groups g set turn_at = p_now
      where g.group_id = v_pending.group_id;
      begin
        if v_pending.has_partials then
          perform logloom_private.read_alert_group(
            v_pending.group_id, v_pending.needed_from, p_round, p_now,
            v_began + v_settings.alert_rule_budget
          );
        else
          v_fired := v_fired
            + logloom_private.scan_alert_group(v_pending.group_id, p_round, p_now);
        end if;
      exception when others then
        perform logloom_private.empty_alert_groups(
          array[v_pending.group_id], sqlerrm, p_round.window_end + interval '1 minute'
        );
      end;
      exit when clock_timestamp() > v_began + v_settings.alert_rule_budget;
    end loop;
    if v_tenant_id is null then
      return null;
    end if;
  end if;
  v_fired := v_fired + logloom_private.judge_alert_rules(
    array(
      select r.rule_id
      from logloom_private.planned_alert_rules r
      where r.group_id = any(v_group_ids)
    ),
    p_round, p_now
  );
  if v_tenant_id is not null then
    insert into logloom_private.alert_spending as s (tenant_id, spent_ms)
    values (v_tenant_id, logloom_private.milliseconds_since(v_began))
    on conflict (tenant_id) do update set spent_ms = s.spent_ms + excluded.spent_ms;
  end if;
  return v_fired;
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
      'absent', p_incident.resolution = 'still_absent',
      'alerts', json_build_array(json_build_object(
        'alert_id', null,
        'group', logloom_private.short_group(p_incident."group"),
        'value', p_incident.value,
        'absent', p_incident.resolution = 'still_absent'
      ))
    )
  )::text;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.renew_webhook_secret()
  RETURNS TRIGGER
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role reaches the secrets
begin
  update logloom_private.webhook_secrets w
  set secret = default, previous_secret = null, previous_valid_until = null, changed_at = now()
  where w.rule_id = new.rule_id
    and logloom_private.origin_of(old.notification_config ->> 'webhook_url')
      is distinct from logloom_private.origin_of(new.notification_config ->> 'webhook_url');
  return null;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.request_stream_test (
  p_tenant_id text,
  p_stream_id uuid
)
  RETURNS public.logloom_log_stream
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes streams
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_interval interval;
  v_row logloom.log_streams;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  select s.* into v_row
  from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.stream_id = p_stream_id
  for no key update;
  if not found then
    perform logloom_private.refuse('streams.not_found');
  end if;
  select c.notification_test_interval into v_interval from logloom_private.settings c;
  if v_row.test_requested_at > now() - v_interval then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_row.test_requested_at + v_interval - now()))::integer,
      'streams.tested_just_now', extract(epoch from v_interval)::integer::text
    );
  end if;
  update logloom.log_streams s
  set test_id = gen_random_uuid(),
    test_requested_at = now(),
    test_finished_at = null,
    test_status = null,
    test_error = null,
    test_answer = null
  where s.stream_id = p_stream_id
  returning s.* into v_row;
  return logloom_private.log_stream_of(v_row);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.require_secrets_again (
  p_stream  logloom.log_streams,
  p_config  jsonb,
  p_secrets jsonb
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_kept text;
begin
  if logloom_private.origin_of(coalesce(p_config ->> 'url', p_config ->> 'endpoint'))
    = logloom_private.origin_of(
      coalesce(p_stream.config ->> 'url', p_stream.config ->> 'endpoint')
    )
  then
    return;
  end if;
  select string_agg(s.name, ', ' order by s.name) into v_kept
  from jsonb_object_keys(p_stream.secrets) s (name)
  where not coalesce(p_secrets, '{}') ? s.name;
  if v_kept is not null then
    perform logloom_private.refuse('streams.address_needs_secrets', v_kept);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.resolve_incidents (
  p_rule       logloom.alert_rules,
  p_window_end timestamp with time zone,
  p_seen       jsonb[],
  p_held       jsonb[],
  p_now        timestamp with time zone
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  update logloom.alert_incidents i
  set resolved_at = p_now, quiet_from = p_window_end,
    resolution = case
      when p_rule.on_absent = 'fire' and i."group" <> all (p_seen) then 'still_absent'
      else 'recovered'
    end
  where i.rule_id = p_rule.rule_id
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
        v_rule, v_told.window_end,
        array(select s."group" from unnest(v_told.seen) s where s."group" is not null),
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
      max(u.value) filter (where u.window_end = u.newest_end) as value,
      max(u.error) as error
    from (
      select p.*, max(p.window_end) over (partition by p.rule_id) as newest_end
      from unnest(p_windows) p
    ) u
    group by u.rule_id
  ) w
  where r.rule_id = w.rule_id;
  return v_fired;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_delivered (
  p_stream   logloom.log_streams,
  p_status   integer,
  p_refused  jsonb,
  p_rejected integer,
  p_answer   text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_none constant text := 'The receiver took none of the records';
  v_took constant integer := greatest(
    p_stream.batch_records - coalesce(jsonb_array_length(p_refused), 0) - coalesce(p_rejected, 0), 0
  );
begin
  if v_took = 0 and logloom_private.pauses_unproven(p_stream, p_status, v_none, p_answer) then
    return;
  end if;
  perform logloom_private.note_refused_records(p_stream, p_refused, p_rejected, p_status, null);
  perform logloom_private.end_answered_batch(
    p_stream, v_took, p_status, case when v_took = 0 then v_none end,
    case when v_took < p_stream.batch_records then p_answer end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_refused (
  p_stream  logloom.log_streams,
  p_status  integer,
  p_error   text,
  p_refused jsonb,
  p_answer  text
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if p_stream.batch_records = 1
    and logloom_private.pauses_unproven(p_stream, p_status, p_error, p_answer)
  then
    return;
  end if;
  update logloom.log_streams s
  set batch_limit = greatest(s.batch_records / 2, 1),
    -- One record is as large as it is, however small batches are.
    batch_bytes = case when p_status = 413 and s.batch_records > 1
      then greatest(least(s.batch_bytes, s.batch_size / 2), 10000) else s.batch_bytes end,
    attempts = 0,
    last_status = p_status,
    last_error = p_error,
    last_answer = p_answer
  where s.stream_id = p_stream.stream_id;
  if p_stream.batch_records > 1 then
    perform logloom_private.drop_batch(p_stream);
  else
    perform
      logloom_private.note_refused_records(p_stream, p_refused, 0, p_status, p_error),
      logloom_private.end_answered_batch(p_stream, 0, p_status, p_error, p_answer);
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.settle_stream_batch (
  p_stream_id   uuid,
  p_claim_id    uuid,
  p_batch_id    uuid,
  p_outcome     text,
  p_status      integer,
  p_error       text,
  p_retry_after integer,
  p_refused     jsonb,
  p_rejected    integer,
  p_secrets     jsonb,
  p_release     boolean,
  p_answer      text
)
  RETURNS boolean
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role writes streams
declare
  v_stream logloom.log_streams;
  v_error constant text := left(p_error, 500);
  v_answer constant text := left(p_answer, 500);
begin
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id
  for no key update;
  if not found then
    return false;
  end if;
  if p_secrets is not null and v_stream.claim_id = p_claim_id then
    update logloom.log_streams s
    set secrets = logloom_private.changed_secrets(
      s.secrets, p_secrets, logloom_private.stream_secret_names(s.kind)
    )
    where s.stream_id = p_stream_id;
  end if;
  if v_stream.test_id = p_batch_id then
    update logloom.log_streams s
    set test_id = null, test_finished_at = now(), test_status = p_status,
      test_error = case when p_outcome <> 'delivered' then coalesce(v_error, 'Not delivered') end,
      test_answer = v_answer,
      is_proven = s.is_proven or p_outcome = 'delivered',
      -- What waits for a receiver that is back waits no longer.
      attempts = case when p_outcome = 'delivered' then 0 else s.attempts end,
      next_attempt_at = case when p_outcome = 'delivered' then now() else s.next_attempt_at end
    where s.stream_id = p_stream_id;
  elsif v_stream.batch_id is distinct from p_batch_id
    or (p_outcome <> 'delivered' and v_stream.claim_id is distinct from p_claim_id)
  then
    null;
  elsif p_outcome = 'delivered' then
    perform logloom_private.settle_delivered(v_stream, p_status, p_refused, p_rejected, v_answer);
    if v_stream.claim_id is distinct from p_claim_id then
      -- It arrived where the stream led before it was changed.
      update logloom.log_streams s set is_proven = v_stream.is_proven
      where s.stream_id = p_stream_id;
    end if;
  elsif p_outcome = 'refused' then
    perform logloom_private.settle_refused(v_stream, p_status, v_error, p_refused, v_answer);
  else
    perform logloom_private.fail_stream(
      v_stream, p_status, v_error, v_answer, p_retry_after
    );
  end if;
  select s.* into v_stream
  from logloom.log_streams s
  where s.stream_id = p_stream_id and s.claim_id = p_claim_id;
  if found and p_release then
    perform logloom_private.release_stream(v_stream);
  end if;
  return v_stream.claim_id is not null and p_release is not true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_config_members()
  RETURNS TABLE (
    name      text,
    kinds     text[],
    is_needed boolean,
    pattern   text
  )
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  -- As addresses of webhooks: printable ASCII, no userinfo; plain HTTP to this machine alone.
  v_address constant text :=
    '^(https://[A-Za-z0-9[][!-~]*|http://127\.0\.0\.1(:[0-9]{1,5})?([/?#][!-~]*)?)$';
begin
  return query
  select m.name, m.kinds, m.is_needed, m.pattern
  from (
    values
      ('url', '{webhook,otlp,loki,elasticsearch,splunk_hec,datadog}'::text[], true,
        '^(?![^/]*//[^/?#]*[@\\])' || substr(v_address, 2)),
      ('index', '{elasticsearch}', true, '^[a-z0-9][a-z0-9._-]{0,199}$'),
      ('index', '{splunk_hec}', false, '^[a-z0-9][a-z0-9._-]{0,199}$'),
      ('encoding', '{otlp}', false, '^(json|protobuf)$'),
      ('tags', '{datadog}', false, '^[A-Za-z0-9_:./,-]+$'),
      ('endpoint', '{s3}', true, '^(?![^/]*//[^/?#]*[@\\])(?!.*[?#])' || substr(v_address, 2)),
      ('region', '{s3}', true, '^[a-z0-9][a-z0-9-]{0,62}$'),
      ('bucket', '{s3}', true, '^[a-z0-9][a-z0-9.-]{1,62}$'),
      ('prefix', '{s3}', false,
        '^[A-Za-z0-9_=-][A-Za-z0-9._=-]*(/[A-Za-z0-9_=-][A-Za-z0-9._=-]*)*$'),
      ('access_key_id', '{s3}', true, '^[A-Za-z0-9_-]{3,128}$')
  ) m (name, kinds, is_needed, pattern);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.stream_delay (
  p_attempts    integer,
  p_retry_after integer
)
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select greatest(
      make_interval(secs => (0.8 + 0.4 * random()) * least(
        extract(epoch from c.stream_retry_base)
          * power(c.notification_retry_factor, least(p_attempts - 1, 30)),
        extract(epoch from c.stream_retry_max)
      )),
      least(make_interval(secs => coalesce(p_retry_after, 0)), c.stream_gives_up_after)
    )
    from logloom_private.settings c
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.streams_errors()
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
    ('streams.name_is_invalid', 400, 'Invalid p_name: 1 to 100 characters after trimming',
      'Name the stream after where it goes.', '`p_name` is blank or too long.'),
    ('streams.kind_is_unknown', 400, 'Invalid p_kind',
      'One of webhook, otlp, loki, elasticsearch, splunk_hec, datadog and s3.', null),
    ('streams.query_has_stages', 400, 'A log stream takes a query without stages',
      'Leave out what follows the first bar.', '`p_query_dsl` has a stage.'),
    ('streams.config_is_no_object', 400, 'Invalid p_config: not an object',
      'Send {"url": "https://..."}; docs/guides/streams.md says what each kind takes.', null),
    ('streams.config_is_incomplete', 400, 'Invalid p_config: %s is missing',
      'A stream of the kind %2$s needs it.', 'A member that the kind needs is missing.'),
    ('streams.config_is_unknown', 400, 'Invalid p_config: %s is no member',
      'A stream of the kind %2$s takes %3$s. Secrets go into p_secrets.',
      'The kind has no such member.'),
    ('streams.config_is_invalid', 400, 'Invalid p_config: %s',
      'Addresses are https, without user and password; docs/guides/streams.md says the rest. '
        'Secrets go into p_secrets.', 'The member is malformed, or holds a key of Logloom.'),
    ('streams.address_needs_secrets', 400,
      'Invalid p_secrets: another scheme, host or port needs the secrets again: %s',
      'Send each of them in p_secrets, sealed for the new address; null takes one away.',
      '`update_log_stream` with another address: its secrets were meant for the old one.'),
    ('streams.leads_to_itself', 400, 'The log stream would send to its own tenant',
      'Seal the key of another tenant.', 'A secret is an API key of the tenant itself.'),
    ('streams.no_room', 400, 'Plan limit exceeded: log streams (max %s)',
      'Delete one that is no longer needed, or move to a larger plan.',
      'The plan''s `max_log_streams`.'),
    ('streams.outcome_is_unknown', 400, 'Invalid p_outcome',
      'One of delivered, retry and refused.', null),
    ('streams.not_found', 404, 'Log stream not found',
      'list_log_streams shows those of this tenant.', null),
    ('streams.name_is_taken', 409, 'The tenant has another log stream of this name',
      'Choose another name, or change that stream by update_log_stream.', null),
    ('streams.tested_just_now', 429, 'The log stream was tested just now',
      'Wait %s seconds between two tests.', 'One test in `notification_test_interval`.')
  ) e (name, status, message, hint, explanation);
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
    ('tenants.deletes_another', 403, 'p_tenant_id is not the tenant of the token',
      'Nothing was deleted. Send the id of your own tenant; get_current_tenant shows it.',
      '`delete_tenant` names another tenant, or is mistyped.'),
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

CREATE OR REPLACE FUNCTION public.settle_log_stream_batch (
  p_stream_id   uuid    DEFAULT NULL::uuid,
  p_claim_id    uuid    DEFAULT NULL::uuid,
  p_batch_id    uuid    DEFAULT NULL::uuid,
  p_outcome     text    DEFAULT NULL::text,
  p_status      integer DEFAULT NULL::integer,
  p_error       text    DEFAULT NULL::text,
  p_retry_after integer DEFAULT NULL::integer,
  p_refused     jsonb   DEFAULT NULL::jsonb,
  p_rejected    integer DEFAULT NULL::integer,
  p_secrets     jsonb   DEFAULT NULL::jsonb,
  p_release     boolean DEFAULT NULL::boolean,
  p_answer      text    DEFAULT NULL::text
)
  RETURNS public.logloom_stream_settlement
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.require_parameter('p_stream_id', p_stream_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_batch_id', p_batch_id is null);
  perform logloom_private.require_parameter('p_outcome', p_outcome is null);
  if p_outcome not in ('delivered', 'retry', 'refused') then
    perform logloom_private.refuse('streams.outcome_is_unknown');
  end if;
  return row(
    logloom_private.settle_stream_batch(
      p_stream_id, p_claim_id, p_batch_id, p_outcome, p_status, p_error, p_retry_after, p_refused,
      p_rejected, p_secrets, p_release, p_answer
    )
  )::public.logloom_stream_settlement;
end;
$function$;

REVOKE ALL ON FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text) FROM PUBLIC, "anon", "authenticated";

ALTER TABLE "logloom"."alert_incidents"
  ADD CONSTRAINT "alert_incidents_resolution_is_known"
    CHECK ((resolution = ANY (ARRAY['recovered'::text, 'still_absent'::text, 'rule_changed'::text, 'rule_disabled'::text, 'rule_deleted'::text])));

ALTER TABLE "logloom"."alert_incidents"
  ADD CONSTRAINT "alert_incidents_resolution_is_whole"
    CHECK ((((resolved_at IS NULL) = (resolution IS NULL)) AND ((quiet_from IS NULL) OR (resolution = ANY (ARRAY['recovered'::text, 'still_absent'::text])))));

CREATE TRIGGER alert_rules_renew_webhook_secret
  AFTER UPDATE OF notification_config ON logloom.alert_rules
  FOR EACH ROW
  WHEN
    ((((old.notification_config ->> 'webhook_url'::text) IS DISTINCT FROM (new.notification_config ->> 'webhook_url'::text)) AND ((old.notification_config ->> 'webhook_url'::text)
    IS NOT NULL)))
  EXECUTE FUNCTION logloom_private.renew_webhook_secret();

COMMENT ON COLUMN "logloom"."alert_incidents"."end_told_at" IS 'When messages said that it is over; null once it fired again. Then its cooldown holds nothing back.';

COMMENT ON COLUMN "logloom"."alert_incidents"."resolution" IS 'recovered: the condition holds no longer. still_absent: a group that went silent is watched no longer, and still is silent. Otherwise what became of the rule.';

COMMENT ON COLUMN "logloom"."log_streams"."failing_told_at" IS 'When owners got a mail that it fails; null once it works again.';

COMMENT ON COLUMN "logloom"."log_streams"."is_proven" IS 'Until it is, nothing that the receiver refuses is set aside: the stream pauses where it is.';

COMMENT ON COLUMN "logloom"."log_streams"."last_answer" IS 'What the receiver said, where it did not take the batch: the first 500 characters.';

COMMENT ON COLUMN "logloom_private"."settings"."stream_tells_after" IS 'How long a log stream fails before owners get a mail.';

COMMENT ON FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text) IS 'What the edge function logloom-stream calls after an attempt. p_outcome: delivered, but for p_refused ([{id, ts, status}]) and p_rejected further records; retry after a back-off, or p_retry_after seconds where that is longer; refused, when half of it is tried. p_secrets: the secrets, sealed by the current key. p_answer: what the receiver said. p_release: lets go of the stream. Returns {more}: whether the claim goes on. Errors: PT400.';

COMMENT ON FUNCTION "public"."update_log_stream"(uuid, text, text, jsonb, jsonb, boolean, uuid, text) IS 'Changes what is given and returns the log stream. p_config is replaced as a whole, of p_secrets each member, null takes one away. Another scheme, host or port in p_config needs every secret that is set in p_secrets again. An empty p_query_dsl sends all records. p_enabled true also ends a pause, and the caller is its maker from then on: it goes on where it was. For admins. Errors: PT400, PT401, PT403, PT404, PT409 (the name is taken).';

COMMENT ON TYPE "public"."logloom_alert_incident" IS 'A rule, and of a rule with by one of its groups, whose condition holds since opened_at. state: open, acknowledged or resolved. resolution: recovered, still_absent (a group that went silent is watched no longer), rule_changed, rule_disabled or rule_deleted; null before. value is that of the last window in which the condition held, peak_value the one farthest from the threshold.';

COMMENT ON TYPE "public"."logloom_alert_rule" IS 'An alert rule. Windows and cooldowns are in minutes. view_id: the view that it is evaluated in; null: all records. notification_secrets: which are set, {"slack_url": {"set": true}}. late_seconds: how far its last window is behind those that are due; 0 where it is not.';

COMMENT ON TYPE "public"."logloom_log_stream" IS 'A log stream. secrets: {name: {"set": true}}. status: sending, failing, paused, disabled. lag_seconds: how long the oldest record that was not sent has waited. paused_at with pause_reason failing (no success for long), refused (the receiver takes no record) or maker (who made it is no admin any more). skipped_records: not sent, because streams passed them on three times already. test_…: of the last test; it is under way while test_finished_at is null. last_answer, test_answer: the first 500 characters of what the receiver said, where it did not take what was sent.';

GRANT EXECUTE ON FUNCTION "logloom_private"."late_seconds"(logloom.alert_rules) TO "authenticated", "service_role";

GRANT EXECUTE ON FUNCTION "logloom_private"."settle_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text) TO "service_role";

GRANT EXECUTE ON FUNCTION "public"."settle_log_stream_batch"(uuid, uuid, uuid, text, integer, text, integer, jsonb, integer, jsonb, boolean, text) TO "service_role";

-- Streams whose receiver took something before are not on trial.
update logloom.log_streams set is_proven = true where last_success_at is not null;

-- Ends that were told before: nothing tells them twice, and what fires next is told.
update logloom.alert_incidents i
set end_told_at = i.resolved_at
where i.resolved_at is not null
  and exists (
    select
    from logloom_private.notifications n
    where n.incident_id = i.incident_id and n.purpose = 'recovery'
      and n.created_at >= i.last_fired_at
  );

select logloom_private.finish_migration();
