create type public.logloom_claimed_notification as (
  notification_id uuid,
  claim_id uuid,
  channel text,
  address text,
  body text,
  secrets text[],
  tenant_id text,
  rule_id uuid,
  template jsonb,
  is_complete boolean,
  customer text
);

comment on type public.logloom_claimed_notification is
  'A notification to deliver now, and the secrets that sign it (some may still be unsealed). If '
  'not is_complete, complete_alert_notification adds the link and the newest records to the body.';

-- Returns the due notifications, and whether each exceeds its tenant's plan in this hour. Customers
-- may use only half of the plan, so that the tenant's own notifications still fit.
create function logloom_private.due_notifications()
returns table (
  notification_id uuid, tenant_id text, next_attempt_at timestamptz, is_beyond_plan boolean,
  channel_limit integer, customer text
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with waiting as (
    select
      n.notification_id, n.tenant_id, n.customer, n.channel, n.purpose, n.position,
      n.next_attempt_at, n.expires_at,
      min(n.position) filter (where n.purpose = 'alert') over w as first_alert,
      min(n.position) filter (where n.purpose = 'recovery') over w as first_recovery
    from logloom_private.notifications n
    where n.status = 'pending'
    window w as (partition by n.rule_id, n.channel, n.group_key)
  ), due as (
    select
      n.notification_id, n.tenant_id, n.customer, k.kind, n.next_attempt_at,
      row_number() over (
        partition by n.tenant_id, k.kind, n.customer order by n.next_attempt_at
      ) as own_place,
      row_number() over (
        partition by n.tenant_id, k.kind order by n.customer is not null, n.next_attempt_at
      ) as place
    from waiting n
    cross join lateral logloom_private.channel_kind(n.channel) k (kind)
    where n.next_attempt_at <= now() and n.expires_at > now()
      -- Keeps the order: an alert before its recovery, a recovery before the next alert.
      and not coalesce(
        n.purpose in ('alert', 'recovery') and n.first_recovery < n.position
          or (n.purpose = 'recovery' or n.purpose = 'alert' and n.channel = 'pagerduty')
          and n.first_alert < n.position,
        false
      )
  ), senders as (
    select
      d.tenant_id, d.customer, d.kind,
      logloom_private.channel_limit(d.kind, d.tenant_id, d.customer) as own_limit,
      logloom_private.channel_limit(d.kind, d.tenant_id, null)
        / case when d.customer is null then 1 else 2 end as plan_limit,
      coalesce(sum(u.attempts), 0) as used,
      coalesce(
        sum(u.attempts) filter (where u.customer is not distinct from d.customer), 0
      ) as own_used
    from (select distinct x.tenant_id, x.customer, x.kind from due x) d
    left join logloom_private.notification_usage u
      on u.tenant_id = d.tenant_id and u.channel = d.kind and u.hour = date_trunc('hour', now())
    group by d.tenant_id, d.customer, d.kind
  )
  select
    d.notification_id, d.tenant_id, d.next_attempt_at,
    d.own_place > s.own_limit - s.own_used or d.place > s.plan_limit - s.used, s.own_limit,
    d.customer
  from due d
  join senders s
    on s.tenant_id = d.tenant_id and s.kind = d.kind
    and s.customer is not distinct from d.customer;
end;
$$;

create function logloom_private.next_notifications(p_limit integer)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.next_turns(
    array(
      select row(
        n.notification_id, n.tenant_id, n.next_attempt_at, true, n.customer
      )::logloom_private.tenant_work
      from logloom_private.notifications n
      where n.claim_id is not null and n.next_attempt_at > now()
      union all
      select row(
        d.notification_id, d.tenant_id, d.next_attempt_at, false, d.customer
      )::logloom_private.tenant_work
      from logloom_private.due_notifications() d
      where not d.is_beyond_plan
    ),
    (select s.notification_open_limit from logloom_private.settings s), p_limit
  );
end;
$$;

-- Postpones due notifications that exceed their tenant's plan in this hour.
create function logloom_private.postpone_notifications()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_next_hour constant timestamptz := date_trunc('hour', now()) + interval '1 hour';
  v_beyond record;
begin
  for v_beyond in
    select n as notification, d.channel_limit
    from logloom_private.due_notifications() d
    join logloom_private.notifications n on n.notification_id = d.notification_id
    where d.is_beyond_plan
    limit 10000
    for update of n skip locked
  loop
    if v_next_hour >= (v_beyond.notification).expires_at then
      perform logloom_private.end_notification(
        v_beyond.notification, 'failed', null,
        format('The plan allows %s in an hour, and this one came too late', v_beyond.channel_limit)
      );
    else
      update logloom_private.notifications n
      set claim_id = null,
        -- A random time, so that not all tenants send in the same second.
        next_attempt_at = v_next_hour + random() * interval '1 minute',
        last_error = format(
          'The plan allows %s in an hour: this one waits for the next hour', v_beyond.channel_limit
        )
      where n.notification_id = (v_beyond.notification).notification_id;
    end if;
  end loop;
end;
$$;

create function logloom_private.claim_due_notifications(p_limit integer)
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
  perform logloom_private.require_own_project();
  perform pg_advisory_xact_lock(logloom_private.lock_key('notifications'), 0);
  loop
    v_ids := logloom_private.next_notifications(p_limit);
    v_ids := array(
      select n.notification_id
      from logloom_private.notifications n
      -- Checked again on the locked row: it may have been settled meanwhile.
      where n.notification_id = any(v_ids)
        and n.status = 'pending' and n.next_attempt_at <= now()
      for update of n skip locked
    );
    exit when cardinality(v_ids) = 0;
    for v_notification in
      select n.*
      from logloom_private.notifications n
      where n.notification_id = any(v_ids)
        and (n.channel = 'email' or n.purpose = 'recovery' or n.customer is not null)
    loop
      v_refusal := coalesce(
        logloom_private.customer_refusal(v_notification),
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

  insert into logloom_private.notification_usage as u (
    tenant_id, customer, channel, hour, attempts
  )
  select n.tenant_id, n.customer, k.kind, date_trunc('hour', now()), count(*)
  from logloom_private.notifications n
  cross join lateral logloom_private.channel_kind(n.channel) k (kind)
  where n.notification_id = any(v_ids)
  group by n.tenant_id, n.customer, k.kind
  on conflict (tenant_id, channel, hour, customer) do update
  set attempts = u.attempts + excluded.attempts;
  return query
  with claimed as (
    update logloom_private.notifications n
    set claim_id = gen_random_uuid(),
      attempts = n.attempts + 1,
      body = logloom_private.body_for_customer(n),
      last_attempt_at = now(),
      -- Due again if it is not settled by then. A delivery takes less time.
      next_attempt_at = now() + interval '60 seconds'
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
    (c.notification).purpose = 'confirmation', (c.notification).customer
  from claimed c
  left join logloom_private.webhook_secrets w
    on w.rule_id = (c.notification).rule_id and (c.notification).channel = 'webhook';
end;
$$;

create function public.claim_alert_notifications(p_limit integer default null)
returns setof public.logloom_claimed_notification
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_limit', p_limit is null);
  if p_limit not between 1 and 100 then
    perform logloom_private.refuse('notifications.claim_limit_is_out_of_range');
  end if;
  return query select c.* from logloom_private.claim_due_notifications(p_limit) c;
end;
$$;

comment on function public.claim_alert_notifications(integer) is
  'The edge function logloom-notify calls it to claim due notifications. p_limit: 1 to 100. A '
  'notification that is not settled in time is due again. Errors: PT400, PT409 (another '
  'project''s database).';
