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
