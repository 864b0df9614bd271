-- An erasure reaches notifications that are not sent yet: the records in them are not kept. Its
-- receipt names alerts that keep the values of groups.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  update logloom_private.notifications n
  set body = (n.body::jsonb #- '{data,logs}')::text
  where n.is_complete;
  alter table logloom_private.notifications drop column is_complete;
  perform set_config('lock_timeout', '0', true);
end;
$$;

create or replace function logloom_private.complete_notification(p_notification_id uuid, p_claim_id uuid)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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
  where n.notification_id = p_notification_id and n.claim_id = p_claim_id;
  if not found then
    return null;
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
  return (v_notification.body::jsonb || jsonb_build_object('data', v_data))::text;
end;
$$;

comment on function public.complete_alert_notification(uuid, uuid) is
  'What the edge function logloom-notify calls before each attempt: the body of a claimed '
  'notification with the link to the console and the newest records. Null without the claim. '
  'Errors: PT400.';

create or replace function logloom_private.erasure_does_not_reach(p_run logloom.retention_runs)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_array(
    jsonb_build_object(
      'kind', 'exports', 'ts_from', p_run.ts_from, 'ts_to', p_run.ts_to
    )
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'log_stream', 'name', s.name, 'to', s.kind, 'sent_from', s.created_at,
          'sent_to', s.last_success_at
        )
        order by s.created_at, s.stream_id
      )
      from logloom.log_streams s
      where s.tenant_id = p_run.tenant_id and s.sent_records > 0
    ),
    '[]'
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'damaged_block', 'records', c.records, 'ts_from', c.first_ts,
          'ts_to', c.last_ts + interval '1 microsecond'
        )
        order by c.first_ts, c.block_id
      )
      from logloom_private.blocks c
      where c.tenant_id = p_run.tenant_id and c.damaged_at is not null
        and c.last_ts >= p_run.ts_from and c.first_ts < p_run.ts_to
    ),
    '[]'
  ) || coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'kind', 'alerts', 'alerts', a.alerts, 'ts_from', a.ts_from, 'ts_to', a.ts_to
        )
      )
      from (
        select count(*) as alerts, min(h.window_start) as ts_from, max(h.window_end) as ts_to
        from logloom.alert_history h
        where h.tenant_id = p_run.tenant_id and h."group" is not null
          and h.window_end > p_run.ts_from and h.window_start < p_run.ts_to
        having count(*) > 0
      ) a
    ),
    '[]'
  );
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
    (c.notification).purpose = 'confirmation'
  from claimed c
  left join logloom_private.webhook_secrets w
    on w.rule_id = (c.notification).rule_id and (c.notification).channel = 'webhook';
end;
$$;

select logloom_private.finish_migration();
