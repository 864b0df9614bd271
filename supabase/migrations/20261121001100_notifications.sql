-- Notifications: an outbox that is written with the alert, and the edge function notify, which
-- claims what is due, delivers it and settles it here.

alter table private.settings
  add column notification_claim_limit integer not null default 20,
  add column notification_claim_lifetime interval not null default '60 seconds',
  add column notification_retry_base interval not null default '5 seconds',
  add column notification_retry_factor double precision not null default 3,
  add column notification_retry_max interval not null default '3 hours',
  add column notification_lifetime interval not null default '24 hours',
  add column notification_history_lifetime interval not null default '30 days',
  add column notification_test_interval interval not null default '10 seconds',
  add column webhook_secret_overlap interval not null default '24 hours',
  add column preview_span interval not null default '24 hours';

comment on column private.settings.notification_claim_limit is
  'Notifications that one claim takes, shared fairly by the tenants that have some due.';
comment on column private.settings.notification_claim_lifetime is
  'After this time a claim that was not settled is due again. Longer than any delivery takes.';
comment on column private.settings.notification_retry_base is
  'Wait after the first failure, give or take a fifth …';
comment on column private.settings.notification_retry_factor is
  '… multiplied by this after each further one …';
comment on column private.settings.notification_retry_max is '… up to this.';
comment on column private.settings.notification_lifetime is
  'How long a delivery is tried before it is given up.';
comment on column private.settings.notification_history_lifetime is
  'How long list_alert_deliveries tells of a delivery that ended.';
comment on column private.settings.notification_test_interval is
  'Least time between two tests of a rule.';
comment on column private.settings.webhook_secret_overlap is
  'How long webhooks carry the signature of the rotated secret, too.';
comment on column private.settings.preview_span is 'How far preview_alert_rule looks back.';

create table private.notify_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint notify_endpoint_has_one_row check (singleton)
);
insert into private.notify_endpoint default values;

create table private.notifications (
  notification_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references app.tenants on delete cascade,
  rule_id uuid not null,
  alert_id uuid references app.alert_history on delete cascade,
  channel text not null,
  address text not null,
  body text not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  expires_at timestamptz not null,
  claim_id uuid,
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  settled_at timestamptz,
  constraint notifications_channel_is_known check (channel in ('email', 'webhook')),
  constraint notifications_status_is_known check (status in ('pending', 'delivered', 'failed')),
  constraint notifications_settlement_is_whole check ((status = 'pending') = (settled_at is null))
);

-- No foreign key to the rule's tenant: the rule has it.
create table private.webhook_secrets (
  rule_id uuid primary key references app.alert_rules on delete cascade,
  secret text not null,
  previous_secret text,
  previous_valid_until timestamptz
);

create index notifications_next_attempt_at_idx
on private.notifications (next_attempt_at) where status = 'pending';
create index notifications_settled_at_idx
on private.notifications (settled_at) where status <> 'pending';
create index notifications_alert_id_idx on private.notifications (alert_id);
create index notifications_tenant_id_rule_id_created_at_idx
on private.notifications (tenant_id, rule_id, created_at desc, notification_id desc);

alter table private.notify_endpoint enable row level security;
alter table private.notify_endpoint force row level security;
alter table private.notifications enable row level security;
alter table private.notifications force row level security;
alter table private.webhook_secrets enable row level security;
alter table private.webhook_secrets force row level security;

create type public.alert_delivery as (
  delivery_id uuid,
  alert_id uuid,
  rule_id uuid,
  channel text,
  status text,
  attempts integer,
  created_at timestamptz,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  last_status integer,
  last_error text
);

create type public.claimed_notification as (
  notification_id uuid,
  claim_id uuid,
  channel text,
  address text,
  body text,
  secrets text[]
);

create type public.webhook_secret as (
  rule_id uuid,
  secret text,
  previous_valid_until timestamptz
);

create type public.alert_preview_entry as (
  window_start timestamptz,
  window_end timestamptz,
  value double precision
);

create type public.alert_preview as (
  ts_from timestamptz,
  ts_to timestamptz,
  step_minutes integer,
  alerts public.alert_preview_entry[]
);

-- The outbox

create function private.new_webhook_secret()
returns text
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  return 'whsec_' || encode(extensions.gen_random_bytes(32), 'base64');
end;
$$;

