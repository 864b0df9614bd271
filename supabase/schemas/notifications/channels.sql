-- Returns the kind of a channel: email, or webhook for everything that is sent by HTTP. Plans limit
-- each kind, and tenants can switch it off.
create function logloom_private.channel_kind(p_channel text)
returns text
language sql
immutable
return case p_channel when 'email' then 'email' else 'webhook' end;

-- Returns how many delivery attempts of a kind the tenant's plan allows in an hour. Each customer
-- may use a tenth of them.
create function logloom_private.channel_limit(p_kind text, p_tenant_id text, p_customer text)
returns integer
language sql
stable
return ceil(
  (to_jsonb(logloom_private.plan_of(p_tenant_id)) ->> (p_kind || 's_per_hour'))::integer
    / case when p_customer is null then 1.0 else 10.0 end
);

-- Returns the address of a channel: from a rule's notification_config or, sealed, from its secrets.
-- Null if there is none. A new channel needs a line here, a value in notifications_channel_is_known
-- and alert_rules_destinations_are_known, and a delivery in functions/logloom-notify/channels.ts.
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
  -- An unknown channel is an error, so that it never gets the address of another channel.
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

-- Returns why an email may not be sent; null if it may.
create function logloom_private.email_refusal(
  p_notification logloom_private.notifications
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- This limit holds for all tenants together.
  v_codes_per_mailbox constant integer := 10;
  v_is_confirmed constant boolean := logloom_private.address_is_confirmed(
    p_notification.tenant_id, p_notification.customer, p_notification.address
  );
begin
  if p_notification.purpose <> 'confirmation' then
    return case when not v_is_confirmed then logloom_private.unconfirmed_address(
      p_notification.tenant_id, p_notification.customer, p_notification.address
    ) end;
  elsif v_is_confirmed then
    return 'The address is already confirmed';
  -- Without this, a user could send unlimited mail by creating rules and deleting them at once.
  elsif not logloom_private.rule_names_address(
    p_notification.tenant_id, p_notification.customer, lower(p_notification.address)
  ) then
    return 'No alert rule has this address any more';
  end if;
  -- Retries do not count: the first attempt counted.
  if p_notification.attempts = 0 and (
    select count(*) >= v_codes_per_mailbox
    from logloom_private.confirmation_mails m
    where m.mailbox_digest = logloom_private.mailbox_digest(p_notification.address)
      and m.sent_at > now() - logloom_private.confirmation_lifetime()
  ) then
    return 'Too many codes were mailed to this address: none is mailed to it today';
  end if;
  return null;
end;
$$;

-- Returns why a customer's new message is not sent; null if it may wait to be sent. At most as many
-- messages wait as the customer may send in a day, and at most 2000, which are quick to count.
create function logloom_private.waiting_refusal(p_notification logloom_private.notifications)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind constant text := logloom_private.channel_kind(p_notification.channel);
  v_max constant integer := least(2000, 24::bigint * logloom_private.channel_limit(
    v_kind, p_notification.tenant_id, p_notification.customer
  ));
begin
  return case
    when (
      select count(*)
      from logloom_private.notifications n
      where n.tenant_id = p_notification.tenant_id and n.customer = p_notification.customer
        and n.status = 'pending' and logloom_private.channel_kind(n.channel) = v_kind
    ) > v_max then format('%s messages of the customer wait already', v_max)
  end;
end;
$$;

-- Returns why a customer's message is not sent; null if it may be sent. The customer's view or rule
-- may have changed while the message waited.
create function logloom_private.customer_refusal(p_notification logloom_private.notifications)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
begin
  if p_notification.customer is null then
    return null;
  end if;
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = p_notification.rule_id;
  if not found then
    return 'The rule was deleted';
  elsif p_notification.purpose not in ('alert', 'recovery') then
    return null;
  elsif num_nonnulls(v_rule.held_at, v_rule.paused_at) > 0
    or not logloom_private.maker_may_read(v_rule.tenant_id, v_rule.created_by)
  then
    return 'The rule was stopped';
  end if;
  return case
    when p_notification.purpose = 'alert' and logloom_private.view_changed_since(p_notification)
      then 'What the customer may see has changed since the alert'
  end;
end;
$$;

-- True if the view of a message's rule has changed since the alert.
create function logloom_private.view_changed_since(p_notification logloom_private.notifications)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select v.shows_since > least(p_notification.created_at, h.triggered_at, i.opened_at)
    from logloom.alert_rules r
    join logloom.log_views v on v.view_id = r.view_id
    left join logloom.alert_history h on h.alert_id = p_notification.alert_id
    left join logloom.alert_incidents i
      on p_notification.purpose = 'recovery' and i.incident_id = p_notification.incident_id
    where r.rule_id = p_notification.rule_id
  );
end;
$$;

-- Returns the body of a message to send. If the view of a customer's rule has changed since the
-- incident opened, the end of the incident is sent without values.
create function logloom_private.body_for_customer(p_notification logloom_private.notifications)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_data jsonb;
begin
  if p_notification.customer is null or p_notification.purpose <> 'recovery'
    or logloom_private.view_changed_since(p_notification) is not true
  then
    return p_notification.body;
  end if;
  v_data := p_notification.body::jsonb -> 'data';
  return jsonb_set(
    p_notification.body::jsonb, '{data}',
    v_data || '{"value": null, "peak_value": null}' || jsonb_build_object('alerts', (
      select jsonb_agg(a.alert || '{"value": null}' order by a.n)
      from jsonb_array_elements(v_data -> 'alerts') with ordinality a (alert, n)
    ))
  )::text;
end;
$$;
