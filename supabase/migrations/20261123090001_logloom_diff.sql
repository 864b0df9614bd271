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

DROP FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp WITH time zone[], timestamp
  WITH time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[]);

DROP FUNCTION "logloom_private"."due_notifications"();

DROP FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request);

ALTER TABLE "logloom_private"."settings"
  ADD COLUMN "notification_open_limit" integer NOT NULL DEFAULT 60;

CREATE OR REPLACE FUNCTION logloom_private.age_reason (
  p_age   interval,
  p_limit interval
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case when p_age > p_limit then format(
    'The oldest queued event is %s s old (limit %s s)', round(extract(epoch from p_age)),
    round(extract(epoch from p_limit), 3)::double precision
  ) end;
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
  v_reason text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select r.window_end into v_window_end from logloom_private.alert_rounds r
  where r.finished_at is not null;
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
  end if;
  return logloom_private.health_grade(null, v_reason) || jsonb_build_object(
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', v_window_end
  );
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

CREATE OR REPLACE FUNCTION logloom_private.bare_record_bytes (
  p_tenant_id   text,
  p_received_at timestamp with time zone
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return octet_length(
    '{"id":"00000000-0000-0000-0000-000000000000","tenant_id":,"ts":,"received_at":,"level":,'
      || '"msg":,"service":,"env":,"req_id":,"user_id":,"route":,"host":,"attrs":}'
  ) + octet_length(to_json(p_tenant_id)::text) + octet_length(to_json(p_received_at)::text);
end;
$function$;

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

CREATE OR REPLACE FUNCTION logloom_private.bytes_of_record (
  p_log logloom.logs
)
  RETURNS integer
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  -- An array of the texts has nine letters of its own.
  return coalesce(
    p_log.record_bytes,
    logloom_private.bare_record_bytes(p_log.tenant_id, p_log.received_at)
      + octet_length(to_json(p_log.ts)::text)
      + octet_length(
        array_to_json(array[
          p_log.level, p_log.msg, p_log.service, p_log.env, p_log.req_id, p_log.user_id,
          p_log.route, p_log.host
        ])::text
      ) - 9
      + coalesce(octet_length(p_log.attrs::text), 4)
  );
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

CREATE OR REPLACE FUNCTION logloom_private.check_query (
  p_query_dsl text,
  p_is_alert  boolean DEFAULT false
)
  RETURNS void
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because no API role calls the compiler's parts
declare
  v_query logloom_private.compiled_query;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(
      coalesce(logloom_private.current_tenant_id(), '')
    );
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.blank then
    perform logloom_private.refuse('saved_searches.query_is_blank');
  end if;
  if not p_is_alert then
    return;
  elsif v_query.plan ? 'first' and (
    (v_query.plan -> 'count')::integer > 1
    or v_query.plan ? 'bucket'
    or jsonb_array_length(v_query.plan -> 'aggregates') is distinct from 1
  ) then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'alerts.query_gives_no_number'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
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

CREATE OR REPLACE FUNCTION logloom_private.compare_chunk (
  p_tenant_id    text,
  p_chunk_id     bigint,
  p_ts           timestamp with time zone[],
  p_received_at  timestamp with time zone[],
  p_arrivals     bigint[],
  p_ids          uuid[],
  p_levels       text[],
  p_messages     text[],
  p_services     text[],
  p_env          text[],
  p_req_id       text[],
  p_user_id      text[],
  p_route        text[],
  p_host         text[],
  p_attrs        jsonb[],
  p_record_bytes integer[]
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_chunk logloom_private.sealed_chunks;
  v_batches integer[];
  v_batch_received_at timestamptz[];
  v_batch_arrivals bigint[];
  v_attrs text[];
  v_same boolean;
begin
  select c.* into v_chunk
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = p_chunk_id;
  v_batches := logloom_private.chunk_batches(v_chunk, null);
  v_batch_received_at := v_chunk.batch_received_at;
  v_batch_arrivals := v_chunk.batch_arrivals;
  v_attrs := logloom_private.attribute_texts(v_chunk, null, null);
  v_same := logloom_private.chunk_times(v_chunk, null) = p_ts
    and array(select v_batch_received_at[unnest(v_batches)]) = p_received_at
    and array(select v_batch_arrivals[unnest(v_batches)]) = p_arrivals
    and logloom_private.chunk_ids(v_chunk, null, v_batches) = p_ids
    and logloom_private.section_texts(v_chunk, v_chunk.section_services) = p_services
    and logloom_private.section_texts(v_chunk, v_chunk.section_levels) = p_levels
    and logloom_private.chunk_messages(v_chunk, null) = p_messages
    and logloom_private.chunk_field(v_chunk, 'env') = p_env
    and logloom_private.chunk_field(v_chunk, 'req_id') = p_req_id
    and logloom_private.chunk_field(v_chunk, 'user_id') = p_user_id
    and logloom_private.chunk_field(v_chunk, 'route') = p_route
    and logloom_private.chunk_field(v_chunk, 'host') = p_host
    and logloom_private.chunk_field(v_chunk, 'record_bytes')::integer[] = p_record_bytes
    -- The texts of attrs, since 1.0 equals 1. Rare keys are read to be in order.
    and (
      v_attrs = p_attrs::text[]
      or v_attrs::jsonb[]::text[] = p_attrs::text[]
    );
  if v_same is not true then
    raise sqlstate 'LL001' using
      message = format('Chunk %s differs from its records', p_chunk_id);
  end if;
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

CREATE OR REPLACE FUNCTION logloom_private.encode_chunk (
  p_tenant_id text,
  p_with      text,
  p_removes   boolean DEFAULT false
)
  RETURNS bigint
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '48MB'
  SET "TimeZone" TO 'UTC'
  AS $function$
declare
  v_chunk logloom_private.sealed_chunks;
  v_encoded record;
  v_removed integer;
  v_order integer[];
  v_ts timestamptz[];
  v_received_at timestamptz[];
  v_arrivals bigint[];
  v_ids uuid[];
  v_levels text[];
  v_messages text[];
  v_services text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_attrs jsonb[];
  v_record_bytes integer[];
begin
  execute format(
    $query$
      with %s
      select
        count(*), min(r.ts), max(r.ts), min(r.arrival), max(r.arrival), %s,
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.arrival), array_agg(r.id),
        array_agg(r.level), array_agg(r.msg), array_agg(r.service), array_agg(r.env),
        array_agg(r.req_id), array_agg(r.user_id), array_agg(r.route), array_agg(r.host),
        array_agg(r.attrs), array_agg(r.record_bytes)
      from (select s.* from s order by s.ts, s.id) r
    $query$,
    p_with, case when p_removes then '(select count(*) from removed)' else 'count(*)' end
  )
  into
    v_chunk.records, v_chunk.first_ts, v_chunk.last_ts, v_chunk.first_arrival,
    v_chunk.last_arrival, v_removed, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes;
  if v_removed <> v_chunk.records then
    raise sqlstate 'LL001' using
      message = format('%s records are read, and %s removed', v_chunk.records, v_removed);
  elsif v_chunk.records = 0 then
    return null;
  end if;
  v_chunk.chunk_id := nextval(pg_get_serial_sequence('logloom_private.sealed_chunks', 'chunk_id'));
  v_chunk.tenant_id := p_tenant_id;
  v_chunk.sealed_at := clock_timestamp();
  v_chunk.bytes := 0;
  select e.* into v_encoded
  from logloom_private.encode_messages(v_chunk, v_services, v_levels, v_messages) e;
  v_chunk := v_encoded.o_chunk;
  v_order := v_encoded.o_order;
  v_ts := logloom_private.elements_at(v_ts, v_order);
  v_received_at := logloom_private.elements_at(v_received_at, v_order);
  v_arrivals := logloom_private.elements_at(v_arrivals, v_order);
  v_ids := logloom_private.elements_at(v_ids, v_order);
  v_levels := logloom_private.elements_at(v_levels, v_order);
  v_messages := logloom_private.elements_at(v_messages, v_order);
  v_services := logloom_private.elements_at(v_services, v_order);
  v_env := logloom_private.elements_at(v_env, v_order);
  v_req_id := logloom_private.elements_at(v_req_id, v_order);
  v_user_id := logloom_private.elements_at(v_user_id, v_order);
  v_route := logloom_private.elements_at(v_route, v_order);
  v_host := logloom_private.elements_at(v_host, v_order);
  v_attrs := logloom_private.elements_at(v_attrs, v_order);
  v_record_bytes := logloom_private.elements_at(v_record_bytes, v_order);
  v_chunk := logloom_private.encode_times(v_chunk, v_ts);
  v_chunk := logloom_private.encode_ids(v_chunk, v_ids, v_received_at, v_arrivals);
  insert into logloom_private.sealed_chunks overriding system value select v_chunk.*;

  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'env', 1, v_env);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'req_id', 1, v_req_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'user_id', 1, v_user_id);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'route', 1, v_route);
  perform logloom_private.store_column(p_tenant_id, v_chunk.chunk_id, 'host', 1, v_host);
  perform logloom_private.store_column(
    p_tenant_id, v_chunk.chunk_id, 'record_bytes', 1, v_record_bytes::text[]
  );
  perform logloom_private.store_attributes(p_tenant_id, v_chunk.chunk_id, v_attrs);

  -- Measured first: an update of a table that is spread over nodes takes no such function.
  select
    pg_column_size(c.*) + (
      select coalesce(sum(pg_column_size(k.*)), 0)
      from logloom_private.sealed_columns k
      where k.tenant_id = p_tenant_id and k.chunk_id = v_chunk.chunk_id
    )
  into v_chunk.bytes
  from logloom_private.sealed_chunks c
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  update logloom_private.sealed_chunks c
  set bytes = v_chunk.bytes
  where c.tenant_id = p_tenant_id and c.chunk_id = v_chunk.chunk_id;
  -- Each record once, and read back as every reader does.
  if (select count(distinct o.place) from (select unnest(v_order) as place) o) <> v_chunk.records
  then
    raise sqlstate 'LL001' using
      message = format('Chunk %s has records twice', v_chunk.chunk_id);
  end if;
  perform logloom_private.compare_chunk(
    p_tenant_id, v_chunk.chunk_id, v_ts, v_received_at, v_arrivals, v_ids, v_levels, v_messages,
    v_services, v_env, v_req_id, v_user_id, v_route, v_host, v_attrs, v_record_bytes
  );
  return v_chunk.chunk_id;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.enqueue (
  p_tenant_id    text,
  p_key_id       uuid,
  p_request      logloom_private.ingest_request,
  p_received_at  timestamp with time zone,
  p_record_bytes integer[]
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_ts_min timestamptz;
  v_ts_max timestamptz;
begin
  -- Shared with other enqueues, exclusive in the flip: once a slot is closed, no transaction that
  -- writes to it is still in flight. The pointer is read after the lock, by a later snapshot.
  perform pg_advisory_xact_lock_shared(logloom_private.lock_key('queue'));
  select min(coalesce(e.ts, p_received_at)), max(coalesce(e.ts, p_received_at))
  into v_ts_min, v_ts_max
  from unnest(p_request.p_ts) e (ts);

  insert into logloom_private.queue (
    slot, batch_id, batch_key, tenant_id, key_id, received_at, events, bytes, ts_min, ts_max,
    ts, level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
  )
  select
    p.open_slot, nextval('logloom_private.queue_batch_id'), logloom_private.batch_key(
      p_received_at
    ),
    p_tenant_id, p_key_id, p_received_at, cardinality(p_request.p_ts),
    coalesce(p_request.p_bytes, 0), v_ts_min, v_ts_max,
    p_request.p_ts, p_request.p_level, p_request.p_msg, p_request.p_service, p_request.p_env,
    p_request.p_req_id, p_request.p_user_id, p_request.p_route, p_request.p_host,
    p_request.p_attrs, p_record_bytes
  from logloom_private.queue_pointer p;
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

CREATE OR REPLACE FUNCTION logloom_private.health_grade (
  p_unhealthy text,
  p_degraded  text
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return jsonb_strip_nulls(
    jsonb_build_object(
      'status', logloom_private.health_word(p_unhealthy is not null, p_degraded is not null),
      'reason', nullif(concat_ws('; ', p_unhealthy, p_degraded), '')
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.ingest (
  p_request logloom_private.ingest_request,
  p_state   logloom_private.ingest_state
)
  RETURNS logloom_private.ingest_answer
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_key constant text := p_request.p_idempotency_key;
  v_body_digest constant bytea := decode(p_request.p_body_digest, 'hex');
  v_plan constant logloom.plans := p_state.plan;
  v_has_rate constant boolean :=
    v_plan.events_per_second is not null or v_plan.requests_per_second is not null;
  v_answer logloom_private.ingest_answer;
  v_earlier_answer json;
  -- Within the timeout of the call, as the watermark wants it.
  v_received_at constant timestamptz := clock_timestamp();
  v_record_bytes integer[];
begin
  if p_request.p_ts is null then
    return row(
      json_build_object('authenticated', true), logloom_private.quota_headers(p_state, 0), 0
    );
  end if;
  if v_has_rate then
    perform logloom_private.check_rate(p_state);
  end if;
  if cardinality(p_request.p_ts) > p_state.batch_max_events
    or p_request.p_bytes > p_state.batch_max_bytes
  then
    perform logloom_private.refuse(
      'ingest.request_is_too_large',
      p_state.batch_max_events::text,
      p_state.batch_max_bytes::text
    );
  end if;
  if p_state.keeps_from > any (p_request.p_ts) or p_state.takes_to < any (p_request.p_ts) then
    p_request := logloom_private.reject_events_out_of_range(p_request, p_state);
  end if;
  v_answer.ingested := coalesce(cardinality(p_request.p_ts), 0);
  v_answer.headers := logloom_private.quota_headers(p_state, v_answer.ingested);
  v_answer.body := logloom_private.accepted_answer(
    v_answer.ingested, coalesce(p_request.p_rejected, 0), p_request.p_errors
  );

  -- A repeat gets the first answer, also once a limit is reached.
  if v_key is not null then
    v_earlier_answer := logloom_private.repeated_answer(
      p_state, v_key, v_body_digest, p_request.p_slice
    );
    if v_earlier_answer is not null then
      return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
    end if;
  end if;
  if v_answer.ingested > 0 then
    v_record_bytes := logloom_private.measured_records(
      p_state.tenant_id, v_received_at, p_request
    );
    perform logloom_private.check_quota(p_state);
    if p_state.queue_is_full then
      perform logloom_private.refuse_full_queue(p_state);
    end if;
    if not p_state.is_provisioned then
      perform logloom_private.provision_tenant(p_state.tenant_id);
    end if;
    -- Where nothing is stored, a repeat stores nothing either: every row kept costs the tenant an
    -- event of its plan.
    if v_key is not null then
      v_earlier_answer := logloom_private.note_answer(
        p_state, v_key, v_body_digest, p_request.p_slice, v_answer.body
      );
      if v_earlier_answer is not null then
        return row(v_earlier_answer, logloom_private.quota_headers(p_state, 0), 0);
      end if;
    end if;
  end if;
  if v_has_rate then
    v_answer.headers := v_answer.headers || logloom_private.take_rate(p_state, v_answer.ingested);
  end if;
  if v_answer.ingested > 0 then
    perform logloom_private.enqueue(
      p_state.tenant_id, p_state.key_id, p_request, v_received_at, v_record_bytes
    );
  end if;
  return v_answer;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.insert_records (
  p_slot       smallint,
  p_batch_from bigint,
  p_batch_to   bigint,
  p_index_from integer,
  p_index_to   integer,
  p_arrival    bigint
)
  RETURNS void
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET work_mem TO '64MB'
  AS $function$
declare
  v_slot constant text := 'queue_slot_' || p_slot;
begin
  -- Tenant by tenant, which packs the pages of the primary key, in the order that is cheapest to
  -- make; cast, so that what breaks a rule fails here.
  if not logloom_private.is_spread() then
    execute logloom_private.added_records_sql(format(
      $query$
        insert into logloom.logs as l (
          id, tenant_id, ts, received_at, arrival,
          level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
        )
        select
          (q.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
          q.tenant_id, coalesce(e.ts, q.received_at) as ts, q.received_at, $5,
          e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
          e.route, e.host, e.attrs::logloom_private.log_attrs, e.record_bytes
        from (
          -- Made once a batch, not once an event: that is what offset 0 is for.
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          offset 0
        ) q,
          unnest(
            q.ts, q.level, q.msg, q.service, q.env, q.req_id, q.user_id, q.route, q.host, q.attrs,
            q.record_bytes
          ) with ordinality e (
            ts, level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes, i
          )
        where e.i between $3 and $4
        order by q.tenant_id collate "C", ts
      $query$,
      v_slot
    ))
    using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
    return;
  end if;
  -- One connection a node, not one a shard: each run's are new, and cost more than they save.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  -- The records first: what Citus copies over a connection that has only read before, it does not
  -- prepare, and a node that is killed while it is told of the commit would lose it. Batches are
  -- put in order, and each event goes straight from its batch to its node, unless the events of
  -- several batches mix: what a search reads in order shall lie in order, page after page.
  execute format(
    $query$
      insert into logloom.logs (
        id, tenant_id, ts, received_at, arrival,
        level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
      )
      select
        (e.id_prefix || lpad(to_hex(e.i - 1), 4, '0'))::uuid,
        e.tenant_id, coalesce(e.ts, e.received_at), e.received_at, $5,
        e.level::logloom_private.log_level, e.msg, e.service, e.env, e.req_id, e.user_id,
        e.route, e.host, e.attrs::logloom_private.log_attrs, e.record_bytes
      from (
        select
          q.id_prefix, q.tenant_id, q.received_at, generate_series(1, cardinality(q.ts)) as i,
          unnest(q.ts) as ts, unnest(q.level) as level, unnest(q.msg) as msg,
          unnest(q.service) as service, unnest(q.env) as env, unnest(q.req_id) as req_id,
          unnest(q.user_id) as user_id, unnest(q.route) as route, unnest(q.host) as host,
          unnest(q.attrs) as attrs, unnest(q.record_bytes) as record_bytes
        from (
          select b.*, left(b.batch_key::text, 32) as id_prefix
          from logloom_private.%I b
          where b.batch_id between $1 and $2
          order by b.tenant_id collate "C", b.ts_min
          offset 0
        ) q
      ) e
      where e.i between $3 and $4
      %s
    $query$,
    v_slot,
    case
      when logloom_private.has_batches_that_overlap(p_slot, p_batch_from, p_batch_to)
        then 'order by e.tenant_id collate "C", coalesce(e.ts, e.received_at)'
      else ''
    end
  )
  using p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival;
  perform logloom_private.note_spread_range(
    p_slot, p_batch_from, p_batch_to, p_index_from, p_index_to, p_arrival
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.job_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select jsonb_object_agg(
      g.job,
      logloom_private.health_grade(
        null,
        nullif(
          concat_ws(
            '; ',
            case when g.silence > g.bound then
              logloom_private.silence_reason('No run of the job', g.silence, g.bound)
            end,
            case when g.failing then format('%s runs failed in a row', g.failures) end
          ),
          ''
        )
      ) || jsonb_build_object(
        'last_success', g.last_succeeded_at,
        'last_failure', g.last_failed_at,
        'failures', g.failures,
        'error_code', g.error_code
      )
    )
    from (
      select
        l.job, h.last_succeeded_at, h.last_failed_at, coalesce(h.failures, 0) as failures,
        logloom_private.silence_since(
          coalesce(h.last_succeeded_at, l.watched_since), p_now
        ) as silence,
        l.silence as bound,
        coalesce(h.failures >= l.failures, false) as failing,
        -- Never the message: it may have a tenant's words, and health is open to all.
        case when h.failures > 0 then substring(h.last_error from '^[0-9A-Z]{5}') end as error_code
      from logloom_private.job_limits l
      left join logloom_private.job_heartbeats h on h.job = l.job
    ) g
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.measured_records (
  p_tenant_id   text,
  p_received_at timestamp with time zone,
  p_request     logloom_private.ingest_request
)
  RETURNS integer[]
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET "DateStyle" TO 'ISO'
  AS $function$
declare
  v_received_at constant integer := octet_length(to_json(p_received_at)::text);
  -- An array of the texts has nine letters of its own.
  v_bare constant integer :=
    logloom_private.bare_record_bytes(p_tenant_id, p_received_at) - 9;
begin
  return array(
    select
      v_bare
        -- As JSON it has two quotes and minutes of the zone: the text alone is made in a third.
        + coalesce(octet_length(e.ts::text) + 5, v_received_at)
        + octet_length(
          array_to_json(array[
            e.level, e.msg, e.service, e.env, e.req_id, e.user_id, e.route, e.host
          ])::text
        )
        + coalesce(octet_length(e.attrs::text), 4)
    from (
      select
        unnest(p_request.p_ts) as ts, unnest(p_request.p_level) as level,
        unnest(p_request.p_msg) as msg, unnest(p_request.p_service) as service,
        unnest(p_request.p_env) as env, unnest(p_request.p_req_id) as req_id,
        unnest(p_request.p_user_id) as user_id, unnest(p_request.p_route) as route,
        unnest(p_request.p_host) as host, unnest(p_request.p_attrs) as attrs
    ) e
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.members_of (
  p_object  jsonb,
  p_members text[]
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return (
    select jsonb_object_agg(m.key, m.value)
    from jsonb_each(p_object) m
    where m.key = any(p_members)
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.my_stored (
  p_tenant_id text
)
  RETURNS public.logloom_stored
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles read neither chunks nor counts
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_sealed bigint;
begin
  select coalesce(sum(c.bytes), 0) into v_sealed
  from logloom_private.sealed_chunks c
  where c.tenant_id = v_tenant_id;
  return row(v_sealed, logloom_private.hot_bytes(v_tenant_id))::public.logloom_stored;
exception
when query_canceled or connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.my_stored(p_tenant_id);
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
      'Claim again for more.',
      '`claim_alert_notifications`, which only the function `logloom-notify` calls.'),
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

CREATE OR REPLACE FUNCTION logloom_private.pre_request_health()
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_function constant text := (logloom_private.pre_request_setting()).function;
  v_is_called boolean;
begin
  -- Ours itself, or a function of the project that calls ours.
  v_is_called := v_function = 'logloom_private.check_request' or exists (
    select
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    where p.proname = substr(v_function, strpos(v_function, '.') + 1)
      and (strpos(v_function, '.') = 0 or n.nspname = split_part(v_function, '.', 1))
      and strpos(p.prosrc, 'logloom_private.check_request') > 0
  );
  return logloom_private.health_grade(
    null,
    case when not v_is_called then
      'PostgREST does not call logloom_private.check_request: '
        'logloom_private.adopt_pre_request() mends it'
    end
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_errors()
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
    ('query.minus_negates_nothing', 400, '- negates a term that follows at once',
      'Write -term, or "-" for the character itself.', null),
    ('query.backslash_escapes_nothing', 400, 'A backslash has nothing to escape',
      'Write \\ for the character itself.', null),
    ('query.bound_is_missing', 400, 'A bound of a range is missing',
      'Write [a TO b] or {a TO b}; a * alone leaves a bound open.', null),
    ('query.bracket_closes_nothing', 400, 'A closing bracket closes nothing',
      'Take it away, or quote it to search for it.', null),
    ('query.bracket_is_not_closed', 400, 'A closing bracket is missing',
      'Close the bracket that position %s opens.', null),
    ('query.colon_is_missing', 400, 'A colon is missing after an attribute',
      'Write @"name":value without white space.', null),
    ('query.wildcard_in_comparison', 400, 'A comparison takes no wildcard',
      'Quote the text, or leave the bound open with a * alone.', null),
    ('query.field_is_missing', 400, 'A field is missing before the colon',
      'Write field:value without white space around the colon, or quote the text.', null),
    ('query.number_is_out_of_range', 400, 'A number is out of range',
      'Exponents reach from -400 to 400.', null),
    ('query.quote_is_not_closed', 400, 'A quoted text is not closed',
      'End it with ", or write \" for the character itself.', null),
    ('query.quoted_text_is_empty', 400, 'A quoted text to search for is empty',
      'Write a text, or field:"" for an empty field.', null),
    ('query.range_is_not_closed', 400, 'A range is not closed',
      'End it with ] (inclusive) or } (exclusive).', null),
    ('query.regex_is_not_quoted', 400, 'A regular expression is quoted',
      'Write ~"regex", or \~ for the character itself.', null),
    ('query.shift_is_too_long', 400, 'A shift from now is longer than 100 years',
      'Write a shorter one, such as now-15m.', null),
    ('query.term_is_missing_at_the_end', 400, 'A term is missing at the end',
      'AND, OR and NOT stand between terms and brackets hold terms; quote the text to search '
        'for it.', null),
    ('query.term_is_missing', 400, 'A term is missing before %s',
      'AND, OR and NOT stand between terms and brackets hold terms; quote the text to search '
        'for it.', null),
    ('query.value_is_missing_in_a_list', 400, 'A value is missing',
      'Write field:(a OR b), values only, and close the bracket.', null),
    ('query.comparison_needs_a_value', 400, 'A value is missing after %s',
      'Write a number, a time or a word after it.', null),
    ('query.test_needs_a_value', 400, 'A value is missing after %s',
      'Write a word or a quoted text after it; "" is the empty text.', null),
    ('query.value_is_missing', 400, 'A value is missing after %s',
      'Write field:value without white space around the colon; field:"" finds the empty text.',
      null),
    ('query.not_a_number', 400, 'An attribute is compared with a number, and this is none: %s',
      'Write a number such as -5, 0.5 or 1e3, or a quantity such as 1.5s or 10MiB, without '
        'quotes.', null),
    ('query.nested_too_deep', 400, 'Brackets and NOTs nest deeper than 16',
      'Take away brackets that group nothing.', null),
    ('query.not_a_uuid', 400, 'Not a UUID: %s', 'id takes a whole UUID, or * for any.', null),
    ('query.not_a_time', 400, 'Not a time: %s',
      'Write 2026-11-21, 2026-11-21T10:00:00Z, now, now-15m or -15m (s, m, h, d or w).', null),
    ('query.to_is_missing', 400, 'TO is missing in a range',
      'Write [a TO b] or {a TO b}, TO in upper case.', null),
    ('query.path_is_malformed', 400, 'The path of an attribute is malformed',
      'Separate segments by one dot. A segment of other characters than letters, digits, _ and '
        '- is quoted: @"a b".c', null),
    ('query.too_many_terms', 400, 'The query has more than 64 terms',
      'Leave terms out, or join texts by wildcards or a regex.',
      'Each term of a list of values counts.'),
    ('query.too_long', 400, 'The query is longer than 2048 bytes',
      'Shorten it, or narrow the time range instead of naming more terms.', null),
    ('query.field_is_unknown', 400, 'Unknown field %s',
      '%2$sQuote a text that holds a colon. The fields are ts, received_at, id, level, msg, '
        'service, env, req_id, user_id, route, host, any and attrs.',
      'The hint names a field that is written alike.'),
    ('query.level_is_unknown', 400, 'Unknown level %s',
      'A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.', null),
    ('query.white_space_is_missing', 400, 'White space is missing before %s',
      'Separate two terms by a space, or quote the whole text and write \" for a quote in it.',
      null),
    ('query.comparison_needs_a_colon', 400, 'White space is missing before %s',
      'A comparison is written with a colon: %2$s', null),
    ('query.attribute_is_missing', 400, 'attrs needs the name of an attribute',
      'Write @name or attrs.name, such as @status.', null),
    ('query.id_is_not_compared', 400, '%s cannot be compared',
      'id takes a whole UUID, or * for any.', null),
    ('query.text_is_not_compared', 400, '%s cannot be compared',
      'Search %s for a text, a "quoted phrase" or a ~"regex".', null),
    ('query.word_is_not_for_lists', 400, '%s cannot stand in a list of values',
      'The values of field:(a OR b) are joined by OR; quote the word to search for it.', null),
    ('query.operator_is_for_values', 400, '%s stands at the start of a value only',
      'Write field:>5, or quote the text.', null),
    ('query.bracket_is_for_ranges', 400, '%s stands in a range of a field only',
      'Write field:[a TO b], or quote the text. {app="x"} of other languages is service:x here.',
      null),
    ('query.id_takes_no_regex', 400, '%s takes no regular expression',
      'id takes a whole UUID, or * for any.', null),
    ('query.time_takes_no_regex', 400, '%s takes no regular expression',
      'Write a time or a range of times, such as ts:>now-15m.', null),
    ('query.units_differ', 400, 'The bounds of a range have different units',
      'Write two numbers, two durations or two sizes.', null),
    ('query.any_takes_a_text', 400, 'any takes a text only',
      'Write any:"text", any:=exactly, any:i=exactly, any:w=word or any:~"regex".', null),
    ('query.not_a_network', 400, 'Not a network: %s',
      'Write address/bits, such as 10.0.0.0/8, or quote it to compare the text.', null),
    ('query.takes_no_test', 400, '%s takes no %s', 'Write %s:value. %s is for texts.', null),
    ('query.word_is_empty', 400, 'A word to look for is empty',
      'Write msg:w=error or msg:w="out of memory".', null),
    ('query.too_many_steps', 400,
      'The query is too complex: it takes more than 20000 steps to compile',
      'Leave terms or regular expressions out.', null),
    ('query.searched_texts_are_too_long', 400,
      'The query is too complex: the texts that it looks for inside others have together more '
        'than 512 characters', 'Shorten them: the beginning of a long message finds it too.', null),
    ('query.means_something_else', 400, 'Invalid p_query_dsl: %s',
      'Write %2$s, or quote the text if that is what is looked for.',
      'An alert rule, its preview, `delete_logs` and its dry run: the query has one of the '
        '`warnings` of a search.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.query_parse_free (
  p_state logloom_private.query_state
)
  RETURNS logloom_private.query_state
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  p_state := logloom_private.query_count_leaf(p_state, p_state.positions[p_state."at"]);
  p_state := logloom_private.query_spend(p_state, 1);
  p_state := logloom_private.query_warn_free(p_state);
  if p_state.texts[p_state."at"] = '*' then
    -- Every record, also one without a message, so the counts answer it as they do the empty filter.
    p_state.node := '{"type": "all"}';
  else
    p_state := logloom_private.query_check_term(
      p_state, '{"field": "msg", "name": "msg"}',
      p_state.texts[p_state."at"], p_state.positions[p_state."at"]
    );
  end if;
  return logloom_private.query_go_on(p_state);
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
  v_settings logloom_private.settings;
  v_queue logloom_private.queue_state;
  v_writer logloom_private.job_heartbeats;
  v_now timestamptz;
  v_today constant date := logloom_private.utc_day(now());
  v_queue_age interval;
  v_silence interval;
  v_current_exists constant boolean := logloom_private.partition_exists(v_today);
  v_next_exists constant boolean := logloom_private.partition_exists(v_today + 1);
  v_dead_letters bigint;
  v_queue_grade jsonb;
  v_writer_grade jsonb;
  v_partitions_grade jsonb;
  v_installation jsonb;
  v_alerts jsonb;
  v_jobs jsonb;
  v_sealing jsonb;
  v_pre_request constant jsonb := logloom_private.pre_request_health();
  v_is_restored constant boolean := logloom_private.is_restored();
begin
  select s.* into v_settings from logloom_private.settings s;
  v_queue := logloom_private.queue_state();
  select count(*) into v_dead_letters from logloom_private.dead_letters;
  -- What ingest ran in its stead counts as well.
  select h.* into v_writer
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer')
  order by h.last_succeeded_at <= clock_timestamp() desc nulls last, h.last_succeeded_at desc
  limit 1;
  -- After what it is compared with was read, so that no age is negative.
  v_now := clock_timestamp();
  v_queue_age := v_now - v_queue.oldest_received_at;
  -- A writer that never ran counts as silent since for ever.
  v_silence := logloom_private.silence_since(v_writer.last_succeeded_at, v_now);

  v_queue_grade := logloom_private.health_grade(
    logloom_private.age_reason(v_queue_age, v_settings.queue_unhealthy_age),
    nullif(
      concat_ws(
        '; ',
        case when v_queue_age <= v_settings.queue_unhealthy_age then
          logloom_private.age_reason(v_queue_age, v_settings.queue_degraded_age)
        end,
        case when v_queue.depth > v_settings.queue_degraded_events then format(
          '%s events are queued (limit %s)', v_queue.depth, v_settings.queue_degraded_events
        ) end
      ),
      ''
    )
  );
  v_writer_grade := logloom_private.health_grade(
    case when v_silence >= v_settings.writer_unhealthy_silence then
      logloom_private.silence_reason(
        'No run of the writer', v_silence, v_settings.writer_unhealthy_silence
      )
    end,
    case
      when v_silence >= v_settings.writer_degraded_silence
        and v_silence < v_settings.writer_unhealthy_silence
        then logloom_private.silence_reason(
          'No run of the writer', v_silence, v_settings.writer_degraded_silence
        )
    end
  );
  v_partitions_grade := logloom_private.health_grade(
    case when not v_current_exists then 'The partition of today is missing' end,
    case when not v_next_exists then 'The partition of tomorrow is missing' end
  );
  v_installation := logloom_private.health_grade(
    case when v_is_restored then
      'Restored from a dump and not repaired: see Backup and restore in docs/operations.md'
    end,
    null
  );
  v_alerts := logloom_private.alert_health(
    v_now, logloom_private.watermark(v_queue.oldest_received_at)
  );

  v_jobs := logloom_private.job_health(v_now);
  v_sealing := logloom_private.sealing_health(v_now);

  return logloom_private.with_health_endpoints(jsonb_build_object(
    'status', logloom_private.health_word(
      v_is_restored or 'unhealthy' in (
        v_queue_grade ->> 'status', v_writer_grade ->> 'status', v_partitions_grade ->> 'status'
      ),
      'degraded' in (
        v_queue_grade ->> 'status', v_writer_grade ->> 'status', v_partitions_grade ->> 'status',
        v_alerts ->> 'status', v_pre_request ->> 'status', v_sealing ->> 'status',
        case when exists (
          select from jsonb_each(v_jobs) j where j.value ->> 'status' = 'degraded'
        ) then 'degraded' end
      )
    ),
    'timestamp', v_now,
    'checks', jsonb_build_object(
      'queue', v_queue_grade || jsonb_build_object(
        'depth', v_queue.depth,
        'oldest_item_age_seconds', coalesce(round(extract(epoch from v_queue_age), 3), 0),
        'dead_letters', v_dead_letters
      ),
      'writer', v_writer_grade || jsonb_build_object(
        'last_run', v_writer.last_succeeded_at,
        'last_duration_ms', round(v_writer.last_duration_ms::numeric, 3),
        'seconds_since_run', case
          when isfinite(v_silence) then round(extract(epoch from v_silence), 3)
        end
      ),
      'partitions', v_partitions_grade || jsonb_build_object(
        'current_partition', logloom_private.partition_name(v_today),
        'current_exists', v_current_exists,
        'next_partition', logloom_private.partition_name(v_today + 1),
        'next_exists', v_next_exists
      ),
      'alerts', v_alerts,
      'sealing', v_sealing,
      'pre_request', v_pre_request,
      'installation', v_installation || jsonb_build_object(
        'state', case when v_is_restored then 'restored, not repaired' else 'installed' end
      ),
      'jobs', v_jobs
    )
  ));
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log (
  p_id uuid,
  p_ts timestamp with time zone
)
  RETURNS public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_received_at timestamptz;
  v_window tstzrange;
  v_windows tstzrange[] := '{}';
  v_log public.logloom_log_record;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.require_parameter('p_id', p_id is null);
  -- Around it: a client's clock may hold less than microseconds.
  if p_ts between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || tstzrange(p_ts - interval '1 second', p_ts + interval '1 second');
  end if;
  -- The id says when the event was received, and most events are received when they happen.
  v_received_at := logloom_private.from_microseconds(
    1000 * ('x' || left(replace(p_id::text, '-', ''), 12))::bit(48)::bigint
  );
  if v_received_at between '1970-01-03T00:00:00Z' and '9999-12-29T00:00:00Z' then
    v_windows := v_windows || array[
      tstzrange(v_received_at - interval '5 minutes', v_received_at + interval '5 minutes'),
      tstzrange(v_received_at - interval '1 day', v_received_at + interval '1 day')
    ];
  end if;
  foreach v_window in array v_windows loop
    v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, true, true);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  -- Then all that is sealed, of which the chunks know the ids, and the days of rows, newest first.
  v_window := tstzrange(logloom_private.kept_from(v_tenant_id), 'infinity');
  v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, false, true);
  if v_log.id is not null then
    return v_log;
  end if;
  foreach v_window in array logloom_private.search_parts(
    v_tenant_id, lower(v_window), upper(v_window), 'desc'
  )
  loop
    v_log := logloom_private.log_within(v_tenant_id, v_window, p_id, true, false);
    if v_log.id is not null then
      return v_log;
    end if;
  end loop;
  perform logloom_private.refuse('search.log_not_found');
  return null;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log(p_id, p_ts);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_context (
  p_id     uuid,
  p_ts     timestamp with time zone,
  p_before integer,
  p_after  integer
)
  RETURNS SETOF public.logloom_log_record
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because nobody but the search functions makes SQL over records
declare
  v_log public.logloom_log_record;
  v_before constant integer := coalesce(p_before, 20);
  v_after constant integer := coalesce(p_after, 20);
  v_max constant integer := (select s.list_limit_max from logloom_private.settings s) / 2 - 1;
begin
  if v_before not between 0 and v_max or v_after not between 0 and v_max then
    perform logloom_private.refuse('search.context_is_out_of_range', v_max::text);
  end if;
  v_log := logloom_private.read_log(p_id, p_ts);
  return query
  select b.*
  from unnest(
    logloom_private.log_neighbours(v_log, v_before, 'desc')
      || v_log
      || logloom_private.log_neighbours(v_log, v_after, 'asc')
  ) b
  order by b.ts, b.id;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return query select r.* from logloom_private.read_log_context(p_id, p_ts, p_before, p_after) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_fields (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone
)
  RETURNS SETOF public.logloom_log_field
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET work_mem TO '16MB'
  AS $function$
-- definer because nobody but this file makes SQL over records
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  return query execute logloom_private.log_fields_sql(v_tenant_id, v_query, v_range);
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return query select r.* from logloom_private.read_log_fields(p_query_dsl, p_ts_from, p_ts_to) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_histogram (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_buckets   integer
)
  RETURNS public.logloom_log_histogram
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_seconds bigint;
  v_total bigint;
  v_buckets public.logloom_log_bucket[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_seconds := logloom_private.histogram_seconds(
    v_range, logloom_private.require_buckets(p_buckets)
  );
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  execute 'select array('
    || logloom_private.log_histogram_sql(v_tenant_id, v_query, v_range, v_seconds) || ')'
  into v_buckets;
  select sum(b.count) into v_total from unnest(v_buckets) b;
  return row(v_seconds, v_total, v_buckets)::public.logloom_log_histogram;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_histogram(p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_page (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer,
  p_cursor    text,
  p_order     text
)
  RETURNS public.logloom_log_page
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit integer := logloom_private.page_limit(p_limit);
  v_order text := coalesce(p_order, 'desc');
  v_now timestamptz := now();
  v_from timestamptz := p_ts_from;
  v_to timestamptz := p_ts_to;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_left integer;
  v_after text[];
  v_page logloom_private.found_page;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if v_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
        || ' (\d{1,18}) (\d{1,18}) (\d{1,18})(?: (\d{1,6}))?$'
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_from := coalesce(v_from, logloom_private.from_microseconds(v_after[4]::bigint));
    v_to := coalesce(v_to, logloom_private.from_microseconds(v_after[5]::bigint));
    v_now := logloom_private.from_microseconds(v_after[6]::bigint);
  end if;
  v_range := logloom_private.search_range(v_from, v_to);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'records');
  v_order := logloom_private.page_order(v_query.plan, p_order);
  if v_after[1] <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  -- What limit leaves to this page and those after it.
  v_left := coalesce(v_after[7]::integer, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := (select s.list_limit_max from logloom_private.settings s);
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order,
    logloom_private.from_microseconds(v_after[2]::bigint), v_after[3]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(array[
      'page', v_order, logloom_private.to_microseconds(v_page.last_ts)::text,
      v_page.last_id::text, logloom_private.to_microseconds(lower(v_range))::text,
      logloom_private.to_microseconds(upper(v_range))::text,
      logloom_private.to_microseconds(v_now)::text, v_left::text
    ]);
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_page;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_page(
    p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_series (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_buckets   integer
)
  RETURNS public.logloom_log_series_answer
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
  v_buckets integer;
  v_seconds bigint;
  v_groups jsonb := '[[]]';
  v_series public.logloom_log_series[];
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_buckets := logloom_private.require_buckets(p_buckets);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'series');
  v_seconds := coalesce(
    (v_query.plan -> 'bucket')::bigint, logloom_private.histogram_seconds(v_range, v_buckets)
  );
  if extract(epoch from upper(v_range) - lower(v_range)) / v_seconds
    > (select s.search_buckets_max from logloom_private.settings s)
  then
    perform logloom_private.refuse_stage_bound(
      'by', (select s.search_buckets_max from logloom_private.settings s), 'buckets'
    );
  end if;
  if cardinality(v_query.by_sql) > 0 then
    v_groups := logloom_private.largest_groups(v_tenant_id, v_query, v_range);
  end if;
  execute 'with found (ts, series, value) as materialized ('
    || logloom_private.log_series_sql(v_tenant_id, v_query, v_range, v_seconds, v_groups)
    || ') '
    || $query$
      select array_agg(
        row(
          case when s.n is not null then jsonb_object($1::text[], s.texts) end, p.points
        )::public.logloom_log_series
        order by s.n nulls last
      )
      from (
        select (g.n - 1)::integer as n, array(select jsonb_array_elements_text(g.texts)) as texts
        from jsonb_array_elements($2) with ordinality g (texts, n)
        union all
        select null, null where exists (select from found f where f.series is null)
      ) s
      cross join lateral (
        select jsonb_agg(
          jsonb_build_array(
            to_char(b.ts at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
            coalesce(f.value, $3)
          )
          order by b.ts
        ) as points
        from generate_series(
          date_bin($4, lower($5), 'epoch'),
          date_bin($4, upper($5) - interval '1 microsecond', 'epoch'),
          $4
        ) b (ts)
        left join found f on f.ts = b.ts and f.series is not distinct from s.n
      ) p
    $query$
  into v_series
  using
    v_query.by_fields, v_groups,
    case when logloom_private.stats_aggregates(v_query) -> 0 ->> 'kind'
      in ('count', 'rate', 'sum', 'count_distinct') then 0::double precision end,
    make_interval(secs => v_seconds), v_range;
  return row(
    v_seconds, coalesce(v_series, '{}'), logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_series_answer;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_series(p_query_dsl, p_ts_from, p_ts_to, p_buckets);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_stats (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer
)
  RETURNS SETOF public.logloom_log_stat
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_range constant tstzrange := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  v_query := logloom_private.search_query(p_query_dsl, now(), 'rows');
  return query
  select s.* from logloom_private.log_stats_of(v_tenant_id, v_query, v_range, v_limit) s;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return query
  select r.*
  from logloom_private.read_log_stats(p_query_dsl, p_ts_from, p_ts_to, p_limit) r;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_log_tail (
  p_query_dsl text,
  p_cursor    text,
  p_limit     integer,
  p_backlog   integer
)
  RETURNS public.logloom_log_tail
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  SET enable_seqscan TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.page_limit(p_limit);
  v_query logloom_private.compiled_query;
  v_last bigint;
  v_after text[];
  v_tail logloom_private.log_tail;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_backlog not between 0 and (select s.list_limit_max from logloom_private.settings s) then
    perform logloom_private.refuse(
      'search.backlog_is_out_of_range',
      (select s.list_limit_max from logloom_private.settings s)::text
    );
  end if;
  v_query := logloom_private.search_query(p_query_dsl, now(), 'filter');
  select coalesce(max(a.arrival), 0) into v_last from logloom_private.log_arrivals a;
  if p_cursor is null then
    v_tail.first := v_last + 1;
    -- Arrivals and records are of one snapshot: what is not here yet comes after this cursor.
    if p_backlog > 0 then
      execute 'select array(' || logloom_private.log_backlog_sql(v_tenant_id, v_query, p_backlog)
        || ')'
      into v_tail.logs;
    end if;
  else
    v_after := logloom_private.decode_cursor(
      p_cursor, '^tail (\d{1,18})(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?$'
    );
    v_tail.first := v_after[1];
    v_tail.id := v_after[2];
    if v_tail.first > 1 + (select q.last_value from logloom_private.arrival q) then
      perform logloom_private.refuse('search.cursor_lies_ahead');
    end if;
  end if;
  v_tail.logs := coalesce(v_tail.logs, '{}');
  v_tail.more := false;
  v_tail := logloom_private.advance_log_tail(v_tenant_id, v_query, v_limit, v_last, v_tail);
  if not v_tail.more then
    -- All of the last arrival was seen. The days of later ones may be gone.
    v_tail.first := greatest(v_last + 1, v_tail.first);
    v_tail.id := null;
  end if;
  return row(
    v_tail.logs,
    logloom_private.encode_cursor(array['tail', v_tail.first::text, v_tail.id::text]), v_tail.more
  )::public.logloom_log_tail;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_tail(p_query_dsl, p_cursor, p_limit, p_backlog);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.read_saved_search (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_limit     integer,
  p_cursor    text
)
  RETURNS public.logloom_saved_search_run
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because whether the query aggregates is for the compiler to say
declare
  v_query logloom_private.compiled_query;
  v_page public.logloom_log_page;
  v_range tstzrange;
  v_stats public.logloom_log_stat[];
begin
  v_query := logloom_private.search_query(p_query_dsl, now(), 'any');
  if not v_query.plan ?| array['aggregates', 'patterns'] then
    v_page := logloom_private.read_log_page(
      p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null
    );
    return row(
      v_page.logs, v_page.next_cursor, v_page.ts_from, v_page.ts_to, null
    )::public.logloom_saved_search_run;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_stats := array(
    select s
      from logloom_private.read_log_stats(p_query_dsl, lower(v_range), upper(v_range), p_limit) s
  );
  return row(
    '{}'::public.logloom_log_record[], null, lower(v_range), upper(v_range), v_stats
  )::public.logloom_saved_search_run;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return logloom_private.read_saved_search(
    p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.reads_again (
  p_error text
)
  RETURNS boolean
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_setting constant text := 'logloom.reads_again';
begin
  if p_error not like 'could not find valid entry for shard%' then
    return false;
  elsif current_setting(v_setting, true) = 'yes' then
    perform logloom_private.refuse_search_away();
  end if;
  perform set_config(v_setting, 'yes', true);
  return true;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_warnings (
  p_query logloom_private.compiled_query
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  if jsonb_array_length(p_query.warnings) > 0 then
    perform logloom_private.refuse_at(
      (p_query.warnings -> 0 ->> 'position')::integer,
      'query.means_something_else',
      p_query.warnings -> 0 ->> 'message',
      p_query.warnings -> 0 ->> 'suggestion'
    );
  end if;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.replay_dead_letters (
  p_limit integer DEFAULT 1000
)
  RETURNS logloom_private.replay_result
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_letter logloom_private.dead_letters;
  v_arrival bigint;
  v_result logloom_private.replay_result := row(0, 0);
begin
  -- The writer's lock: arrival must stay in commit order.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  v_arrival := nextval('logloom_private.arrival');
  for v_letter in
    select d.* from logloom_private.dead_letters d order by d.failed_at, d.id limit p_limit
  loop
    begin
      perform logloom_private.create_partition(logloom_private.utc_day(v_letter.ts));
      execute logloom_private.added_records_sql(
        $query$
          insert into logloom.logs as l (
            id, tenant_id, ts, received_at, arrival,
            level, msg, service, env, req_id, user_id, route, host, attrs, record_bytes
          )
          select
            ($1).id, ($1).tenant_id, ($1).ts, ($1).received_at, $2,
            ($1).level::logloom_private.log_level, ($1).msg, ($1).service, ($1).env,
            ($1).req_id, ($1).user_id, ($1).route, ($1).host,
            ($1).attrs::logloom_private.log_attrs,
            -- Anew: who mends a letter may have changed it.
            logloom_private.bytes_of_record(row(
              ($1).ts, ($1).received_at, $2, ($1).id, ($1).tenant_id, ($1).level, ($1).msg,
              ($1).service, ($1).env, ($1).req_id, ($1).user_id, ($1).route, ($1).host,
              ($1).attrs, null
            )::logloom.logs)
        $query$
      )
      using v_letter, v_arrival;
      delete from logloom_private.dead_letters d where d.id = v_letter.id;
      v_result.replayed := v_result.replayed + 1;
    exception when others then
      if not logloom_private.is_data_error(sqlstate) then
        raise;
      end if;
      update logloom_private.dead_letters d
      set attempts = d.attempts + 1,
        failed_at = clock_timestamp(),
        error_code = sqlstate,
        error_message = sqlerrm
      where d.id = v_letter.id;
      v_result.failed := v_result.failed + 1;
    end;
  end loop;
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

CREATE OR REPLACE FUNCTION logloom_private.request_deletion (
  p_query_dsl text,
  p_ts_from   timestamp with time zone,
  p_ts_to     timestamp with time zone,
  p_dry_run   boolean
)
  RETURNS logloom.retention_runs
  LANGUAGE plpgsql
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
-- definer because the API roles neither compile queries nor write runs
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_now constant timestamptz := clock_timestamp();
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_run logloom.retention_runs;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  if p_dry_run then
    -- It reads records as a search does.
    perform logloom_private.take_search_slot(v_tenant_id);
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'filter');
  if v_query.blank then
    perform logloom_private.refuse('usage.deletion_query_is_blank');
  end if;
  perform logloom_private.refuse_warnings(v_query);
  perform logloom_private.provision_current_tenant();
  if not p_dry_run then
    perform logloom_private.require_room_for_deletion(v_tenant_id);
  end if;
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  values (
    v_tenant_id, 'erasure', 'queued', logloom_private.actor(), v_now, p_query_dsl,
    lower(v_range), upper(v_range), p_dry_run
  )
  returning * into v_run;
  if p_dry_run then
    execute 'select (select count(*) ' || logloom_private.rows_sql(
        v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.filter, '', p_expired => true
      )
      || ') + coalesce((select sum(c.events)::bigint from logloom_private.sealed_counts('
      || '$1, $2, $3, $4, $5) c), 0)'
    into v_run.records
    using v_tenant_id, v_run.ts_from, v_run.ts_to, v_query.tree, v_query.filter;
    update logloom.retention_runs r
    set status = 'done', records = v_run.records, finished_at = clock_timestamp()
    where r.run_id = v_run.run_id
    returning * into v_run;
    -- Who looks again and again fills no disk with that.
    delete from logloom.retention_runs r
    where r.run_id in (
      select o.run_id
      from logloom.retention_runs o
      where o.tenant_id = v_tenant_id and o.dry_run
      order by o.requested_at desc, o.run_id desc
      offset (select s.dry_runs_kept from logloom_private.settings s)
    );
  end if;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, v_run.requested_by, 'logs.deletion_requested', v_run.run_id::text,
    jsonb_build_object(
      'query_dsl', v_run.query_dsl, 'ts_from', v_run.ts_from, 'ts_to', v_run.ts_to,
      'dry_run', v_run.dry_run
    )
  );
  return v_run;
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

CREATE OR REPLACE FUNCTION logloom_private.sealed_records (
  p_chunk     logloom_private.sealed_chunks,
  p_positions integer[],
  p_fields    text[],
  p_keys      text[]
)
  RETURNS SETOF logloom.logs
  LANGUAGE plpgsql
  STABLE
  PARALLEL SAFE
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET plan_cache_mode TO 'force_generic_plan'
  AS $function$
declare
  v_records constant integer := coalesce(cardinality(p_positions), p_chunk.records);
  v_batch_received_at timestamptz[] := p_chunk.batch_received_at;
  v_batch_arrivals bigint[] := p_chunk.batch_arrivals;
  v_ts timestamptz[];
  v_batches integer[];
  v_ids uuid[];
  v_services text[];
  v_levels text[];
  v_messages text[];
  v_texts text[];
  v_env text[];
  v_req_id text[];
  v_user_id text[];
  v_route text[];
  v_host text[];
  v_record_bytes integer[];
  v_attributes jsonb[];
  v_column logloom_private.sealed_columns;
  v_lower integer;
  v_upper integer;
begin
  if v_records = 0 then
    return;
  end if;
  if p_fields is null or 'ts' = any(p_fields) then
    v_ts := logloom_private.chunk_times(p_chunk, p_positions);
  end if;
  if p_fields is null or p_fields && array['id', 'received_at', 'arrival'] then
    v_batches := logloom_private.chunk_batches(p_chunk, p_positions);
    v_ids := logloom_private.chunk_ids(p_chunk, p_positions, v_batches);
  end if;
  if p_fields is null or p_fields && array['service', 'level'] then
    if p_positions is null then
      v_services := logloom_private.section_texts(p_chunk, p_chunk.section_services);
      v_levels := logloom_private.section_texts(p_chunk, p_chunk.section_levels);
    else
      with s as (
        select
          array_agg(x.start order by x.n) as starts
        from (
          select u.n, sum(u.records) over (order by u.n) - u.records + 1 as start
          from unnest(p_chunk.section_records) with ordinality u (records, n)
        ) x
      )
      select
        array_agg((p_chunk.section_services)[width_bucket(p.position, s.starts)] order by p.n),
        array_agg((p_chunk.section_levels)[width_bucket(p.position, s.starts)] order by p.n)
      into v_services, v_levels
      from unnest(p_positions) with ordinality p (position, n), s;
    end if;
  end if;
  if p_fields is null or 'msg' = any(p_fields) then
    v_messages := logloom_private.chunk_messages(p_chunk, p_positions);
  end if;
  for v_column in
    select c.*
    from logloom_private.sealed_columns c
    where c.tenant_id = p_chunk.tenant_id and c.chunk_id = p_chunk.chunk_id
      and c.name in ('env', 'req_id', 'user_id', 'route', 'host', 'record_bytes')
      and (p_fields is null or c.name = any(p_fields))
  loop
    v_lower := v_column.first;
    v_upper := v_column.last;
    if p_positions is not null then
      v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
      v_upper := width_bucket(v_column.last, p_positions);
    end if;
    continue when v_lower > v_upper;
    v_texts := array_fill(null::text, array[v_lower - 1])
      || logloom_private.column_texts(
        v_column, case when p_positions is not null then p_positions[v_lower:v_upper] end
      );
    case v_column.name
      when 'env' then v_env := v_texts;
      when 'req_id' then v_req_id := v_texts;
      when 'user_id' then v_user_id := v_texts;
      when 'route' then v_route := v_texts;
      when 'host' then v_host := v_texts;
      when 'record_bytes' then v_record_bytes := v_texts::integer[];
    end case;
  end loop;
  if p_fields is null or 'attrs' = any(p_fields) then
    v_attributes := logloom_private.chunk_attributes(p_chunk, p_positions, p_keys);
  end if;
  return query
  select
    r.ts, v_batch_received_at[r.batch], v_batch_arrivals[r.batch], r.id, p_chunk.tenant_id,
    r.level, r.msg, r.service, r.env, r.req_id, r.user_id, r.route, r.host, r.attrs,
    r.record_bytes
  from unnest(
    -- As many rows as records, whatever of them is read.
    case when v_ts is null then array_fill(1, array[v_records]) end,
    v_ts, v_batches, v_ids, v_levels, v_messages, v_services, v_env, v_req_id, v_user_id, v_route,
    v_host, v_attributes, v_record_bytes
  ) with ordinality r (
    one, ts, batch, id, level, msg, service, env, req_id, user_id, route, host, attrs,
    record_bytes, n
  )
  order by r.n;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.sealing_health (
  p_now timestamp with time zone
)
  RETURNS jsonb
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_days_due bigint;
  v_differences bigint;
  v_last_chunk timestamptz;
begin
  select count(*) into v_days_due
  from logloom_private.settings s
  cross join unnest(logloom_private.partition_days()) p (day)
  left join logloom_private.sealing_days d on d.day = p.day
  where logloom_private.day_start(p.day + 1) <= p_now - s.seal_after
    and (d.checked_at is null or d.checked_through is not null);
  select coalesce(sum(d.differences), 0) into v_differences from logloom_private.sealing_days d;
  -- Health must answer while a node is away, whatever that does to who asks it.
  if not logloom_private.is_spread() then
    select c.sealed_at into v_last_chunk
    from logloom_private.sealed_chunks c
    order by c.chunk_id desc
    limit 1;
  end if;
  return logloom_private.health_grade(
    null,
    case when v_differences > 0 then format(
      '%s chunks were not read back as they should be: logloom_private.sealing_days has the error',
      v_differences
    ) end
  ) || jsonb_build_object(
    'days_due', v_days_due,
    'last_chunk', v_last_chunk,
    'differences', v_differences
  );
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

CREATE OR REPLACE FUNCTION logloom_private.silence_reason (
  p_what    text,
  p_silence interval,
  p_limit   interval
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return case
    when not isfinite(p_silence) then format('%s ever succeeded by this clock', p_what)
    else format(
      '%s succeeded for %s s (limit %s s)', p_what, round(extract(epoch from p_silence)),
      round(extract(epoch from p_limit), 3)::double precision
    )
  end;
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

CREATE OR REPLACE FUNCTION logloom_private.unhealthy_checks (
  p_checks jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return coalesce(
    (
      select jsonb_object_agg(c.key, logloom_private.members_of(c.value, '{status,reason}'))
      from jsonb_each(p_checks) c
      where c.value ->> 'status' <> 'healthy'
    ),
    '{}'
  );
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

CREATE OR REPLACE FUNCTION logloom_private.with_health_endpoints (
  p_report jsonb
)
  RETURNS jsonb
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_checks constant jsonb := p_report -> 'checks';
begin
  return p_report || jsonb_build_object('endpoints',
    (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    )
    || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', p_report ->> 'status' = 'healthy',
        'status', p_report -> 'status',
        'checks', logloom_private.unhealthy_checks(v_checks - 'jobs')
          || jsonb_strip_nulls(jsonb_build_object(
            'jobs', nullif(logloom_private.unhealthy_checks(v_checks -> 'jobs'), '{}')
          ))
          || jsonb_build_object(
            'queue', logloom_private.members_of(v_checks -> 'queue', '{depth,reason}'),
            'writer', logloom_private.members_of(v_checks -> 'writer', '{status,reason}')
          )
      ),
      'detailed', jsonb_build_object(
        'available', p_report ->> 'status' <> 'unhealthy',
        'status', p_report -> 'status',
        'checks', v_checks
      )
    )
  );
end;
$function$;

CREATE OR REPLACE FUNCTION public.delete_logs (
  p_query_dsl text    DEFAULT NULL::text,
  p_ts_from   text    DEFAULT NULL::text,
  p_ts_to     text    DEFAULT NULL::text,
  p_dry_run   boolean DEFAULT NULL::boolean
)
  RETURNS public.logloom_retention_run
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET statement_timeout TO '15s'
  AS $function$
begin
  perform logloom_private.resolve_tenant();
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.require_parameter('p_ts_from', p_ts_from is null);
  perform logloom_private.require_parameter('p_ts_to', p_ts_to is null);
  return logloom_private.retention_run_of(
    logloom_private.request_deletion(
      p_query_dsl, logloom_private.time_parameter('p_ts_from', p_ts_from),
      logloom_private.time_parameter('p_ts_to', p_ts_to), coalesce(p_dry_run, true)
    )
  );
exception
when query_canceled then
  perform logloom_private.refuse_slow_search();
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return public.delete_logs(p_query_dsl, p_ts_from, p_ts_to, p_dry_run);
end;
$function$;

CREATE OR REPLACE FUNCTION public.preview_alert_rule (
  p_tenant_id        text             DEFAULT NULL::text,
  p_rule_id          uuid             DEFAULT NULL::uuid,
  p_query_dsl        text             DEFAULT NULL::text,
  p_threshold        double precision DEFAULT NULL::double precision,
  p_comparison       text             DEFAULT NULL::text,
  p_window_minutes   integer          DEFAULT NULL::integer,
  p_cooldown_minutes integer          DEFAULT NULL::integer
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
      perform logloom_private.refuse_alert_rule();
    end if;
  end if;
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.threshold := coalesce(p_threshold, v_rule.threshold);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', v_rule.threshold is null);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif not logloom_private.is_alert_window(v_rule.window_minutes) then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif not logloom_private.is_alert_cooldown(v_rule.cooldown_minutes) then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  end if;
  return logloom_private.preview_windows(
    p_tenant_id, v_rule.query_dsl, v_rule.threshold, v_rule.comparison, v_rule.window_minutes,
    v_rule.cooldown_minutes
  );
exception
when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
when connection_exception or admin_shutdown then
  perform logloom_private.refuse_search_away();
  return null;
when internal_error then
  if not logloom_private.reads_again(sqlerrm) then
    raise;
  end if;
  return public.preview_alert_rule(
    p_tenant_id, p_rule_id, p_query_dsl, p_threshold, p_comparison, p_window_minutes,
    p_cooldown_minutes
  );
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

COMMENT ON COLUMN "logloom"."logs"."record_bytes" IS 'Bytes of the record''s JSON text as operations answer it; null where it came before this column. logloom_private.bytes_of_record says either.';

COMMENT ON COLUMN "logloom_private"."queue"."record_bytes" IS 'How many bytes the JSON text of each event''s record will have.';

COMMENT ON COLUMN "logloom_private"."sealed_columns"."name" IS 'env, req_id, user_id, route, host or record_bytes; attrs. and a key, whose values are JSON texts; or attrs, which holds the keys that are too rare or too long for a column, {} where there are none, and is null where attrs is null.';

COMMENT ON COLUMN "logloom_private"."settings"."dry_runs_kept" IS 'Newest dry runs of delete_logs of a tenant that list_log_retention_runs shows.';

COMMENT ON COLUMN "logloom_private"."settings"."notification_open_limit" IS 'Deliveries under way at once, of all tenants: one tenant has no more of them than stay free.';

COMMENT ON FUNCTION "logloom_private"."bare_record_bytes"(text, timestamp with time zone) IS 'Bytes of a record''s JSON text without the values of its event, null ones too.';

COMMENT ON FUNCTION "logloom_private"."bytes_of_record"(logloom.logs) IS 'Bytes of a record''s JSON text: what was measured when it was accepted, and for one of before that was done, measured now, for which it has to be whole.';

COMMENT ON FUNCTION "logloom_private"."claim_due_notifications"(integer) IS 'The notifications that are due, taken for as long as a claim lasts: who has least under way comes first, and of each as many as its plan allows in the hour.';

COMMENT ON FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp with time zone[], timestamp
  with time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer[]) IS 'Reads a chunk back. LL001 where it differs from the records that it was made of.';

COMMENT ON FUNCTION "logloom_private"."due_notifications"() IS 'The notifications that are due, and whether they are beyond what their tenant''s plan allows in this hour.';

COMMENT ON FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request, timestamp with time zone, integer[]) IS 'Puts one batch into the open slot.';

COMMENT ON FUNCTION "logloom_private"."enroll_member"(text, text, text, text) IS 'Enrolls a user, and in the first place who does so; what public.add_tenant_member answers.';

COMMENT ON FUNCTION "logloom_private"."health_grade"(text, text) IS 'status and reason of a check, by what makes it unhealthy or degraded: no grade without its reason, and none of a tenant''s words, since health is open to all.';

COMMENT ON FUNCTION "logloom_private"."is_address_of_member"(text, text) IS 'Whether a member of the tenant confirmed this email address to Supabase Auth. What add_tenant_member was given is a label, and proves nothing.';

COMMENT ON FUNCTION "logloom_private"."measured_records"(text, timestamp with time zone, logloom_private.ingest_request) IS 'Of each event how many bytes the JSON text of its record will have.';

COMMENT ON FUNCTION "logloom_private"."next_notifications"(integer) IS 'The due notifications whose turn it is, while the service has room for them.';

COMMENT ON FUNCTION "logloom_private"."reads_again"(text) IS 'Whether a reading that failed is worth a second try: Citus moved or split the shard between plan and execution, and has its new place by then. PT504 where the second met it again.';

COMMENT ON FUNCTION "logloom_private"."refuse_warnings"(logloom_private.compiled_query) IS 'PT400 where the query probably means something else than was meant, with its first warning.';

COMMENT ON FUNCTION "logloom_private"."send_notifications"() IS 'Wakes the edge function logloom-notify when something is due.';

COMMENT ON FUNCTION "logloom_private"."silence_reason"(text, interval, interval) IS 'What is said of a check whose last success is too long ago.';

COMMENT ON FUNCTION "logloom_private"."unhealthy_checks"(jsonb) IS 'Of the checks that are not healthy, status and reason.';

COMMENT ON FUNCTION "logloom_private"."with_health_endpoints"(jsonb) IS 'The report with what each endpoint shows of it: available (200, otherwise 503), status, checks. ready shows, beside queue and writer, each check that is not healthy, and why.';

COMMENT ON FUNCTION "public"."claim_alert_notifications"(integer) IS 'What the edge function logloom-notify calls: takes due notifications, p_limit 1 to 100. One that is not settled in time is due again. Errors: PT400.';

COMMENT ON FUNCTION "public"."delete_logs"(text, text, text, boolean) IS 'Deletes the tenant''s records that match p_query_dsl from p_ts_from (inclusive) to p_ts_to (exclusive), dead letters included. A query that a search answers with warnings is refused. With p_dry_run (default true) nothing is deleted: records says how many match. Else a job deletes what was acknowledged before; list_log_retention_runs tells how far it is. Returns the run. Errors: PT400, PT401, PT408 (the dry run took over 15 s), PT429 (too many are open, or for a dry run too many searches running).';

COMMENT ON FUNCTION "public"."health_report"() IS 'What the edge function health shows: status, timestamp and checks for queue (events, seconds), writer (milliseconds, seconds), partitions, alerts, pre_request and jobs, each with the reason where it is not healthy, and what each endpoint shows of it (available: 200, otherwise 503). Thresholds: logloom_private.settings and job_limits.';

COMMENT ON FUNCTION "public"."settle_alert_notification"(uuid, uuid, text, integer, text, integer) IS 'What the edge function logloom-notify calls after an attempt. p_outcome: delivered; retry, which is tried again after a back-off, or p_retry_after seconds where that is longer; failed, which is given up. p_status: HTTP or SMTP status. Errors: PT400.';

COMMENT ON TABLE "logloom_private"."notify_endpoint" IS 'Where the edge function logloom-notify is, and the secret that it knows its caller by.';

REVOKE ALL ON FUNCTION "logloom_private"."age_reason"(interval, interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."bare_record_bytes"(text, timestamp WITH time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."bytes_of_record"(logloom.logs) FROM PUBLIC;

REVOKE ALL
  ON FUNCTION "logloom_private"."compare_chunk"(text, bigint, timestamp WITH time zone[], timestamp
    WITH time zone[], bigint[], uuid[], text[], text[], text[], text[], text[], text[], text[], text[], jsonb[], integer[])
  FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."due_notifications"() FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."enqueue"(text, uuid, logloom_private.ingest_request, timestamp WITH time zone, integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."health_grade"(text, text) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."measured_records"(text, timestamp WITH time zone, logloom_private.ingest_request) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."members_of"(jsonb, text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."next_notifications"(integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."reads_again"(text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "logloom_private"."reads_again"(text) TO "authenticated", "service_role";

REVOKE ALL ON FUNCTION "logloom_private"."refuse_warnings"(logloom_private.compiled_query) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."silence_reason"(text, interval, interval) FROM PUBLIC;

REVOKE ALL ON FUNCTION "logloom_private"."unhealthy_checks"(jsonb) FROM PUBLIC;

REVOKE ALL ("asked_at") ON TABLE "logloom"."alert_rules" FROM "authenticated";

GRANT UPDATE ("asked_at") ON TABLE "logloom"."alert_rules" TO "authenticated";

REVOKE ALL ("asked_at") ON TABLE "logloom"."alert_rules" FROM "service_role";

GRANT UPDATE ("asked_at") ON TABLE "logloom"."alert_rules" TO "service_role";

select logloom_private.bring_to_nodes();
