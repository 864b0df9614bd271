-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

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
  'A notification on its way: status is pending, delivered or failed, purpose alert, recovery, '
  'test or confirmation, which is the mail with a code. alert_id is null for all but the first. '
  'While it is pending it is tried at next_attempt_at, and no more after gives_up_at.';

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
  'Attempts to deliver, by tenant, kind of channel (email, webhook) and hour of the clock: what '
  'the plan limits.';

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
  incident_id uuid references logloom.alert_incidents on delete set null,
  group_key text not null default '',
  -- In which they were made: what is resolved was triggered before.
  position bigint generated always as identity,
  template jsonb,
  constraint notifications_purpose_is_known check (
    purpose in ('alert', 'recovery', 'test', 'confirmation', 'stream')
  ),
  constraint notifications_channel_is_known check (
    channel in ('email', 'webhook', 'slack', 'discord', 'teams', 'pagerduty')
  ),
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

create index notifications_incident_id_idx
on logloom_private.notifications (incident_id, created_at desc, notification_id desc);

create index notifications_rule_id_channel_idx
on logloom_private.notifications (rule_id, channel, position) where status = 'pending';

comment on table logloom_private.notifications is
  'The outbox: one row for an alert and a destination, for its recovery, for a test or a code that '
  'confirms an address, which have no alert, or to an owner of a log stream that was paused, which '
  'is rule_id.';

comment on column logloom_private.notifications.address is
  'Of channels that are reached by a secret, sealed: only the function logloom-notify opens it.';

-- notifications/tables/notified_alerts.sql
create table logloom_private.notified_alerts (
  notification_id uuid not null references logloom_private.notifications on delete cascade,
  alert_id uuid not null references logloom.alert_history on delete cascade,
  primary key (notification_id, alert_id)
);

create index notified_alerts_alert_id_idx on logloom_private.notified_alerts (alert_id);

comment on table logloom_private.notified_alerts is
  'Further alerts of a notification that collected those of several groups.';

-- notifications/tables/notify_endpoint.sql
create table logloom_private.notify_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint notify_endpoint_has_one_row check (singleton)
);

insert into logloom_private.notify_endpoint default values;

comment on table logloom_private.notify_endpoint is
  'Where the edge function logloom-notify is, with logloom-stream beside it, and the secret that '
  'they know their caller by.';

-- notifications/tables/webhook_secrets.sql
-- No foreign key to the rule's tenant: the rule has it.
create table logloom_private.webhook_secrets (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  -- In the form of Standard Webhooks, until the function logloom-notify has sealed it.
  secret text not null default 'whsec_' || encode(extensions.gen_random_bytes(32), 'base64'),
  previous_secret text,
  previous_valid_until timestamptz,
  changed_at timestamptz not null default now()
);

comment on table logloom_private.webhook_secrets is
  'What a rule''s webhooks are signed with. The previous secret signs, too, until it lapses.';

create index webhook_secrets_unsealed_idx on logloom_private.webhook_secrets (changed_at)
where starts_with(secret, 'whsec_') or starts_with(previous_secret, 'whsec_');

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
-- The address of a channel in a rule's notification_config or, sealed, in its secrets; or null. A
-- new channel needs a line here, a value in notifications_channel_is_known and in
-- alert_rules_destinations_are_known, and a way to deliver in functions/logloom-notify/channels.ts.
create function logloom_private.channel_address(
  p_channel text,
  p_config jsonb,
  p_secrets jsonb
)
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
    when 'slack' then return p_secrets ->> 'slack_url';
    when 'discord' then return p_secrets ->> 'discord_url';
    when 'teams' then return p_secrets ->> 'teams_url';
    when 'pagerduty' then return p_secrets ->> 'pagerduty_key';
  end case;
end;
$$;

-- notifications/channel_kind.sql
-- As what a channel is limited by the plan and switched by the tenant: email, or webhook for all
-- that goes by HTTP.
create function logloom_private.channel_kind(p_channel text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_channel when 'email' then 'email' else 'webhook' end;
end;
$$;

-- notifications/channel_limit.sql
-- Attempts to deliver by a kind of channel that the tenant's plan allows in an hour.
create function logloom_private.channel_limit(p_kind text, p_tenant_id text)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    to_jsonb(logloom_private.plan_of(p_tenant_id)) ->> (p_kind || 's_per_hour')
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
  secrets text[],
  tenant_id text,
  rule_id uuid,
  template jsonb,
  is_complete boolean
);

comment on type public.logloom_claimed_notification is
  'A notification to deliver now, and the secrets to sign it with, sealed or not yet. One that is '
  'not complete is completed by complete_alert_notification.';

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