-- ISO 8601 in UTC, whatever the session's time zone is.
create function private.iso_time(p_at timestamptz)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end;
$$;

-- What a receiver is told. The text is kept, so that every attempt sends and signs the same bytes.
create function private.notification_body(
  p_type text,
  p_rule app.alert_rules,
  p_alert app.alert_history
)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return json_build_object(
    'type', p_type,
    'timestamp', private.iso_time(p_alert.triggered_at),
    'data', json_build_object(
      'alert_id', p_alert.alert_id,
      'rule_id', p_rule.rule_id,
      'tenant_id', p_rule.tenant_id,
      'name', p_rule.name,
      'description', p_rule.description,
      'query_dsl', p_rule.query_dsl,
      'value', p_alert.value,
      'comparison', p_rule.comparison,
      'threshold', p_alert.threshold,
      'window_minutes', p_rule.window_minutes,
      'window_start', private.iso_time(p_alert.window_start),
      'window_end', private.iso_time(p_alert.window_end),
      'triggered_at', private.iso_time(p_alert.triggered_at)
    )
  )::text;
end;
$$;

create function private.enqueue_notifications(
  p_rule app.alert_rules,
  p_alert_id uuid,
  p_body text
)
returns setof private.notifications
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_preferences public.notification_preferences;
begin
  v_preferences := (private.effective_settings(p_rule.tenant_id)).notification_preferences;
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into private.webhook_secrets (rule_id, secret)
    values (p_rule.rule_id, private.new_webhook_secret())
    on conflict (rule_id) do nothing;
  end if;
  return query
  insert into private.notifications (
    tenant_id, rule_id, alert_id, channel, address, body, expires_at
  )
  select
    p_rule.tenant_id, p_rule.rule_id, p_alert_id, d.channel, d.address, p_body,
    now() + s.notification_lifetime
  from private.settings s
  cross join (
    values
      ('email', p_rule.notification_config ->> 'email', v_preferences.email_enabled),
      ('webhook', p_rule.notification_config ->> 'webhook_url', v_preferences.webhook_enabled)
  ) d (channel, address, is_enabled)
  where d.channel = any(p_rule.notification_destinations)
    and d.is_enabled
    and d.address is not null
  returning *;
end;
$$;

