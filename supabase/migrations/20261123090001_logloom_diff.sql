-- Written by npm run migration from the difference between the released migrations and
-- supabase/schemas. It is to be read and corrected by hand:
--   * Rows, jobs of pg_cron and partitioned tables' settings are not in it, nor are grants on
--     parameters and roles' settings.
--   * A renamed column is dropped and made anew here: write alter table … rename instead.
--   * What locks a table that is written to all the time (a new check, a default that is computed,
--     an index) is better done in steps: not valid first, then validate.
--   * What changes logloom.logs begins with: select logloom_private.hold_writers();
--   * Deployed functions of the version before go on calling while this is applied.
--   * Its name belongs into supabase/uninstall.sql, among those that leave the project's history.

SET local check_function_bodies = off;

DROP FUNCTION "logloom_private"."due_notifications"();

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "notification_open_limit" integer NOT NULL DEFAULT 60;

CREATE OR REPLACE FUNCTION logloom_private.begin_alert_round (
  p_now       timestamp with time zone,
  p_watermark timestamp with time zone
)
  RETURNS logloom_private.alert_rounds
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_settings logloom_private.settings;
  v_last logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_window_minutes integer;
  v_from timestamptz;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- Nobody else reads these.
  delete from logloom_private.log_removals r
  where not exists (
    select from logloom_private.alert_groups g where g.tenant_id = r.tenant_id
  );
  -- Locked, so that a second evaluator continues this round instead of opening the same again.
  select r.* into v_last from logloom_private.alert_rounds r for update;
  if v_last.window_end > p_now then
    -- The clock went back: what is dated ahead would keep the rules waiting until then.
    v_last := null;
    update logloom.alert_rules r
    set
      last_evaluated_at = case when r.last_evaluated_at <= p_now then r.last_evaluated_at end,
      asked_at = least(r.asked_at, p_now)
    where r.last_evaluated_at > p_now or r.asked_at > p_now;
  end if;
  select max(r.window_minutes) into v_window_minutes from logloom.alert_rules r where r.enabled;
  v_round.window_end := logloom_private.whole_minute(p_watermark);
  if v_window_minutes is null
    or p_watermark is null
    or p_now - p_watermark > v_settings.alert_watermark_limit
    or (v_round.window_end <= v_last.window_end and v_last.finished_at is not null)
  then
    return null;
  end if;

  v_from := v_round.window_end - make_interval(mins => v_window_minutes)
    - v_settings.alert_grace - v_settings.alert_catch_up_limit;
  v_round.singleton := true;
  if v_last.window_end > v_round.window_end - v_settings.alert_catch_up_limit then
    -- A round that was cut short is done again from where it began.
    v_round.arrival_from := case
      when v_last.finished_at is null then v_last.arrival_from
      else v_last.arrival_to
    end;
    v_round.arrival_to := logloom_private.last_arrival(v_last.arrival_to);
  else
    -- Too long ago: every group reads its windows anew.
    v_round.arrival_to := logloom_private.last_arrival(0);
    v_round.arrival_from := v_round.arrival_to;
  end if;

  insert into logloom_private.alert_rounds (window_end, arrival_from, arrival_to)
  values (v_round.window_end, v_round.arrival_from, v_round.arrival_to)
  on conflict (singleton) do update
  set window_end = excluded.window_end,
    arrival_from = excluded.arrival_from,
    arrival_to = excluded.arrival_to,
    finished_at = null;
  perform logloom_private.stage_alert_arrivals(v_round, v_from);
  perform logloom_private.prepare_alert_groups(v_round);
  return v_round;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.callers_errors()
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
    ('callers.authorization_is_missing', 400, 'Missing authorization header',
      'Send Authorization: Bearer <access token>.', 'There is no `Authorization` header.'),
    ('callers.not_known', 401, 'Invalid token, API key, or missing tenant_id', null,
      'The token cannot be used, or the API key is unknown, revoked or expired.'),
    ('callers.not_signed_in', 401, 'Invalid token, API key, or missing tenant_id',
      'Sign in: the token needs role authenticated and a top-level tenant_id claim.',
      'The token is for `anon`, or has no usable `tenant_id`.'),
    ('callers.tenant_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs a top-level tenant_id claim that is a non-blank string.', null),
    ('callers.user_is_missing', 401, 'Invalid token, API key, or missing tenant_id',
      'The token needs the claim sub, which names the user.', null),
    ('callers.tenant_is_another', 403, 'p_tenant_id is not the tenant of the token',
      'Leave p_tenant_id out: the tenant is taken from the token.',
      'A user names another tenant. Leave `p_tenant_id` out.'),
    ('callers.method_is_not_allowed', 405, 'Method %s is not allowed here',
      'Call operations by POST with a JSON object of parameters.',
      'An operation is called by another method than `POST`.'),
    ('callers.tenant_must_be_named', 400, 'Missing required parameter: p_tenant_id',
      'service_role belongs to no tenant: name one where the operation takes p_tenant_id.',
      '`service_role` belongs to no tenant and must name one; it cannot call operations without '
        '`p_tenant_id`.'),
    ('callers.tenant_is_invalid', 400, 'Invalid p_tenant_id: 1 to 255 characters, not all blank',
      null, '`service_role` names what cannot be a tenant.'),
    ('callers.role_is_missing', 403, 'This takes the role %s',
      'Ask an owner of the tenant; list_tenant_members says who that is.',
      'The caller is less than that in the tenant: `member`, `admin`, `owner` '
        '([identity.md](identity.md)).')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.carry_to_nodes()
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_types text[];
  v_function regprocedure;