-- notifications/complete_alert_notification.sql
-- The newest records of a window that a rule counted, within its view, cut to what a message has
-- room for. None where they cannot be read in time.
create function logloom_private.newest_records(
  p_tenant_id text,
  p_view_id uuid,
  p_query_dsl text,
  p_from text,
  p_to text
)
returns jsonb
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope := logloom_private.scope_of_view(p_tenant_id, p_view_id);
  v_scope.actor := 'alerts';
  -- Which operations the view's readers have is another matter.
  v_scope.operations := null;
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
$$;

-- The body of a claimed notification with what its message shows beside the alert: a link to the
-- console and the newest records. They are read for each attempt and not kept, so that an erasure
-- reaches them.
create function logloom_private.complete_notification(p_notification_id uuid, p_claim_id uuid)
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

create function public.complete_alert_notification(
  p_notification_id uuid default null,
  p_claim_id uuid default null
)
returns text
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '5s'
as $$
begin
  perform logloom_private.require_parameter('p_notification_id', p_notification_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  return logloom_private.complete_notification(p_notification_id, p_claim_id);
end;
$$;

comment on function public.complete_alert_notification(uuid, uuid) is
  'What the edge function logloom-notify calls before each attempt: the body of a claimed '
  'notification with the link to the console and the newest records. Null without the claim. '
  'Errors: PT400.';

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
      v_rule, 'alert', new, logloom_private.notification_body('alert.triggered', v_rule, new)
    );
  end if;
  return null;
end;
$$;

-- An entry that says that it was notified of is put back, not fired.
create trigger alert_history_enqueues_notifications
after insert on logloom.alert_history
for each row when (new.notification_sent_at is null and new.silence_id is null)
execute function logloom_private.enqueue_alert_notifications();

