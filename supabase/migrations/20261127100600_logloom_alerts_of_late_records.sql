-- Groups are short; how long a condition held is for closed windows to say; what is past its time
-- is not sent; ends go where the beginning went; silences go a month after their end.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

do $ddl$
begin
  perform set_config('lock_timeout', '30s', true);
  update logloom_private.settings s
  set alert_grace = greatest(date_trunc('minute', s.alert_grace), interval '0'),
    alert_catch_up_limit = greatest(date_trunc('minute', s.alert_catch_up_limit), interval '0')
  where s.singleton;
  ALTER TABLE "logloom_private"."settings"
    ADD COLUMN "alert_group_bytes" integer NOT NULL DEFAULT 1024,
    ADD CONSTRAINT "settings_alert_waits_are_whole_minutes" CHECK (
      least(alert_grace, alert_catch_up_limit) >= interval '0'
      and (alert_grace, alert_catch_up_limit)
        = (date_trunc('minute', alert_grace), date_trunc('minute', alert_catch_up_limit))
    );
  ALTER TABLE "logloom_private"."alert_states"
    DROP COLUMN "looked_at";
  DROP FUNCTION "logloom_private"."send_notifications"();
  DROP INDEX "logloom"."alert_silences_ends_at_idx";
  CREATE INDEX alert_silences_end_idx ON logloom.alert_silences
    USING btree (LEAST(ends_at, expired_at));
  perform set_config('lock_timeout', '0', true);
end;
$ddl$;

CREATE OR REPLACE VIEW "logloom_private"."planned_alert_rules" WITH (security_invoker=true) AS  SELECT p.rule_id,
    p.query_dsl,
    p.window_minutes,
    p.aggregate,
    p.group_id,
    p.refusal,
    p.view_id,
    p.view_updated_at,
    r.tenant_id,
    r.asked_at,
    r.last_evaluated_at,
    (s.alert_grace * (((r.for_minutes > 0))::integer)::double precision) AS delay
   FROM (((logloom.alert_rules r
     CROSS JOIN logloom_private.settings s)
     JOIN logloom_private.alert_plans p ON (((p.rule_id = r.rule_id) AND (p.query_dsl = r.query_dsl) AND (p.window_minutes = r.window_minutes) AND (NOT (p.view_id IS DISTINCT FROM r.view_id)))))
     LEFT JOIN logloom.log_views v ON ((v.view_id = r.view_id)))
  WHERE (r.enabled AND (NOT (p.view_updated_at IS DISTINCT FROM v.updated_at)));

CREATE OR REPLACE FUNCTION logloom_private.alert_needs (
  p_round logloom_private.alert_rounds
)
  RETURNS TABLE (
    group_id    bigint,
    needed_from timestamp with time zone,
    is_due      boolean
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
    )
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  where r.group_id is not null
  group by r.group_id;
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
  -- A window with more or longer groups than a rule looks at has no value: it fires for none.
  v_crowded := array(
    select w.window_end
    from unnest(p_values) w
    group by w.window_end
    having count(*) > v_settings.alert_groups
      or max(octet_length(w."group"::text)) > v_settings.alert_group_bytes
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
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_writes a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(
        r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace
      ),
      p_round.window_end - r.delay - s.alert_catch_up_limit
    ),
    p_round.window_end - r.delay,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    -- A window that ended before the rule was what it is now holds less than a search showed then:
    -- the first is the next round's.
    and e.window_end > r.asked_at
    -- Of the time before its first evaluation, only the last window.
    and (r.last_evaluated_at is not null or e.window_end = p_round.window_end - r.delay)
    -- A window that was evaluated is looked at again only where something came late.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at - r.delay
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
    where n.status = 'pending' and n.next_attempt_at <= now() and n.expires_at > now()
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
        p_purpose <> 'recovery'
        or (d.channel = 'pagerduty' or p_rule.notify_on_recovery and not p_is_silenced)
        and logloom_private.is_told(p_rule.rule_id, p_alert.incident_id, d.channel)
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

