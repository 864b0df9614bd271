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

-- What a delivery says that is not made because nobody confirmed its address. It asks for no code
-- that was not mailed.
create function logloom_private.unconfirmed_address(p_tenant_id text, p_address text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_error text;
begin
  select n.last_error into v_error
  from logloom_private.notifications n
  where n.tenant_id = p_tenant_id and n.purpose = 'confirmation'
    and lower(n.address) = lower(p_address)
  order by n.created_at desc
  limit 1;
  if v_error is not null then
    return 'The address is not confirmed, and the mail with its code failed: ' || v_error;
  end if;
  return 'The address is not confirmed: confirm_alert_address takes the code that was '
    'mailed to it, test_alert_rule mails a new one';
end;
$$;

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
