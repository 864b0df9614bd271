-- Assembled from supabase/schemas by npm run migration: change it there.

-- notifications/types/notifications.sql

create type public.logloom_alert_delivery as (
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
  last_error text,
  purpose text,
  gives_up_at timestamptz
);

comment on type public.logloom_alert_delivery is
  'A notification on its way: status is pending, delivered or failed, purpose alert, test or '
  'confirmation, which is the mail with a code. alert_id is null for all but the first. While it '
  'is pending it is tried at next_attempt_at, and no more after gives_up_at.';

create type public.logloom_notification_address as (
  email text,
  confirmed boolean,
  confirmed_at timestamptz,
  code_expires_at timestamptz,
  tries_left integer
);

comment on type public.logloom_notification_address is
  'An email address of alert rules, in lower case. confirmed: notifications may go there, since '
  'it was confirmed by a code or is a member''s. code_expires_at and tries_left: of a code that '
  'is good.';

-- notifications/tables/confirmation_mails.sql

-- No tenant: what one sent to a mailbox counts after it was deleted, too.
create table logloom_private.confirmation_mails (
  mailbox_digest bytea not null,
  sent_at timestamptz not null default clock_timestamp()
);

create index confirmation_mails_mailbox_digest_sent_at_idx
on logloom_private.confirmation_mails (mailbox_digest, sent_at);

create index confirmation_mails_sent_at_idx on logloom_private.confirmation_mails (sent_at);

comment on table logloom_private.confirmation_mails is
  'A row for each mail with a code, for as long as it counts towards what a mailbox may get.';

-- notifications/tables/notification_addresses.sql

create table logloom_private.notification_addresses (
  tenant_id text not null references logloom.tenants on delete cascade,
  -- The address in lower case: that is how addresses are compared.
  mailbox text not null,
  confirmed_at timestamptz,
  confirmed_by text,
  -- Of the last code that was mailed, salted and slow to compute. The code itself is kept nowhere.
  code_hash text,
  code_expires_at timestamptz,
  -- Wrong tries of that code.
  tries integer not null default 0,
  primary key (tenant_id, mailbox),
  constraint notification_addresses_mailbox_is_lower_case check (mailbox = lower(mailbox)),
  constraint notification_addresses_code_lapses check (
    (code_hash is null) = (code_expires_at is null)
  )
);

comment on table logloom_private.notification_addresses is
  'Email addresses that were mailed a code for a tenant, and those that were confirmed by it.';

-- notifications/tables/notification_usage.sql

-- No foreign key: whoever is counted here has a row of logloom_private.notifications.
create table logloom_private.notification_usage (
  tenant_id text not null,
  channel text not null,
  hour timestamptz not null,
  attempts integer not null,
  primary key (tenant_id, channel, hour)
);

comment on table logloom_private.notification_usage is
  'Attempts to deliver, by tenant, channel and hour of the clock: what the plan limits.';

-- notifications/tables/notifications.sql

create table logloom_private.notifications (
  -- The webhook's id, in every attempt.
  notification_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  rule_id uuid not null,
  alert_id uuid references logloom.alert_history on delete cascade,
  purpose text not null default 'alert',
  channel text not null,
  address text not null,
  body text not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  -- When it is due. Of one that is claimed: when the claim has lapsed.
  next_attempt_at timestamptz not null default now(),
  expires_at timestamptz not null,
  claim_id uuid,
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  settled_at timestamptz,
  constraint notifications_purpose_is_known check (
    purpose in ('alert', 'test', 'confirmation')
  ),
  constraint notifications_channel_is_known check (channel in ('email', 'webhook')),
  constraint notifications_status_is_known check (status in ('pending', 'delivered', 'failed')),
  constraint notifications_settlement_is_whole check ((status = 'pending') = (settled_at is null))
);

create index notifications_next_attempt_at_idx
on logloom_private.notifications (next_attempt_at) where status = 'pending';

-- What is under way: counted at each claim.
create index notifications_tenant_id_idx
on logloom_private.notifications (tenant_id) where claim_id is not null;

create index notifications_settled_at_idx
on logloom_private.notifications (settled_at) where status <> 'pending';

create index notifications_alert_id_idx on logloom_private.notifications (alert_id);

create index notifications_tenant_id_rule_id_created_at_idx
on logloom_private.notifications (tenant_id, rule_id, created_at desc, notification_id desc);

