-- Has a code mailed to the address of a rule, where the limits allow it and none is good yet, or
-- for who asks again. Returns what the delivery is told.
create function logloom_private.request_confirmation(
  p_rule logloom.alert_rules,
  p_is_repeat boolean
)
returns text
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Whoever makes or changes a rule with an address that is not confirmed has a code mailed to it.
create function logloom_private.request_confirmation_of_rule()
returns trigger
language plpgsql
volatile
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

-- Makes a new code for the address of a notification that was claimed, keeps its hash, and returns
-- what the mail says. The code before is good no more.
create function logloom_private.mail_code(p_notification logloom_private.notifications)
returns text
language plpgsql
volatile
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