begin
  -- Types go to the nodes with a function that needs them; this one goes again, they stay.
  v_types := array(
    select format('%I.%I', n.nspname, t.typname)
    from pg_catalog.pg_type t
    join pg_catalog.pg_namespace n on n.oid = t.typnamespace
    left join pg_catalog.pg_class c on c.oid = t.typrelid
    where (n.nspname = 'logloom_private' or n.nspname = 'public' and t.typname like 'logloom\_%')
      and (c.relkind = 'c' or t.typtype in ('d', 'e'))
      and not exists (
        select
        from pg_catalog.pg_attribute a
        join pg_catalog.pg_type u on u.oid = a.atttypid
        left join pg_catalog.pg_type e on e.oid = u.typelem
        join pg_catalog.pg_class l on l.oid in (u.typrelid, e.typrelid)
        where a.attrelid = t.typrelid and l.relkind in ('r', 'p')
      )
    order by t.oid
  );
  execute format(
    'create function logloom_private.carried_types() returns table (%s) language plpgsql '
      || 'set search_path = pg_catalog, pg_temp as ''begin end''',
    (
      select string_agg(format('t%s %s', w.n, w.name), ', ' order by w.n)
      from unnest(v_types) with ordinality w (name, n)
    )
  );
  execute format(
    'select create_distributed_function(%L)', to_regprocedure('logloom_private.carried_types()')
  );
  execute 'drop function logloom_private.carried_types()';

  for v_function in
    select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.prokind in ('f', 'a')
      and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
      and not p.prosecdef
      and not exists (
        select
        from pg_catalog.pg_class c
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('logloom', 'logloom_private', 'public')
          and c.relkind in ('r', 'p', 'v', 'S')
          and not c.relispartition
          and format('%s.%s', n.nspname, c.relname) <> all (logloom_private.spread_tables())
          and concat_ws(
            ' ', p.prosrc, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
          ) ~ format('\m%s\.%s\M', n.nspname, c.relname)
      )
      -- Nor takes or gives a type that holds such a table's row, which is none of those above.
      and not exists (
        select
        from unnest(p.proargtypes::oid[] || p.proallargtypes || p.prorettype) o (oid)
        join pg_catalog.pg_type t on t.oid = o.oid
        join pg_catalog.pg_class c on c.oid = t.typrelid and c.relkind = 'c'
        where format('%I.%I', t.typnamespace::regnamespace, t.typname) <> all (v_types)
          and t.typnamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
      )
  loop
    execute format('select create_distributed_function(%L::regprocedure)', v_function::text);
  end loop;
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
  select n.tenant_id, n.channel, date_trunc('hour', now()), count(*)
  from logloom_private.notifications n
  where n.notification_id = any(v_ids)
  group by n.tenant_id, n.channel
  on conflict (tenant_id, channel, hour) do update
  set attempts = u.attempts + excluded.attempts;
  for v_notification in
    update logloom_private.notifications n
    set claim_id = gen_random_uuid(),
      attempts = n.attempts + 1,
      last_attempt_at = now(),
      next_attempt_at = now() + s.notification_claim_lifetime
    from logloom_private.settings s
    where n.notification_id = any(v_ids)
    returning n.*
  loop
    return query
    select
      v_notification.notification_id, v_notification.claim_id, v_notification.channel,
      v_notification.address,
      case v_notification.purpose
        when 'confirmation' then logloom_private.mail_code(v_notification)
        else v_notification.body
      end,
      array_remove(
        array[w.secret, case when w.previous_valid_until > now() then w.previous_secret end], null
      )
    from (select) one
    left join logloom_private.webhook_secrets w
      on w.rule_id = v_notification.rule_id and v_notification.channel = 'webhook';
  end loop;
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
    null::double precision, null::text, null::jsonb
  from logloom.alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_arrivals a on a.tenant_id = r.tenant_id
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
      n.notification_id, n.tenant_id, n.channel, n.next_attempt_at,
      row_number() over (
        partition by n.tenant_id, n.channel order by n.next_attempt_at
      ) as channel_place
    from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ), senders as (
    select
      d.tenant_id, d.channel,
      logloom_private.channel_limit(d.channel, logloom_private.plan_of(d.tenant_id)) as attempts
    from (select distinct x.tenant_id, x.channel from due x) d
  )
  select
    d.notification_id, d.tenant_id, d.next_attempt_at,
    d.channel_place > s.attempts - coalesce(u.attempts, 0), s.attempts
  from due d
  join senders s on s.tenant_id = d.tenant_id and s.channel = d.channel
  left join logloom_private.notification_usage u
    on u.tenant_id = d.tenant_id and u.channel = d.channel and u.hour = date_trunc('hour', now());
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.failed_alert_windows (
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
    p.rule_id, p_round.window_end, p_round.window_end, null::double precision,
    coalesce(p.refusal, p.last_error, g.last_error), null::jsonb
  from logloom_private.alert_plans p
  join logloom.alert_rules r on r.rule_id = p.rule_id and r.query_dsl = p.query_dsl
  left join logloom_private.alert_groups g on g.group_id = p.group_id
  where p.rule_id = any(p_rule_ids)
    and r.asked_at < p_round.window_end
    and (
      p.refusal is not null
      or (p.last_error is not null and p.retry_at > p_round.window_end)
      or (g.last_error is not null and g.retry_at > p_round.window_end)
    );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_alert_rules (
  p_after uuid,
  p_limit integer,
  p_round logloom_private.alert_rounds
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    select r.rule_id
    from logloom.alert_rules r
    where r.enabled
      and r.asked_at < p_round.window_end
      and r.last_evaluated_at is distinct from p_round.window_end
      and (p_after is null or r.rule_id > p_after)
    order by r.rule_id
    limit p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.next_notifications (
  p_limit integer
)
  RETURNS uuid[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return array(
    with under_way as (
      select n.tenant_id, count(*) as deliveries
      from logloom_private.notifications n
      where n.claim_id is not null and n.next_attempt_at > now()
      group by n.tenant_id
    ), turns as (
      select
        d.notification_id, d.next_attempt_at,
        coalesce(u.deliveries, 0)
          + row_number() over (partition by d.tenant_id order by d.next_attempt_at) as place
      from logloom_private.due_notifications() d
      left join under_way u on u.tenant_id = d.tenant_id
      where not d.is_beyond_plan
    ), numbered as (
      select t.*, row_number() over (order by t.place, t.next_attempt_at) as taken
      from turns t
    )
    select m.notification_id
    from numbered m
    cross join logloom_private.settings s
    where m.place + m.taken
      <= s.notification_open_limit - (select coalesce(sum(u.deliveries), 0) from under_way u) + 1
    order by m.taken
    limit p_limit
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.notifications_errors()
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
    ('notifications.no_destination', 400,
      'The alert rule has no destination that notifications may go to',
      'Set notification_destinations, and see notification_preferences of the tenant.',
      '`test_alert_rule`: no destination, or the tenant''s preferences refuse it.'),
    ('notifications.tested_a_moment_ago', 429, 'This alert rule was tested a moment ago',
      'Wait a few seconds.', '`test_alert_rule`: once in 10 seconds.'),
    ('notifications.delivery_not_found', 404, 'Delivery not found',
      'Send a delivery_id of list_alert_deliveries.', 'No such `delivery_id` in this tenant.'),
    ('notifications.delivery_arrived', 400, 'The delivery arrived already',
      'test_alert_rule sends another notification.',
      '`retry_alert_delivery`: there is nothing to send again.'),
    ('notifications.claim_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'Claim again for more.', '`claim_alert_notifications`, which only the function `logloom-notify` calls.'),
    ('notifications.outcome_is_unknown', 400, 'Invalid p_outcome: one of delivered, retry, failed',
      'retry is tried again later, failed is not.',
      '`settle_alert_notification`, which only the function `logloom-notify` calls.'),
    ('notifications.no_room_for_address', 400,
      'Plan limit exceeded: notification addresses (max %s)',
      'An address that no alert rule has any more makes room; or choose a larger plan.',
      '`confirm_alert_address`: the plan''s `max_notification_addresses`. One that no '
        'rule has makes room.'),
    ('notifications.code_is_malformed', 400, 'Invalid p_code: six digits',
      'Send the code as the mail has it, as a text.',
      '`confirm_alert_address`: as the mail has it, as a text.'),
    ('notifications.no_code_is_good', 400, 'No code is good for this address',
      'test_alert_rule mails a new one to the address of a rule.',
      'None was mailed to it, or it lapsed: `test_alert_rule` mails a new one.'),
    ('notifications.code_was_tried_too_often', 400, 'The code was tried too often',
      'test_alert_rule mails a new one to the address of the rule.',
      'Five wrong tries: `test_alert_rule` mails a new one.'),
    ('notifications.code_is_wrong', 400, 'The code is wrong',
      'The last one that was mailed is good, for five tries.', null),
    ('notifications.code_is_not_mailed_twice', 400, 'A code is not mailed twice',
      'test_alert_rule mails a new one.',
      '`retry_alert_delivery`: `test_alert_rule` mails a new one.'),
    ('notifications.address_is_not_confirmed', 400, 'The address is not confirmed',
      'Confirm it by the code that was mailed to it; test_alert_rule mails a new one.', null),
    ('notifications.no_room_for_test', 429, 'The plan allows %s tests in an hour by %s',
      'Wait, or choose a larger plan.',
      '`test_alert_rule`: the plan''s `emails_per_hour`, `webhooks_per_hour`.')
  ) e (name, status, message, hint, explanation);
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
    'add_tenant_member',
    'check_plan_feature',
    'claim_alert_notifications',
    'confirm_alert_address',
    'create_alert_rule',
    'create_api_key',
    'create_saved_search',
    'create_tenant',
    'delete_alert_rule',
    'delete_logs',
    'delete_saved_search',
    'delete_tenant',
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
    'list_alert_addresses',
    'list_alert_deliveries',
    'list_alert_history',
    'list_alert_rules',
    'list_api_keys',
    'list_log_fields',
    'list_log_retention_runs',
    'list_saved_searches',
    'list_tenant_audit_events',
    'list_tenant_members',
    'log_histogram',
    'log_series',
    'log_stats',
    'preview_alert_rule',
    'remove_tenant_member',
    'retry_alert_delivery',
    'revoke_api_key',
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
    'update_saved_search',
    'update_tenant_settings',
    'validate_query'
  ];
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.pending_alert_scans (
  p_round     logloom_private.alert_rounds,
  p_tenant_id text                         DEFAULT NULL::text
)
  RETURNS SETOF logloom_private.alert_plans
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select p.*
  from logloom_private.alert_plans p
  join logloom.alert_rules r on r.rule_id = p.rule_id
  where (p_tenant_id is null or p.tenant_id = p_tenant_id)
    and p.group_id is null
    and p.refusal is null
    and p.query_dsl = r.query_dsl
    and r.enabled
    and r.asked_at < p_round.window_end
    and r.last_evaluated_at is distinct from p_round.window_end
    and coalesce(p.retry_at <= p_round.window_end, true);
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
  v_address constant text := logloom_private.channel_address('email', p_rule.notification_config);
  v_mailbox constant text := lower(v_address);
  v_settings logloom_private.settings;
  v_codes integer;
  v_codes_for_address integer;
  v_last_at timestamptz;
begin
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(p_rule.tenant_id)
  );
  select s.* into v_settings from logloom_private.settings s;
  select
    count(*), count(*) filter (where lower(n.address) = v_mailbox),
    max(n.created_at) filter (where lower(n.address) = v_mailbox)
  into v_codes, v_codes_for_address, v_last_at
  from logloom_private.notifications n
  where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation'
    and n.created_at > now() - v_settings.confirmation_lifetime;
  -- One code for all rules with the address; another one is for who asks for it.
  if exists (
    select
    from logloom_private.notifications n
    where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation' and n.status = 'pending'
      and n.created_at > now() - v_settings.confirmation_lifetime
      and lower(n.address) = v_mailbox
  ) or not p_is_repeat and exists (
    select
    from logloom_private.notification_addresses a
    where a.tenant_id = p_rule.tenant_id and a.mailbox = v_mailbox
      and a.code_expires_at > now() and a.tries < v_settings.confirmation_tries
  ) or v_last_at > now() - v_settings.confirmation_interval then
    return 'The address is not confirmed: confirm_alert_address takes the code that is '
      'mailed to it';
  elsif v_codes >= v_settings.confirmation_codes_per_tenant
    or v_codes_for_address >= v_settings.confirmation_codes_per_address
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
  return 'The address is not confirmed: confirm_alert_address takes the code that is '
    'mailed to it';
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
        ('purge_audit_events', '41 * * * *', null),
        ('purge_alert_history', '47 * * * *', null),
        ('purge_rate_buckets', '43 * * * *', null),
        ('purge_idempotency_keys', '13 * * * *', null),
        -- More often than once a minute: a round begins when the watermark has passed a minute.
        ('evaluate_alerts', '3 seconds', 'call logloom_private.evaluate_alerts()'),
        ('send_notifications', '2 seconds', null),
        ('purge_notifications', '23 4 * * *', null)
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
    'health_report',
    'ingest_logs',
    'ingest_requests',
    'run_writer',
    'settle_alert_notification'
  ];
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
    ('tenants.role_is_unknown', 400, 'Invalid p_role: member, admin or owner',
      'docs/identity.md says what each may do.', 'There is no other role.'),
    ('tenants.user_id_is_invalid', 400, 'Invalid p_user_id: 1 to 255 characters, not all blank',
      'Send the claim sub of their tokens.', 'It cannot be the `sub` of a token.'),
    ('tenants.email_is_too_long', 400, 'Invalid p_email: at most 320 characters',
      'Send an email address.', 'It cannot be an email address.'),
    ('tenants.no_user_has_this_email', 404, 'No user has this email address',
      'They sign up first, and confirm the address.', 'Nobody of Supabase Auth has confirmed it.'),
    ('tenants.user_id_is_missing', 400, 'Missing required parameter: p_user_id',
      'This project has no users of Supabase Auth to look for by p_email alone.',
      'Without Supabase Auth, `p_email` alone does not say who it is.'),
    ('tenants.already_a_member', 400, 'They belong to the tenant already',
      'set_tenant_member_role changes what they may do.', '`add_tenant_member` of a member.'),
    ('tenants.no_room_for_member', 400, 'Plan limit exceeded: members (max %s)',
      'Remove a member, or choose a larger plan.', 'The plan''s `max_members`.'),
    ('tenants.first_member_is_owner', 400, 'The first member of a tenant is an owner',
      'From the first member on, nobody else belongs to the tenant.',
      '`service_role` adds the first one.'),
    ('tenants.last_owner_stays', 400, 'The last owner stays an owner',
      'Make another member owner first; delete_tenant removes the tenant as a whole.',
      'Somebody has to be.'),
    ('tenants.member_not_found', 404, 'Member not found',
      'list_tenant_members shows the user_id of each.', 'The tenant has no such member.'),
    ('tenants.id_is_taken', 400, 'p_tenant_id is taken',
      'Choose another one. That of a deleted tenant is free when nothing of it is left.',
      '`create_tenant`, and a tenant of this id exists or is being deleted.'),
    ('tenants.caller_has_one', 400, 'You belong to a tenant already',
      'Sign in again, so that your token names it.',
      '`create_tenant` is for users who belong to none.'),
    ('tenants.made_by_a_user', 400, 'A tenant is made by a user, who becomes its owner',
      'service_role makes one by add_tenant_member with p_tenant_id and p_role owner.',
      '`service_role` calls `create_tenant`.'),
    ('tenants.not_made_by_users', 403, 'Users do not make tenants here',
      'Whoever runs the project adds you to one, or sets tenants_by_users in '
        'logloom_private.settings.', '`tenants_by_users` in `logloom_private.settings` is off.'),
    ('tenants.being_deleted', 404, 'Tenant not found',
      'It is being deleted. Its id is free again when nothing of it is left.', null),
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

CREATE OR REPLACE FUNCTION logloom_private.unconfirmed_address()
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return 'The address is not confirmed: confirm_alert_address takes the code that was '
    'mailed to it, test_alert_rule mails a new one';
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.usage_errors()
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
    ('usage.settings_are_no_object', 400, 'Invalid settings data: %s must be an object',
      'Send a JSON object with the members to change.',
      '`pipeline_config` and `notification_preferences` are JSON objects.'),
    ('usage.setting_is_unknown', 400, 'Invalid settings data: %s has an unknown member "%s"',
      'pipeline_config has retention_days and compression, notification_preferences has '
        'email_enabled and webhook_enabled.', null),
    ('usage.setting_is_no_whole_number', 400, 'Invalid settings data: %s must be a whole number',
      'Send a number from 1 to %2$s.', '`retention_days`.'),
    ('usage.setting_is_out_of_range', 400, 'Invalid settings data: %s must be from 1 to %s',
      'The plan sets the greatest retention_days.', 'The plan limits `retention_days`.'),
    ('usage.setting_is_no_boolean', 400, 'Invalid settings data: %s must be true or false',
      'Send a JSON boolean.', null),
    ('usage.months_are_out_of_range', 400, 'Invalid p_months: 1 to 24',
      'Leave p_months out for the current month alone.', '`get_tenant_usage`.'),
    ('usage.too_many_deletions', 429, 'Too many deletions are open (max %s)',
      'list_log_retention_runs shows them. One deletion with OR does the work of several.', null),
    ('usage.deletion_query_is_blank', 400, 'Invalid p_query_dsl: it is blank',
      'Say ts:* to delete every record of the range.', '`delete_logs`: `ts:*` finds every record.')
  ) e (name, status, message, hint, explanation);
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
  p_notification_config       jsonb            DEFAULT NULL::jsonb
)
  RETURNS public.logloom_alert_rule
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl, true);
  end if;
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
      else coalesce(logloom_private.distinct_destinations(p_notification_destinations), '{}')
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    updated_at = now(),
    asked_at = case
      when (r.query_dsl, r.threshold, r.comparison, r.window_minutes) = (
          coalesce(p_query_dsl, r.query_dsl), coalesce(p_threshold, r.threshold),
          coalesce(p_comparison, r.comparison), coalesce(p_window_minutes, r.window_minutes)
        )
        and r.enabled >= coalesce(p_enabled, r.enabled)
        then r.asked_at
      else now()
    end
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  if not found then
    perform logloom_private.refuse_alert_rule();
  end if;
  perform logloom_private.plan_own_alert_rule(v_tenant_id, v_row.rule_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$function$;

ALTER TABLE "logloom_private"."settings"
  ADD CONSTRAINT "settings_notification_open_limit_is_positive" CHECK ((notification_open_limit >= 1));

CREATE INDEX notifications_tenant_id_idx ON logloom_private.notifications USING btree (tenant_id)
  WHERE (claim_id IS NOT NULL);

COMMENT ON COLUMN "logloom"."alert_rules"."asked_at" IS 'Since when it asks what it asks: made, enabled, or given another query, window or condition. Only windows that end later are evaluated.';

COMMENT ON COLUMN "logloom_private"."settings"."dry_runs_kept" IS 'Newest dry runs of delete_logs of a tenant that list_log_retention_runs shows.';

COMMENT ON COLUMN "logloom_private"."settings"."notification_open_limit" IS 'Deliveries under way at once, of all tenants: one tenant has no more of them than stay free.';

COMMENT ON FUNCTION "logloom_private"."claim_due_notifications"(integer) IS 'The notifications that are due, taken for as long as a claim lasts: who has least under way comes first, and of each as many as its plan allows in the hour.';

COMMENT ON FUNCTION "logloom_private"."due_notifications"() IS 'The notifications that are due, and whether they are beyond what their tenant''s plan allows in this hour.';

COMMENT ON FUNCTION "logloom_private"."enroll_member"(text, text, text, text) IS 'Enrolls a user, and in the first place who does so; what public.add_tenant_member answers.';

COMMENT ON FUNCTION "logloom_private"."is_address_of_member"(text, text) IS 'Whether a member of the tenant confirmed this email address to Supabase Auth. What add_tenant_member was given is a label, and proves nothing.';

COMMENT ON FUNCTION "logloom_private"."next_notifications"(integer) IS 'The due notifications whose turn it is, while the service has room for them.';

COMMENT ON FUNCTION "logloom_private"."send_notifications"() IS 'Wakes the edge function logloom-notify when something is due.';

COMMENT ON FUNCTION "public"."claim_alert_notifications"(integer) IS 'What the edge function logloom-notify calls: takes due notifications, p_limit 1 to 100. One that is not settled in time is due again. Errors: PT400.';

COMMENT ON FUNCTION "public"."delete_logs"(text, text, text, boolean) IS 'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to (exclusive), dead letters included. With p_dry_run (default true) nothing is deleted: records says how many match. Else a job deletes what was acknowledged before; list_log_retention_runs tells how far it is. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), PT429 (too many are open, or for a dry run too many searches running).';

COMMENT ON FUNCTION "public"."settle_alert_notification"(uuid, uuid, text, integer, text, integer) IS 'What the edge function logloom-notify calls after an attempt. p_outcome: delivered; retry, which is tried again after a back-off, or p_retry_after seconds where that is longer; failed, which is given up. p_status: HTTP or SMTP status. Errors: PT400.';

COMMENT ON TABLE "logloom_private"."notify_endpoint" IS 'Where the edge function logloom-notify is, and the secret that it knows its caller by.';

REVOKE ALL ON FUNCTION "logloom_private"."due_notifications"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."next_notifications"(integer) FROM PUBLIC;

REVOKE ALL ("asked_at") ON TABLE "logloom"."alert_rules" FROM "authenticated";

GRANT UPDATE ("asked_at") ON TABLE "logloom"."alert_rules" TO "authenticated";

REVOKE ALL ("asked_at") ON TABLE "logloom"."alert_rules" FROM "service_role";

GRANT UPDATE ("asked_at") ON TABLE "logloom"."alert_rules" TO "service_role";

select logloom_private.bring_to_nodes();