-- What a tenant asked for itself is counted.
create index notifications_tenant_id_created_at_idx
on logloom_private.notifications (tenant_id, created_at) where purpose <> 'alert';

comment on table logloom_private.notifications is
  'The outbox: one row for an alert and a destination, or for a test or a code that confirms an '
  'address, which have no alert.';

-- notifications/tables/notify_endpoint.sql

create table logloom_private.notify_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint notify_endpoint_has_one_row check (singleton)
);

insert into logloom_private.notify_endpoint default values;

comment on table logloom_private.notify_endpoint is
  'Where the edge function logloom-notify is, and the secret that it knows its caller by.';

-- notifications/tables/webhook_secrets.sql

-- No foreign key to the rule's tenant: the rule has it.
create table logloom_private.webhook_secrets (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  -- In the form of Standard Webhooks.
  secret text not null default 'whsec_' || encode(extensions.gen_random_bytes(32), 'base64'),
  previous_secret text,
  previous_valid_until timestamptz
);

comment on table logloom_private.webhook_secrets is
  'What a rule''s webhooks are signed with. The previous secret signs, too, until it lapses.';

-- notifications/address_is_confirmed.sql

-- Whether notifications of the tenant may go to this email address: it was confirmed by a code, or
-- is that of a member.
create function logloom_private.address_is_confirmed(p_tenant_id text, p_address text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.notification_addresses a
    where a.tenant_id = p_tenant_id and a.mailbox = lower(p_address)
      and a.confirmed_at is not null
  ) or logloom_private.is_address_of_member(p_tenant_id, p_address);
end;
$$;

-- notifications/channel_address.sql