create function private.enqueue_alert_notifications(
  p_rule app.alert_rules,
  p_alert app.alert_history
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.enqueue_notifications(
    p_rule, p_alert.alert_id, private.notification_body('alert.triggered', p_rule, p_alert)
  );
end;
$$;

create function private.claim_notifications(p_limit integer)
returns setof public.claimed_notification
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role reads the outbox or a webhook's secret
begin
  return query
  with due as (
    -- Each tenant's first before anybody's second, so that one with much to send, or with a
    -- receiver that hangs, does not hold up the others.
    select
      n.notification_id,
      row_number() over (partition by n.tenant_id order by n.next_attempt_at) as place
    from private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ), claimed as (
    select n.notification_id
    from private.notifications n
    join due d on d.notification_id = n.notification_id
    -- Again, on the row as it is once locked: another claim may have taken it meanwhile.
    where n.status = 'pending' and n.next_attempt_at <= now()
    order by d.place, n.next_attempt_at
    limit coalesce(p_limit, (select s.notification_claim_limit from private.settings s))
    for update of n skip locked
  ), taken as (
    update private.notifications n
    set claim_id = gen_random_uuid(),
      attempts = n.attempts + 1,
      last_attempt_at = now(),
      next_attempt_at = now() + s.notification_claim_lifetime
    from claimed c, private.settings s
    where n.notification_id = c.notification_id
    returning n.notification_id, n.claim_id, n.channel, n.address, n.body, n.rule_id
  )
  select
    t.notification_id, t.claim_id, t.channel, t.address, t.body,
    array_remove(
      array[w.secret, case when w.previous_valid_until > now() then w.previous_secret end], null
    )
  from taken t
  left join private.webhook_secrets w on w.rule_id = t.rule_id and t.channel = 'webhook';
end;
$$;

create function private.retry_delay(p_attempts integer, p_retry_after integer)
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings private.settings;
  v_seconds double precision;
begin
  select s.* into v_settings from private.settings s;
  -- The exponent is cut so that the power stays a number; the greatest wait holds long before.
  v_seconds := extract(epoch from v_settings.notification_retry_base)
    * power(v_settings.notification_retry_factor, least(p_attempts - 1, 30));
  v_seconds := least(v_seconds, extract(epoch from v_settings.notification_retry_max))
    * (0.8 + 0.4 * random());
  return greatest(
    make_interval(secs => v_seconds),
    least(make_interval(secs => coalesce(p_retry_after, 0)), v_settings.notification_retry_max)
  );
end;
$$;

create function private.settle_notification(
  p_notification_id uuid,
  p_claim_id uuid,
  p_outcome text,
  p_status integer,
  p_error text,
  p_retry_after integer
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes to the outbox
declare
  v_notification private.notifications;
  v_next_attempt_at timestamptz;
  v_error constant text := left(p_error, 500);
begin
  select n.* into v_notification
  from private.notifications n
  where n.notification_id = p_notification_id
  for update;
  -- That it arrived holds whoever says so; that it did not only while nobody else tries.
  if not found
    or v_notification.status <> 'pending'
    or (p_outcome <> 'delivered' and v_notification.claim_id is distinct from p_claim_id)
  then
    return;
  end if;

  if p_outcome = 'retry' then
    v_next_attempt_at := now() + private.retry_delay(v_notification.attempts, p_retry_after);
    if v_next_attempt_at < v_notification.expires_at then
      update private.notifications n
      set claim_id = null,
        next_attempt_at = v_next_attempt_at,
        last_status = p_status,
        last_error = v_error
      where n.notification_id = p_notification_id;
      return;
    end if;
  end if;

  update private.notifications n
  set claim_id = null,
    status = case p_outcome when 'delivered' then 'delivered' else 'failed' end,
    settled_at = now(),
    last_status = p_status,
    last_error = v_error
  where n.notification_id = p_notification_id;
  update app.alert_history h
  set
    notification_sent_at = case p_outcome
      when 'delivered' then coalesce(h.notification_sent_at, now())
      else h.notification_sent_at
    end,
    notification_channels = case
      when p_outcome <> 'delivered' or v_notification.channel = any(h.notification_channels)
        then h.notification_channels
      else h.notification_channels || v_notification.channel
    end,
    notification_error = case p_outcome
      when 'delivered' then h.notification_error
      else v_notification.channel || ': ' || coalesce(v_error, 'not delivered')
    end
  where h.alert_id = v_notification.alert_id;
end;
$$;

create function public.claim_notifications(p_limit integer default null)
returns setof public.claimed_notification
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if p_limit not between 1 and 100 then
    raise sqlstate 'PT400' using
      message = 'Invalid p_limit: 1 to 100',
      hint = 'Claim again for more.';
  end if;
  return query select c.* from private.claim_notifications(p_limit) c;
end;
$$;

create function public.settle_notification(
  p_notification_id uuid default null,
  p_claim_id uuid default null,
  p_outcome text default null,
  p_status integer default null,
  p_error text default null,
  p_retry_after integer default null
)
returns public.success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.require_parameter('p_notification_id', p_notification_id is null);
  perform private.require_parameter('p_claim_id', p_claim_id is null);
  perform private.require_parameter('p_outcome', p_outcome is null);
  if p_outcome not in ('delivered', 'retry', 'failed') then
    raise sqlstate 'PT400' using
      message = 'Invalid p_outcome: one of delivered, retry, failed',
      hint = 'retry is tried again later, failed is not.';
  end if;
  perform private.settle_notification(
    p_notification_id, p_claim_id, p_outcome, p_status, p_error, p_retry_after
  );
  return row(true)::public.success;
end;
$$;

-- What wakes the edge function. pg_net does not wait for the answer; http, where it is missing,
-- does, and the function answers at once.
create function private.send_notifications()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_endpoint private.notify_endpoint;
  v_pg_net constant regprocedure :=
    to_regprocedure('net.http_post(text,jsonb,jsonb,jsonb,integer)');
  v_status integer;
begin
  if not exists (
    select from private.notifications n where n.status = 'pending' and n.next_attempt_at <= now()
  ) then
    return;
  end if;
  select e.* into v_endpoint from private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'private.notify_endpoint has no url or no secret';
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
    raise exception 'the function notify answered %', v_status;
  end if;
end;
$$;

create function private.purge_notifications()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  delete from private.notifications n
  using private.settings s
  where n.status <> 'pending' and n.settled_at < now() - s.notification_history_lifetime;
end;
$$;

-- Deliveries

create function private.delivery(p_notification private.notifications)
returns public.alert_delivery
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return row(
    p_notification.notification_id, p_notification.alert_id, p_notification.rule_id,
    p_notification.channel, p_notification.status, p_notification.attempts,
    p_notification.created_at, p_notification.last_attempt_at,
    case p_notification.status when 'pending' then p_notification.next_attempt_at end,
    case p_notification.status when 'delivered' then p_notification.settled_at end,
    p_notification.last_status, p_notification.last_error
  )::public.alert_delivery;
end;
$$;

create function private.list_alert_deliveries(
  p_alert_id uuid,
  p_rule_id uuid,
  p_limit integer,
  p_after uuid
)
returns setof public.alert_delivery
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role reads the outbox
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_limit constant integer := private.list_limit(p_limit);
  v_after timestamptz;
begin
  if p_after is not null then
    select n.created_at into v_after
    from private.notifications n
    where n.tenant_id = v_tenant_id and n.notification_id = p_after;
    if not found then
      raise sqlstate 'PT400' using
        message = 'Invalid p_after: no such delivery',
        hint = 'Send the delivery_id of the last item of the page before.';
    end if;
  end if;
  return query
  select d.*
  from private.notifications n
  cross join lateral private.delivery(n) d
  where n.tenant_id = v_tenant_id
    and (p_alert_id is null or n.alert_id = p_alert_id)
    and (p_rule_id is null or n.rule_id = p_rule_id)
    and (p_after is null or (n.created_at, n.notification_id) < (v_after, p_after))
  order by n.created_at desc, n.notification_id desc
  limit v_limit;
end;
$$;

create function public.list_alert_deliveries(
  p_alert_id uuid default null,
  p_rule_id uuid default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.alert_delivery
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
begin
  perform private.require_parameter('p_alert_id', num_nonnulls(p_alert_id, p_rule_id) = 0);
  if p_alert_id is not null and not exists (
    select from app.alert_history h where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  ) then
    raise sqlstate 'PT404' using
      message = 'Alert not found',
      hint = 'Send an alert_id of list_alert_history.';
  end if;
  return query
  select d.* from private.list_alert_deliveries(p_alert_id, p_rule_id, p_limit, p_after) d;
end;
$$;

create function private.retry_alert_delivery(p_delivery_id uuid)
returns public.alert_delivery
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_notification private.notifications;
begin
  select n.* into v_notification
  from private.notifications n
  where n.tenant_id = v_tenant_id and n.notification_id = p_delivery_id
  for update;
  if not found then
    raise sqlstate 'PT404' using
      message = 'Delivery not found',
      hint = 'Send a delivery_id of list_alert_deliveries.';
  end if;
  if v_notification.status = 'delivered' then
    raise sqlstate 'PT400' using
      message = 'The delivery arrived already',
      hint = 'test_alert_rule sends another notification.';
  end if;
  -- One that is under way stays with who claimed it. The address may have been mended meanwhile.
  update private.notifications n
  set status = 'pending',
    settled_at = null,
    next_attempt_at = case when n.claim_id is null then now() else n.next_attempt_at end,
    expires_at = now() + (select s.notification_lifetime from private.settings s),
    address = coalesce(
      (
        select r.notification_config ->> case n.channel
          when 'email' then 'email' else 'webhook_url' end
        from app.alert_rules r
        where r.rule_id = n.rule_id
      ),
      n.address
    )
  where n.notification_id = p_delivery_id
  returning n.* into v_notification;
  return private.delivery(v_notification);
end;
$$;

create function public.retry_alert_delivery(p_delivery_id uuid default null)
returns public.alert_delivery
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.resolve_tenant();
  perform private.require_parameter('p_delivery_id', p_delivery_id is null);
  return private.retry_alert_delivery(p_delivery_id);
end;
$$;

create function private.test_alert_rule(p_rule_id uuid)
returns setof public.alert_delivery
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_rule app.alert_rules;
  v_sample app.alert_history;
begin
  select r.* into v_rule
  from app.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform private.refuse_alert_rule();
  end if;
  if exists (
    select
    from private.notifications n
    cross join private.settings s
    where n.tenant_id = v_tenant_id and n.rule_id = p_rule_id and n.alert_id is null
      and n.created_at > now() - s.notification_test_interval
  ) then
    raise sqlstate 'PT429' using
      message = 'This alert rule was tested a moment ago',
      hint = 'Wait a few seconds.';
  end if;
  v_sample.triggered_at := now();
  v_sample.window_end := private.whole_minute(now());
  v_sample.window_start := v_sample.window_end - make_interval(mins => v_rule.window_minutes);
  v_sample.value := v_rule.threshold;
  v_sample.threshold := v_rule.threshold;
  return query
  select d.*
  from private.enqueue_notifications(
    v_rule, null, private.notification_body('alert.test', v_rule, v_sample)
  ) n
  cross join lateral private.delivery(n) d;
  if not found then
    raise sqlstate 'PT400' using
      message = 'The alert rule has no destination that notifications may go to',
      hint = 'Set notification_destinations, and see notification_preferences of the tenant.';
  end if;
end;
$$;

create function public.test_alert_rule(p_rule_id uuid default null)
returns setof public.alert_delivery
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.resolve_tenant();
  perform private.require_parameter('p_rule_id', p_rule_id is null);
  return query select d.* from private.test_alert_rule(p_rule_id) d;
end;
$$;

create function private.rotate_webhook_secret(p_rule_id uuid)
returns public.webhook_secret
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role reaches the secrets
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_result public.webhook_secret;
begin
  perform from app.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  for no key update;
  if not found then
    perform private.refuse_alert_rule();
  end if;
  insert into private.webhook_secrets as w (rule_id, secret)
  values (p_rule_id, private.new_webhook_secret())
  on conflict (rule_id) do update
  set previous_secret = w.secret,
    previous_valid_until = now() + (select s.webhook_secret_overlap from private.settings s),
    secret = excluded.secret
  returning w.rule_id, w.secret, w.previous_valid_until into v_result;
  return v_result;
end;
$$;

create function public.rotate_webhook_secret(p_rule_id uuid default null)
returns public.webhook_secret
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform private.resolve_tenant();
  perform private.require_parameter('p_rule_id', p_rule_id is null);
  return private.rotate_webhook_secret(p_rule_id);
end;
$$;

-- Preview

-- Values of windows that end at each step. Windows with partial values end at every minute and
-- share one reading of the records; the others stand side by side, so that it is one as well.
create function private.preview_values(
  p_tenant_id text,
  p_query private.compiled_query,
  p_window_minutes integer,
  p_from timestamptz,
  p_to timestamptz
)
returns setof private.alert_window
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_aggregate constant text := coalesce(p_query.aggregate, 'count');
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_source constant text := 'select s.* from app.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3';
begin
  if private.has_partials(v_aggregate) then
    return query execute
      'select null::uuid, e.at - $4, e.at, private.partial_value($5, $6, '
      || 'sum(p.events) over w, sum(p.numbers) over w, sum(p.total) over w, '
      || 'min(p.least) over w, max(p.greatest) over w), null::text '
      || 'from generate_series($2 + interval ''1 minute'', $3, ''1 minute'') e (at) left join ('
      || private.alert_partials_sql(
        v_source, p_query.filter, private.alert_number_sql(v_aggregate, p_query.aggregate_field)
      )
      || ') p on p.minute = e.at - interval ''1 minute'' '
      || 'window w as (order by e.at rows between $6 - 1 preceding and current row) '
      || 'order by e.at offset $6 - 1'
    using p_tenant_id, p_from - v_window, p_to, v_window, v_aggregate, p_window_minutes;
  else
    return query execute
      'select null::uuid, e.at, e.at + $4, ' || p_query.aggregate_sql || ', null::text '
      || 'from generate_series($2, $3 - $4, $4) e (at) left join ('
      || v_source || ') l on l.ts >= e.at and l.ts < e.at + $4 and (' || p_query.filter
      || ') group by e.at order by e.at'
    using p_tenant_id, p_from, p_to, v_window;
  end if;
end;
$$;

create function private.preview_alert_rule(
  p_tenant_id text,
  p_query_dsl text,
  p_threshold double precision,
  p_comparison text,
  p_window_minutes integer,
  p_cooldown_minutes integer
)
returns public.alert_preview
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because the compiler's SQL is not run under row-level security, which no index survives
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_query private.compiled_query;
  v_entry record;
  v_result public.alert_preview;
  v_last timestamptz;
begin
  perform private.check_query(p_query_dsl, true);
  if private.names_now(p_query_dsl, now()) then
    raise sqlstate 'PT400' using
      message = 'A query that names now has no preview',
      hint = 'Leave ts out: the window says which time is meant.';
  end if;
  v_query := private.compile_query(p_query_dsl);
  v_result.ts_to := private.whole_minute(least(now(), private.watermark()));
  v_result.ts_from := v_result.ts_to - (select s.preview_span from private.settings s);
  v_result.step_minutes := case
    when private.has_partials(coalesce(v_query.aggregate, 'count')) then 1
    else p_window_minutes
  end;
  v_result.alerts := '{}';
  for v_entry in
    select v.window_start, v.window_end, v.value
    from private.preview_values(
      v_tenant_id, v_query, p_window_minutes, v_result.ts_from, v_result.ts_to
    ) v
    where private.alert_condition_holds(v.value, p_comparison, p_threshold)
    order by v.window_end
  loop
    if v_last is null or v_entry.window_end >= v_last + make_interval(mins => p_cooldown_minutes)
    then
      v_last := v_entry.window_end;
      v_result.alerts := v_result.alerts
        || row(v_entry.window_start, v_entry.window_end, v_entry.value)::public.alert_preview_entry;
    end if;
  end loop;
  return v_result;
end;
$$;

create function public.preview_alert_rule(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null
)
returns public.alert_preview
language plpgsql
stable
security invoker
set search_path = ''
set statement_timeout = '15s'
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_rule app.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from app.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform private.refuse_alert_rule();
    end if;
  end if;
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.threshold := coalesce(p_threshold, v_rule.threshold);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  perform private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  perform private.require_parameter('p_threshold', v_rule.threshold is null);
  perform private.require_parameter('p_comparison', v_rule.comparison is null);
  perform private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform private.refuse_violation('alert_rules', 'alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform private.refuse_violation('alert_rules', 'alert_rules_comparison_is_known');
  elsif v_rule.window_minutes not between 1 and 1440 then
    perform private.refuse_violation('alert_rules', 'alert_rules_window_is_valid');
  elsif v_rule.cooldown_minutes not between 0 and 10080 then
    perform private.refuse_violation('alert_rules', 'alert_rules_cooldown_is_valid');
  end if;
  return private.preview_alert_rule(
    p_tenant_id, v_rule.query_dsl, v_rule.threshold, v_rule.comparison, v_rule.window_minutes,
    v_rule.cooldown_minutes
  );
exception when query_canceled then
  raise sqlstate 'PT408' using
    message = 'The preview took too long',
    hint = 'Narrow the query, by service or level say.';
end;
$$;

grant execute on function
  private.list_alert_deliveries(uuid, uuid, integer, uuid),
  private.retry_alert_delivery(uuid),
  private.test_alert_rule(uuid),
  private.rotate_webhook_secret(uuid),
  private.preview_alert_rule(text, text, double precision, text, integer, integer),
  public.list_alert_deliveries(uuid, uuid, integer, uuid),
  public.retry_alert_delivery(uuid),
  public.test_alert_rule(uuid),
  public.rotate_webhook_secret(uuid),
  public.preview_alert_rule(text, uuid, text, double precision, text, integer, integer)
to authenticated, service_role;
grant execute on function
  private.claim_notifications(integer),
  private.settle_notification(uuid, uuid, text, integer, text, integer),
  public.claim_notifications(integer),
  public.settle_notification(uuid, uuid, text, integer, text, integer)
to service_role;

comment on table private.notify_endpoint is
  'Where the edge function notify is, and the secret that it knows its caller by.';
comment on table private.notifications is
  'The outbox: one row for an alert and a destination, or for a test, which has no alert.';
comment on column private.notifications.notification_id is 'The webhook''s id, in every attempt.';
comment on column private.notifications.next_attempt_at is
  'When it is due. Of one that is claimed: when the claim has lapsed.';
comment on table private.webhook_secrets is
  'What a rule''s webhooks are signed with. The previous secret signs, too, until it lapses.';
comment on type public.alert_delivery is
  'A notification on its way: status is pending, delivered or failed. alert_id is null for a test.';
comment on type public.claimed_notification is
  'A notification to deliver now, and the secrets to sign it with.';
comment on type public.webhook_secret is
  'A rule''s new secret, told once, and until when the one before signs, too.';
comment on type public.alert_preview is
  'When a rule would have fired between ts_from and ts_to, looked at every step_minutes.';
comment on type public.alert_preview_entry is 'A window in which a rule would have fired.';
comment on function private.new_webhook_secret() is 'A secret in the form of Standard Webhooks.';
comment on function private.iso_time(timestamptz) is 'An instant as ISO 8601 in UTC.';
comment on function private.notification_body(text, app.alert_rules, app.alert_history) is
  'The JSON that a webhook carries, of type alert.triggered or alert.test.';
comment on function private.enqueue_notifications(app.alert_rules, uuid, text) is
  'One notification for each destination of the rule that the tenant''s preferences allow.';
comment on function private.enqueue_alert_notifications(app.alert_rules, app.alert_history) is
  'The notifications of an alert.';
comment on function private.claim_notifications(integer) is
  'The work of public.claim_notifications().';
comment on function private.retry_delay(integer, integer) is
  'How long to wait after so many attempts: back-off with jitter, at least what the receiver asks.';
comment on function private.settle_notification(uuid, uuid, text, integer, text, integer) is
  'The work of public.settle_notification().';
comment on function private.send_notifications() is
  'Wakes the edge function notify when something is due.';
comment on function private.purge_notifications() is 'Deletes what ended long ago.';
comment on function private.delivery(private.notifications) is
  'A notification as its tenant sees it.';
comment on function private.list_alert_deliveries(uuid, uuid, integer, uuid) is
  'The work of public.list_alert_deliveries().';
comment on function private.retry_alert_delivery(uuid) is
  'The work of public.retry_alert_delivery().';
comment on function private.test_alert_rule(uuid) is 'The work of public.test_alert_rule().';
comment on function private.rotate_webhook_secret(uuid) is
  'The work of public.rotate_webhook_secret().';
comment on function private.preview_values(
  text, private.compiled_query, integer, timestamptz, timestamptz
) is 'Values of a query over the windows of a span.';
comment on function private.preview_alert_rule(
  text, text, double precision, text, integer, integer
) is 'The work of public.preview_alert_rule().';
comment on function public.claim_notifications(integer) is
  'What the edge function notify calls: takes due notifications, p_limit 1 to 100. One that is not '
  'settled in time is due again. Errors: PT400.';
comment on function public.settle_notification(uuid, uuid, text, integer, text, integer) is
  'What the edge function notify calls after an attempt. p_outcome: delivered; retry, which is '
  'tried again after a back-off, or p_retry_after seconds where that is longer; failed, which is '
  'given up. p_status: HTTP or SMTP status. Errors: PT400.';
comment on function public.list_alert_deliveries(uuid, uuid, integer, uuid) is
  'Deliveries of an alert, or of a rule with its tests, newest first. p_limit 1 to 1000 (default '
  '100), p_after: delivery_id of the last item of the page before. Errors: PT400, PT401, PT404.';
comment on function public.retry_alert_delivery(uuid) is
  'Tries a delivery that failed again, now and for another 24 h, at the rule''s present address. '
  'Errors: PT400, PT401, PT404.';
comment on function public.test_alert_rule(uuid) is
  'Sends a notification that is marked as a test to each destination and returns the deliveries. '
  'Errors: PT400, PT401, PT404, PT429.';
comment on function public.rotate_webhook_secret(uuid) is
  'Makes a new secret for a rule''s webhooks and returns it, this once. For 24 h webhooks are '
  'signed with both. Errors: PT400, PT401, PT404.';
comment on function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer
) is
  'When a rule would have fired over the last 24 h: the rule p_rule_id, with what else is given in '
  'place of its own. Percentiles and distinct counts are looked at in windows side by side. '
  'Errors: PT400, PT401, PT403, PT404, PT408.';