-- notifications/enqueue_notifications.sql
-- Adds an alert to a notification of the rule that still waits for more, if there is one. What it
-- is now.
create function logloom_private.collect_alert(
  p_rule logloom.alert_rules,
  p_purpose text,
  p_channel text,
  p_alert_id uuid,
  p_body text
)
returns logloom_private.notifications
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Whether an alert of an incident arrived on a channel, or is still to be sent there.
create function logloom_private.is_told(
  p_rule_id uuid,
  p_incident_id uuid,
  p_channel text
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- One notification for each destination of the rule that the tenant's preferences allow, or of a
-- rule with group_wait_seconds a part of one. One to an address that is not confirmed is given up
-- at once. p_purpose: alert, recovery or test. An end goes where the beginning went; where it is
-- silenced, only to a pager, which has an incident of its own.
create function logloom_private.enqueue_notifications(
  p_rule logloom.alert_rules,
  p_purpose text,
  p_alert logloom.alert_history,
  p_body text,
  p_is_silenced boolean default false
)
returns setof logloom_private.notifications
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- notifications/enqueue_recovery.sql
-- The notifications of the end of an incident, in the transaction that ends it, once for what
-- somebody was told of it.
create function logloom_private.enqueue_recovery()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

create trigger alert_incidents_enqueue_recovery
after update of resolved_at on logloom.alert_incidents
for each row when (old.resolved_at is null and new.resolved_at is not null)
execute function logloom_private.enqueue_recovery();

-- notifications/get_alert_incident.sql
create type public.logloom_alert_incident_details as (
  incident_id uuid,
  tenant_id text,
  rule_id uuid,
  rule_name text,
  query_dsl text,
  window_minutes integer,
  "group" jsonb,
  state text,
  opened_at timestamptz,
  last_fired_at timestamptz,
  resolved_at timestamptz,
  resolution text,
  fired_count integer,
  value double precision,
  peak_value double precision,
  threshold double precision,
  comparison public.logloom_alert_comparison,
  acknowledged_at timestamptz,
  acknowledged_by text,
  alerts public.logloom_alert_history_entry[],
  deliveries public.logloom_alert_delivery[]
);

comment on type public.logloom_alert_incident_details is
  'An incident with its newest alerts and deliveries, at most 100 of each.';

-- The newest deliveries of an incident of the tenant.
create function logloom_private.deliveries_of_incident(p_tenant_id text, p_incident_id uuid)
returns public.logloom_alert_delivery[]
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
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
$$;

create function public.get_alert_incident(p_incident_id uuid default null)
returns public.logloom_alert_incident_details
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
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
$$;

comment on function public.get_alert_incident(uuid) is
  'An incident with its newest 100 alerts and 100 deliveries. Errors: PT400, PT401, PT404.';

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
-- A group with values that a message has room for.
create function logloom_private.short_group(p_group jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(
      g.key, case when length(g.value) > 200 then left(g.value, 199) || '…' else g.value end
    )
    from jsonb_each_text(p_group) g
  );
end;
$$;

-- The JSON that a webhook carries, of type alert.triggered or alert.test, and of which the other
-- channels make their messages. It is kept; each attempt adds a link and the records that there are
-- then.
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
$$;

-- The same of type alert.resolved, for the end of an incident.
create function logloom_private.recovery_body(
  p_rule logloom.alert_rules,
  p_incident logloom.alert_incidents
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
$$;

-- notifications/records_query.sql
-- The query for the records that a rule counted: without its aggregate and, where a group is given,
-- only of that. Null where there is none that says so.
create function logloom_private.records_query(p_query_dsl text, p_group jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- A text as it stands in an address.
create function logloom_private.percent_encoded(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- notifications/recovery_refusal.sql
-- Why the end of an incident is not to be sent; null where it may go: what was to tell of the
-- beginning may have failed since it was enqueued. Ends that were collected go where one of their
-- beginnings went.
create function logloom_private.recovery_refusal(
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
    new.tenant_id, logloom_private.channel_address('email', new.notification_config, '{}')
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
    secret = excluded.secret,
    changed_at = now()
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

-- notifications/seal_alert_secrets.sql
create type public.logloom_unsealed_secret as (
  rule_id uuid,
  tenant_id text,
  secrets text[]
);

comment on type public.logloom_unsealed_secret is
  'Secrets of a rule that the function''s present key did not seal.';

-- Secrets of rules after p_after that are plain text or were sealed by another key.
create function logloom_private.unsealed_secrets(p_key_id text, p_after uuid)
returns setof public.logloom_unsealed_secret
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Puts a sealed text in the place of a secret of a rule, wherever that is, named by its SHA-256 as
-- hex: neither is repeated.
create function logloom_private.put_sealed(p_rule_id uuid, p_digest text, p_sealed text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
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
$$;

create function public.list_unsealed_alert_secrets(
  p_key_id text default null,
  p_after uuid default null
)
returns setof public.logloom_unsealed_secret
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  return query select u.* from logloom_private.unsealed_secrets(p_key_id, p_after) u;
end;
$$;

comment on function public.list_unsealed_alert_secrets(text, uuid) is
  'What the edge function logloom-notify asks for: secrets of alert rules that its key p_key_id '
  'did not seal, of 100 rules after p_after. Errors: PT400.';

create function public.seal_alert_secret(
  p_rule_id uuid default null,
  p_digest text default null,
  p_sealed text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  perform logloom_private.require_parameter('p_digest', p_digest is null);
  perform logloom_private.require_parameter('p_sealed', p_sealed is null);
  if p_sealed !~ '^lls1\.[A-Za-z0-9_-]{8}\.[A-Za-z0-9_-]{38,}(\.[0-9a-f]{64})?$' then
    perform logloom_private.refuse('parameters.secret_is_not_sealed', 'p_sealed');
  end if;
  perform logloom_private.put_sealed(p_rule_id, p_digest, p_sealed);
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.seal_alert_secret(uuid, text, text) is
  'What the edge function logloom-notify calls: p_sealed takes the place of the secret of a rule '
  'whose SHA-256 as hex is p_digest. Errors: PT400.';

-- notifications/send_notifications.sql
-- Gives up what is past its time and not under way. Whether there was any.
create function logloom_private.give_up_notifications()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Wakes the edge function logloom-notify when something is due or is to be sealed. First, in steps
-- that need no function, what is past its time is given up.
create function logloom_private.send_notifications()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
-- kind of channel, whatever became of the rules.
create function logloom_private.require_room_for_test(p_tenant_id text, p_kind text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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

-- notifications/unsealed_secret_count.sql
-- Secrets of webhooks that are kept in plain text, since the function logloom-notify has no key, or
-- was not called yet.
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

-- notifications/wake_function.sql
-- Wakes an edge function that lies beside logloom-notify, whose address is known.
create function logloom_private.wake_function(p_name text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_endpoint logloom_private.notify_endpoint;
begin
  select e.* into v_endpoint from logloom_private.notify_endpoint e;
  if v_endpoint.url is null or v_endpoint.secret is null then
    raise exception 'logloom_private.notify_endpoint has no url or no secret';
  end if;
  perform logloom_private.call_function(
    regexp_replace(v_endpoint.url, '/logloom-notify/?$', '/' || p_name),
    'X-Logloom-Notify-Secret', v_endpoint.secret
  );
end;
$$;

select logloom_private.finish_migration();