-- The address of a channel in a rule's notification_config, or null. A new channel needs a line
-- here, its columns <channel>s_per_hour of logloom.plans and <channel>_enabled of the preferences,
-- a value in notifications_channel_is_known and in alert_rules_destinations_are_known, and a way to
-- deliver in functions/logloom-notify/channels.ts.
create function logloom_private.channel_address(p_channel text, p_config jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A channel that is not named here is an error, never somebody else's address.
  case p_channel
    when 'email' then return p_config ->> 'email';
    when 'webhook' then return p_config ->> 'webhook_url';
  end case;
end;
$$;

-- notifications/channel_limit.sql

-- Attempts to deliver by a channel that the tenant's plan allows in an hour.
create function logloom_private.channel_limit(p_channel text, p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    to_jsonb(logloom_private.plan_of(p_tenant_id)) ->> (p_channel || 's_per_hour')
  )::integer;
end;
$$;

-- notifications/claim_alert_notifications.sql

create type public.logloom_claimed_notification as (
  notification_id uuid,
  claim_id uuid,
  channel text,
  address text,
  body text,
  secrets text[]
);

comment on type public.logloom_claimed_notification is
  'A notification to deliver now, and the secrets to sign it with.';

-- The notifications that are due, and whether they are beyond what their tenant's plan allows in
-- this hour.
create function logloom_private.due_notifications()
returns table (
  notification_id uuid, tenant_id text, next_attempt_at timestamptz, is_beyond_plan boolean,
  channel_limit integer
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
      logloom_private.channel_limit(d.channel, d.tenant_id) as attempts
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
$$;

-- The due notifications whose turn it is, while the service has room for them: the tenant with the
-- fewest under way comes next. A tenant has no more under way than stay free for others, so that
-- one whose receiver hangs neither delays them nor takes every place.
create function logloom_private.next_notifications(p_limit integer)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Has what is due, and beyond what its tenant's plan allows in this hour, wait for the next.
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
    limit (select s.purge_step_rows from logloom_private.settings s)
    for update of n skip locked
  loop
    if v_next_hour >= (v_beyond.notification).expires_at then
      perform logloom_private.end_notification(
        v_beyond.notification, 'failed', null,
        format('The plan allows %s in an hour, and this one had no turn', v_beyond.channel_limit)
      );
    else
      update logloom_private.notifications n
      set claim_id = null,
        -- Not all of all tenants in the same second.
        next_attempt_at = v_next_hour + random() * interval '1 minute',
        last_error = format(
          'The plan allows %s in an hour: this one waits for the next', v_beyond.channel_limit
        )
      where n.notification_id = (v_beyond.notification).notification_id;
    end if;
  end loop;
end;
$$;

-- Takes due notifications for as long as a claim lasts.
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
    )
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
  'What the edge function logloom-notify calls: takes due notifications, p_limit 1 to 100. One '
  'that is not settled in time is due again. Errors: PT400.';

-- notifications/confirm_alert_address.sql

-- PT400 where the plan has no room for one more confirmed address, once those are forgotten that no
-- rule has.
create function logloom_private.require_room_for_address(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant integer :=
    (logloom_private.plan_of(p_tenant_id)).max_notification_addresses;
begin
  for v_try in 1..2 loop
    if (
      select count(*) < v_max
      from logloom_private.notification_addresses a
      where a.tenant_id = p_tenant_id and a.confirmed_at is not null
    ) then
      return;
    end if;
    delete from logloom_private.notification_addresses a
    where a.tenant_id = p_tenant_id and a.confirmed_at is not null
      and not logloom_private.rule_names_address(p_tenant_id, a.mailbox);
  end loop;
  perform logloom_private.refuse('notifications.no_room_for_address', v_max::text);
end;
$$;

-- Confirms an address of the tenant by the code that was mailed to it, or counts a wrong try.
create function logloom_private.confirm_address(p_email text, p_code text)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads or confirms addresses
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_mailbox constant text := lower(logloom_private.trim_space(p_email));
  v_code constant text := logloom_private.trim_space(p_code);
  v_address logloom_private.notification_addresses;
begin
  perform logloom_private.require_parameter('p_email', p_email is null);
  perform logloom_private.require_parameter('p_code', p_code is null);
  if v_code !~ '^[0-9]{6}$' then
    perform logloom_private.refuse('notifications.code_is_malformed');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(v_tenant_id)
  );
  select a.* into v_address
  from logloom_private.notification_addresses a
  where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox
  for update;
  if v_address.confirmed_at is not null then
    return jsonb_build_object('success', true);
  end if;
  if v_address.code_expires_at > now() is not true then
    perform logloom_private.refuse('notifications.no_code_is_good');
  end if;
  if v_address.tries >= (select s.confirmation_tries from logloom_private.settings s) then
    perform logloom_private.refuse('notifications.code_was_tried_too_often');
  end if;
  -- Hashes are compared: how long that takes tells nothing of the code.
  if extensions.crypt(v_code, v_address.code_hash) <> v_address.code_hash then
    update logloom_private.notification_addresses a
    set tries = a.tries + 1
    where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox;
    return logloom_private.refuse_and_keep('notifications.code_is_wrong');
  end if;
  perform logloom_private.require_room_for_address(v_tenant_id);
  update logloom_private.notification_addresses a
  set confirmed_at = now(),
    confirmed_by = logloom_private.current_user_id(),
    code_hash = null,
    code_expires_at = null,
    tries = 0
  where a.tenant_id = v_tenant_id and a.mailbox = v_mailbox;
  return jsonb_build_object('success', true);
end;
$$;

create function public.confirm_alert_address(
  p_email text default null,
  p_code text default null
)
returns jsonb
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.confirm_address(p_email, p_code);
end;
$$;

comment on function public.confirm_alert_address(text, text) is
  'Confirms the email address of an alert rule by the six digits that were mailed to it, and '
  'returns {"success": true}. A code is good for 24 h and five tries. Errors: PT400, PT401.';

-- notifications/delivery.sql

-- A notification as its tenant sees it.
create function logloom_private.delivery(p_notification logloom_private.notifications)
returns public.logloom_alert_delivery
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_notification.notification_id, p_notification.alert_id, p_notification.rule_id,
    p_notification.channel, p_notification.status, p_notification.attempts,
    p_notification.created_at, p_notification.last_attempt_at,
    case p_notification.status when 'pending' then p_notification.next_attempt_at end,
    case p_notification.status when 'delivered' then p_notification.settled_at end,
    p_notification.last_status, p_notification.last_error, p_notification.purpose,
    case p_notification.status when 'pending' then p_notification.expires_at end
  )::public.logloom_alert_delivery;
end;
$$;

-- notifications/email_refusal.sql