CREATE OR REPLACE FUNCTION logloom_private.give_up_notifications()
  RETURNS boolean
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  perform logloom_private.end_notification(
    e.expired, 'failed', (e.expired).last_status,
    concat_ws(': ', 'Not delivered in time', (e.expired).last_error)
  )
  from (
    select n as expired
    from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now() and n.expires_at <= now()
    limit (select s.purge_step_rows from logloom_private.settings s)
    for update skip locked
  ) e;
  return found;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.is_told (
  p_rule_id     uuid,
  p_incident_id uuid,
  p_channel     text
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return exists (
    select
    from logloom.alert_history h
    where h.incident_id = p_incident_id and p_channel = any (h.notification_channels)
  ) or exists (
    select
    from logloom_private.notifications n
    left join logloom_private.notified_alerts a on a.notification_id = n.notification_id
    join logloom.alert_history h on h.alert_id in (n.alert_id, a.alert_id)
    where n.rule_id = p_rule_id and n.channel = p_channel and n.status = 'pending'
      and n.purpose = 'alert' and h.incident_id = p_incident_id
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
  insert into logloom_private.alert_states as a (rule_id, group_key, "group", seen_at, holds_since)
  select
    p_rule.rule_id, w.group_key, w."group",
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
  set seen_at = greatest(a.seen_at, excluded.seen_at),
    holds_since = least(a.holds_since, excluded.holds_since);
  -- What does not hold begins anew; what was not seen for long is forgotten.
  update logloom_private.alert_states a
  set holds_since = null
  where a.rule_id = p_rule.rule_id
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
        ('logloom.alert_silences', 'least(r.ends_at, r.expired_at) < $1', '30 days'),
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

create or replace function logloom_private.recovery_refusal(
  p_notification logloom_private.notifications
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when not exists (
      select
      from logloom.alert_incidents i
      where i.rule_id = p_notification.rule_id
        and (
          i.incident_id = p_notification.incident_id
          or p_notification.group_key = 'collected'
          and i.resolved_at >= p_notification.created_at
        )
        and logloom_private.is_told(i.rule_id, i.incident_id, p_notification.channel)
    ) then 'The beginning of the incident was not delivered'
  end;
end;
$$;

create or replace function logloom_private.claim_due_notifications(p_limit integer)
returns setof public.logloom_claimed_notification
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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
      where n.notification_id = any(v_ids)
        and (n.channel = 'email' or n.purpose = 'recovery')
    loop
      v_refusal := coalesce(
        case v_notification.channel
          when 'email' then logloom_private.email_refusal(v_notification)
        end,
        case v_notification.purpose
          when 'recovery' then logloom_private.recovery_refusal(v_notification)
        end
      );
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
    (c.notification).purpose = 'confirmation'
  from claimed c
  left join logloom_private.webhook_secrets w
    on w.rule_id = (c.notification).rule_id and (c.notification).channel = 'webhook';
end;
$$;

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
    elsif exists (
      select from unnest(v_found) f
      where octet_length(f."group"::text) > v_settings.alert_group_bytes
    ) then
      raise exception 'The rule found a group of more than % bytes: group by another field',
        v_settings.alert_group_bytes;
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
  RETURNS interval
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if logloom_private.give_up_notifications() then
    return '0';
  end if;
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
  return null;
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

create or replace function public.update_alert_rule(
  p_rule_id uuid default null,
  p_name text default null,
  p_description text default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_enabled boolean default null,
  p_notification_destinations text[] default null,
  p_notification_config jsonb default null,
  p_view_id uuid default null,
  p_notify_on_recovery boolean default null,
  p_for_minutes integer default null,
  p_on_absent text default null,
  p_group_wait_seconds integer default null,
  p_secrets jsonb default null
)
returns public.logloom_alert_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
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
      when (r.query_dsl, r.threshold, r.comparison, r.window_minutes, r.for_minutes) = (
          coalesce(p_query_dsl, r.query_dsl), coalesce(p_threshold, r.threshold),
          coalesce(p_comparison, r.comparison), coalesce(p_window_minutes, r.window_minutes),
          coalesce(p_for_minutes, r.for_minutes)
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
$$;

COMMENT ON COLUMN "logloom_private"."settings"."alert_group_bytes" IS 'Bytes of a group that a rule with by looks at, at most.';

COMMENT ON TYPE "public"."logloom_alert_preview" IS 'When a rule would have fired between ts_from and ts_to, looked at every step_minutes, and the values that it would have seen. Of a rule with by, series has the greatest value of a window, groups those that fire most or have the greatest values, and crowded_windows counts windows with more or longer groups than a rule looks at; of others, the last three are null.';

COMMENT ON VIEW "logloom_private"."planned_alert_rules" IS 'Enabled rules whose plan is valid. delay: how long their windows are over when they are looked at first.';

select logloom_private.finish_migration();