-- Why an email is not to be sent; null where it may go.
create function logloom_private.email_refusal(
  p_notification logloom_private.notifications
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_is_confirmed constant boolean := logloom_private.address_is_confirmed(
    p_notification.tenant_id, p_notification.address
  );
begin
  if p_notification.purpose <> 'confirmation' then
    return case when not v_is_confirmed then logloom_private.unconfirmed_address(
      p_notification.tenant_id, p_notification.address
    ) end;
  elsif v_is_confirmed then
    return 'The address is confirmed already';
  -- Who makes a rule and deletes it at once sends nothing to anybody.
  elsif not logloom_private.rule_names_address(
    p_notification.tenant_id, lower(p_notification.address)
  ) then
    return 'No alert rule has this address any more';
  end if;
  select s.* into v_settings from logloom_private.settings s;
  -- A repeated attempt was counted the first time.
  if p_notification.attempts = 0 and (
    select count(*) >= v_settings.confirmation_codes_per_mailbox
    from logloom_private.confirmation_mails m
    where m.mailbox_digest = logloom_private.mailbox_digest(p_notification.address)
      and m.sent_at > now() - v_settings.confirmation_lifetime
  ) then
    return 'Too many codes went to this address: none is mailed to it today';
  end if;
  return null;
end;
$$;

-- notifications/end_notification.sql

-- Notes that a notification was delivered or is given up, in the history of alerts, too.
create function logloom_private.end_notification(
  p_notification logloom_private.notifications,
  p_outcome text,
  p_status integer,
  p_error text
)
returns logloom_private.notifications
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended logloom_private.notifications;
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
    where h.alert_id = v_ended.alert_id;
  else
    update logloom.alert_history h
    set notification_error = v_ended.channel || ': ' || coalesce(p_error, 'not delivered')
    where h.alert_id = v_ended.alert_id;
  end if;
  return v_ended;
end;
$$;

-- notifications/enqueue_alert_notifications.sql

-- The notifications of an alert, in the transaction that fires it.
create function logloom_private.enqueue_alert_notifications()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  -- An entry outlives its rule, and may be put back without it: then nobody is to hear of it.
  if found then
    perform logloom_private.enqueue_notifications(
      v_rule, new.alert_id, logloom_private.notification_body('alert.triggered', v_rule, new)
    );
  end if;
  return null;
end;
$$;

-- An entry that says that it was notified of is put back, not fired.
create trigger alert_history_enqueues_notifications
after insert on logloom.alert_history
for each row when (new.notification_sent_at is null)
execute function logloom_private.enqueue_alert_notifications();

-- notifications/enqueue_notifications.sql

-- One notification for each destination of the rule that the tenant's preferences allow. One to an
-- address that is not confirmed is given up at once.
create function logloom_private.enqueue_notifications(
  p_rule logloom.alert_rules,
  p_alert_id uuid,
  p_body text
)
returns setof logloom_private.notifications
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_preferences jsonb;
  v_notification logloom_private.notifications;
begin
  v_preferences := to_jsonb(
    (logloom_private.effective_settings(p_rule.tenant_id)).notification_preferences
  );
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into logloom_private.webhook_secrets (rule_id)
    values (p_rule.rule_id)
    on conflict (rule_id) do nothing;
  end if;
  for v_notification in
    insert into logloom_private.notifications (
      tenant_id, rule_id, alert_id, purpose, channel, address, body, expires_at
    )
    select
      p_rule.tenant_id, p_rule.rule_id, p_alert_id,
      case when p_alert_id is null then 'test' else 'alert' end, d.channel,
      logloom_private.channel_address(d.channel, p_rule.notification_config), p_body,
      now() + s.notification_lifetime
    from logloom_private.settings s
    cross join unnest(p_rule.notification_destinations) d (channel)
    where (v_preferences -> (d.channel || '_enabled'))::boolean
      and logloom_private.channel_address(d.channel, p_rule.notification_config) is not null
    returning *
  loop
    if v_notification.channel = 'email' and not logloom_private.address_is_confirmed(
      v_notification.tenant_id, v_notification.address
    ) then
      v_notification := logloom_private.end_notification(
        v_notification, 'failed', null,
        case
          -- Whoever tests asks for another code. An alert asks for nothing: it may fire for ever.
          when p_alert_id is null then logloom_private.request_confirmation(p_rule, true)
          else logloom_private.unconfirmed_address(
            v_notification.tenant_id, v_notification.address
          )
        end
      );
    end if;
    return next v_notification;
  end loop;
end;
$$;

-- notifications/list_alert_addresses.sql

-- A page of the email addresses of the tenant's rules.
create function logloom_private.page_of_addresses(p_limit integer, p_after text)
returns setof public.logloom_notification_address
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads codes or the users of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer := logloom_private.list_limit(p_limit);
begin
  return query
  with page as materialized (
    select distinct lower(r.notification_config ->> 'email') as mailbox
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and 'email' = any(r.notification_destinations)
      and r.notification_config ->> 'email' is not null
      and (p_after is null or lower(r.notification_config ->> 'email') > lower(p_after))
    order by 1
    limit v_limit
  )
  select
    p.mailbox, logloom_private.address_is_confirmed(v_tenant_id, p.mailbox), a.confirmed_at,
    case when a.code_expires_at > now() then a.code_expires_at end,
    case when a.code_expires_at > now() then greatest(s.confirmation_tries - a.tries, 0) end
  from page p
  cross join logloom_private.settings s
  left join logloom_private.notification_addresses a
    on a.tenant_id = v_tenant_id and a.mailbox = p.mailbox
  order by p.mailbox;
end;
$$;

create function public.list_alert_addresses(
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_notification_address
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select a.* from logloom_private.page_of_addresses(p_limit, p_after) a;
end;
$$;

comment on function public.list_alert_addresses(integer, text) is
  'The email addresses that alert rules of the tenant have, in order, and whether notifications '
  'may go there. p_limit 1 to 1000 (default 100), p_after: email of the last item of the page '
  'before. Errors: PT400, PT401.';

-- notifications/list_alert_deliveries.sql

-- A page of the tenant's deliveries, of an alert or of a rule where given.
create function logloom_private.page_of_deliveries(
  p_alert_id uuid,
  p_rule_id uuid,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_alert_delivery
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit integer;
  v_after timestamptz;
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
returns setof public.logloom_alert_delivery
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select d.* from logloom_private.page_of_deliveries(p_alert_id, p_rule_id, p_limit, p_after) d;
end;
$$;

comment on function public.list_alert_deliveries(uuid, uuid, integer, uuid) is
  'Deliveries of an alert, or of a rule with its tests, newest first. p_limit 1 to 1000 (default '
  '100), p_after: delivery_id of the last item of the page before. Errors: PT400, PT401, PT404.';

-- notifications/mail_code.sql

-- Makes a new code for the address of a notification that was claimed, keeps its hash, and returns
-- what the mail says. The code before is good no more.
create function logloom_private.mail_code(p_notification logloom_private.notifications)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- 48 bits over a million codes: none is more likely than another by what anybody could use.
  v_code constant text := lpad((
    (('x' || encode(extensions.gen_random_bytes(6), 'hex'))::bit(48)::bigint) % 1000000
  )::text, 6, '0');
  v_lifetime constant interval := (
    select s.confirmation_lifetime from logloom_private.settings s
  );
begin
  insert into logloom_private.notification_addresses as a (
    tenant_id, mailbox, code_hash, code_expires_at
  )
  values (
    p_notification.tenant_id, lower(p_notification.address),
    extensions.crypt(v_code, extensions.gen_salt('bf', 8)), now() + v_lifetime
  )
  on conflict (tenant_id, mailbox) do update
  set code_hash = excluded.code_hash, code_expires_at = excluded.code_expires_at, tries = 0;
  return (
    p_notification.body::jsonb || jsonb_build_object(
      'code', v_code, 'hours', round(extract(epoch from v_lifetime) / 3600, 1)
    )
  )::text;
end;
$$;

-- notifications/mailbox_digest.sql

-- One for all addresses that a mailbox usually has: without letter case and what follows a +.
create function logloom_private.mailbox_digest(p_address text)
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return sha256(convert_to(lower(regexp_replace(p_address, '[+][^@]*@', '@')), 'UTF8'));
end;
$$;

-- notifications/notification_body.sql

-- The JSON that a webhook carries, of type alert.triggered or alert.test. The text is kept, so that
-- every attempt sends and signs the same bytes.
create function logloom_private.notification_body(
  p_type text,
  p_rule logloom.alert_rules,
  p_alert logloom.alert_history
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
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
      'triggered_at', to_char(p_alert.triggered_at, v_iso)
    )
  )::text;
end;
$$;

-- notifications/request_confirmation.sql

-- Has a code mailed to the address of a rule, where the limits allow it and none is good yet, or
-- for who asks again. Returns what the delivery is told.
create function logloom_private.request_confirmation(
  p_rule logloom.alert_rules,
  p_is_repeat boolean
)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_address constant text := logloom_private.channel_address('email', p_rule.notification_config);
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
$$;

-- notifications/request_confirmation_of_rule.sql

-- Whoever makes or changes a rule with an address that is not confirmed has a code mailed to it.
create function logloom_private.request_confirmation_of_rule()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes to the outbox
begin
  if not logloom_private.address_is_confirmed(
    new.tenant_id, logloom_private.channel_address('email', new.notification_config)
  ) then
    perform logloom_private.request_confirmation(new, false);
  end if;
  return null;
end;
$$;

create trigger alert_rules_request_confirmation
after insert or update of enabled, notification_destinations, notification_config
on logloom.alert_rules
for each row when (new.enabled and 'email' = any(new.notification_destinations))
execute function logloom_private.request_confirmation_of_rule();

-- notifications/retry_alert_delivery.sql

-- Makes a delivery of the tenant due again, at the rule's present address.
create function logloom_private.put_back_delivery(p_delivery_id uuid)
returns public.logloom_alert_delivery
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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
      select logloom_private.channel_address(v_notification.channel, r.notification_config)
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
$$;

create function public.retry_alert_delivery(p_delivery_id uuid default null)
returns public.logloom_alert_delivery
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.put_back_delivery(p_delivery_id);
end;
$$;

comment on function public.retry_alert_delivery(uuid) is
  'Tries a delivery that failed again, now and for another 24 h, at the rule''s present address. '
  'Errors: PT400, PT401, PT404.';

-- notifications/retry_delay.sql

-- How long to wait after so many attempts: back-off with jitter, at least what the receiver asks.
create function logloom_private.retry_delay(p_attempts integer, p_retry_after integer)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select greatest(
      -- The exponent is cut so that the power stays a number; the greatest wait holds long before.
      make_interval(secs => (0.8 + 0.4 * random()) * least(
        extract(epoch from s.notification_retry_base)
          * power(s.notification_retry_factor, least(p_attempts - 1, 30)),
        extract(epoch from s.notification_retry_max)
      )),
      least(make_interval(secs => coalesce(p_retry_after, 0)), s.notification_retry_max)
    )
    from logloom_private.settings s
  );
end;
$$;

-- notifications/rotate_alert_webhook_secret.sql

create type public.logloom_webhook_secret as (
  rule_id uuid,
  secret text,
  previous_valid_until timestamptz
);

comment on type public.logloom_webhook_secret is
  'A rule''s new secret, told once, and until when the one before signs, too.';

-- A new secret for a rule of the tenant; the one before is valid for a while.
create function logloom_private.replace_webhook_secret(p_rule_id uuid)
returns public.logloom_webhook_secret
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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
    secret = excluded.secret
  returning w.rule_id, w.secret, w.previous_valid_until into v_result;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return v_result;
end;
$$;

create function public.rotate_alert_webhook_secret(p_rule_id uuid default null)
returns public.logloom_webhook_secret
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.replace_webhook_secret(p_rule_id);
end;
$$;

comment on function public.rotate_alert_webhook_secret(uuid) is
  'Makes a new secret for a rule''s webhooks and returns it, this once. For 24 h webhooks are '
  'signed with both. Errors: PT400, PT401, PT404.';

-- notifications/rule_names_address.sql

-- Whether an alert rule of the tenant has this address, given in lower case, as its destination.
create function logloom_private.rule_names_address(p_tenant_id text, p_mailbox text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom.alert_rules r
    where r.tenant_id = p_tenant_id and 'email' = any(r.notification_destinations)
      and lower(r.notification_config ->> 'email') = p_mailbox
  );
end;
$$;

-- notifications/send_notifications.sql

-- Wakes the edge function logloom-notify when something is due. pg_net does not wait for the
-- answer; http, where pg_net is missing, does, and the function answers at once.
create function logloom_private.send_notifications()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- notifications/settle_alert_notification.sql

-- Notes what came of a claim, and when the next attempt is due.
create function logloom_private.settle_claim(
  p_notification_id uuid,
  p_claim_id uuid,
  p_outcome text,
  p_status integer,
  p_error text,
  p_retry_after integer
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes to the outbox
declare
  v_notification logloom_private.notifications;
  v_next_attempt_at timestamptz;
  v_error constant text := left(p_error, 500);
begin
  select n.* into v_notification
  from logloom_private.notifications n
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
    v_next_attempt_at := now() + logloom_private.retry_delay(
      v_notification.attempts, p_retry_after
    );
    if v_next_attempt_at < v_notification.expires_at then
      update logloom_private.notifications n
      set claim_id = null,
        next_attempt_at = v_next_attempt_at,
        last_status = p_status,
        last_error = v_error
      where n.notification_id = p_notification_id;
      return;
    end if;
  end if;

  perform logloom_private.end_notification(v_notification, p_outcome, p_status, v_error);
end;
$$;

create function public.settle_alert_notification(
  p_notification_id uuid default null,
  p_claim_id uuid default null,
  p_outcome text default null,
  p_status integer default null,
  p_error text default null,
  p_retry_after integer default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_notification_id', p_notification_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_outcome', p_outcome is null);
  if p_outcome not in ('delivered', 'retry', 'failed') then
    perform logloom_private.refuse('notifications.outcome_is_unknown');
  end if;
  perform logloom_private.settle_claim(
    p_notification_id, p_claim_id, p_outcome, p_status, p_error, p_retry_after
  );
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.settle_alert_notification(uuid, uuid, text, integer, text, integer) is
  'What the edge function logloom-notify calls after an attempt. p_outcome: delivered; retry, '
  'which is tried again after a back-off, or p_retry_after seconds where that is longer; failed, '
  'which is given up. p_status: HTTP or SMTP status. Errors: PT400.';

-- notifications/test_alert_rule.sql

-- PT429 where a tenant tested as often within an hour as its plan allows notifications by the
-- channel, whatever became of the rules.
create function logloom_private.require_room_for_test(p_tenant_id text, p_channel text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit constant integer := logloom_private.channel_limit(p_channel, p_tenant_id);
  v_room_at timestamptz;
begin
  if v_limit = 0 then
    v_room_at := now() + interval '1 hour';
  else
    select n.created_at + interval '1 hour' into v_room_at
    from logloom_private.notifications n
    where n.tenant_id = p_tenant_id and n.purpose = 'test' and n.channel = p_channel
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
      p_channel
    );
  end if;
end;
$$;

-- A test notification for each destination of a rule of the tenant.
create function logloom_private.enqueue_rule_test(p_rule_id uuid)
returns setof public.logloom_alert_delivery
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes to the outbox
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_rule logloom.alert_rules;
  v_sample logloom.alert_history;
  v_channel text;
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
  foreach v_channel in array v_rule.notification_destinations loop
    perform logloom_private.require_room_for_test(v_tenant_id, v_channel);
  end loop;
  v_sample.triggered_at := now();
  v_sample.window_end := date_trunc('minute', now());
  v_sample.window_start := v_sample.window_end - make_interval(mins => v_rule.window_minutes);
  v_sample.value := v_rule.threshold;
  v_sample.threshold := v_rule.threshold;
  return query
  select d.*
  from logloom_private.enqueue_notifications(
    v_rule, null, logloom_private.notification_body('alert.test', v_rule, v_sample)
  ) n
  cross join lateral logloom_private.delivery(n) d;
  if not found then
    perform logloom_private.refuse('notifications.no_destination');
  end if;
end;
$$;

create function public.test_alert_rule(p_rule_id uuid default null)
returns setof public.logloom_alert_delivery
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select d.* from logloom_private.enqueue_rule_test(p_rule_id) d;
end;
$$;

comment on function public.test_alert_rule(uuid) is
  'Sends a notification that is marked as a test to each destination and returns the deliveries. '
  'Errors: PT400, PT401, PT404, PT429.';

-- notifications/unconfirmed_address.sql

-- What a delivery says that is not made because nobody confirmed its address. It asks for no code
-- that was not mailed.
create function logloom_private.unconfirmed_address(p_tenant_id text, p_address text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (
      select 'The address is not confirmed, and the mail with its code failed: ' || n.last_error
      from logloom_private.notifications n
      where n.tenant_id = p_tenant_id and n.purpose = 'confirmation'
        and lower(n.address) = lower(p_address)
      order by n.created_at desc
      limit 1
    ),
    'The address is not confirmed: confirm_alert_address takes the code that was mailed to it, '
      'test_alert_rule mails a new one'
  );
end;
$$;

select logloom_private.finish_migration();
