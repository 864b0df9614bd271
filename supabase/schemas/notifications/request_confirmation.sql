-- How long a code is valid, and how long the mail with it counts towards the limits.
create function logloom_private.confirmation_lifetime()
returns interval
language sql
immutable
return interval '24 hours';

create function logloom_private.confirmation_tries()
returns integer
language sql
immutable
return 5;

-- Returns the same digest for all addresses that usually share a mailbox: ignores case and
-- everything from a + to the @.
create function logloom_private.mailbox_digest(p_address text)
returns bytea
language sql
stable
return sha256(convert_to(lower(regexp_replace(p_address, '[+][^@]*@', '@')), 'UTF8'));

-- Creates a new code for the address of a claimed notification, stores its hash, and returns the
-- body of the mail. The previous code becomes invalid.
create function logloom_private.mail_code(p_notification logloom_private.notifications)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- 48 random bits make each of the million codes almost equally likely.
  v_code constant text := lpad((
    (('x' || encode(extensions.gen_random_bytes(6), 'hex'))::bit(48)::bigint) % 1000000
  )::text, 6, '0');
  v_lifetime constant interval := logloom_private.confirmation_lifetime();
begin
  insert into logloom_private.notification_addresses as a (
    tenant_id, customer, mailbox, code_hash, code_expires_at
  )
  values (
    p_notification.tenant_id, p_notification.customer, lower(p_notification.address),
    extensions.crypt(v_code, extensions.gen_salt('bf', 8)), now() + v_lifetime
  )
  on conflict (tenant_id, customer, mailbox) do update
  set code_hash = excluded.code_hash, code_expires_at = excluded.code_expires_at, tries = 0;
  return (
    p_notification.body::jsonb || jsonb_build_object(
      'code', v_code, 'hours', round(extract(epoch from v_lifetime) / 3600, 1)
    )
  )::text;
end;
$$;

-- Whether notifications of the tenant may go to this email address: a code confirmed it, or it
-- belongs to a member. A customer must confirm each address, even if the tenant confirmed it.
create function logloom_private.address_is_confirmed(
  p_tenant_id text,
  p_customer text,
  p_address text
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom_private.notification_addresses a
    where a.tenant_id = p_tenant_id and a.customer is not distinct from p_customer
      and a.mailbox = lower(p_address) and a.confirmed_at is not null
  ) or p_customer is null and logloom_private.is_address_of_member(p_tenant_id, p_address);
end;
$$;

-- Returns the error of a delivery to an unconfirmed address. The error asks for the code unless its
-- mail failed.
create function logloom_private.unconfirmed_address(
  p_tenant_id text,
  p_customer text,
  p_address text
)
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
        and n.customer is not distinct from p_customer and lower(n.address) = lower(p_address)
      order by n.created_at desc
      limit 1
    ),
    'The address is not confirmed: confirm_alert_address takes the code that was mailed to it, '
      'test_alert_rule mails a new one'
  );
end;
$$;

-- Whether an alert rule of the tenant or customer has this address, in lower case, as a
-- destination.
create function logloom_private.rule_names_address(
  p_tenant_id text,
  p_customer text,
  p_mailbox text
)
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
      and logloom_private.customer_of_view(r.view_id) is not distinct from p_customer
  );
end;
$$;

-- Mails a code to the address of a rule, if the limits of the tenant or customer allow it. While a
-- code is valid, mails another code only with p_is_repeat. Returns the error for the delivery.
create function logloom_private.request_confirmation(
  p_rule logloom.alert_rules,
  p_is_repeat boolean
)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_address constant text := p_rule.notification_config ->> 'email';
  v_mailbox constant text := lower(v_address);
  v_mailed constant text := 'The address is not confirmed: confirm_alert_address takes the code '
    'that is mailed to it';
  v_customer constant text := logloom_private.customer_of_view(p_rule.view_id);
  v_codes_per_owner constant integer := case when v_customer is null then 10 else 5 end;
  v_codes_per_address constant integer := 3;
  v_mails record;
begin
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('notifications'), hashtext(p_rule.tenant_id)
  );
  select
    count(*) as of_owner, count(*) filter (where m.is_to_address) as to_address,
    max(m.created_at) filter (where m.is_to_address) as last_at,
    bool_or(m.is_to_address and m.status = 'pending') as is_under_way
  into v_mails
  from (
    select n.*, lower(n.address) = v_mailbox as is_to_address
    from logloom_private.notifications n
    where n.tenant_id = p_rule.tenant_id and n.purpose = 'confirmation'
      and n.customer is not distinct from v_customer
      and n.created_at > now() - logloom_private.confirmation_lifetime()
  ) m;
  -- All rules with the address share one code.
  if v_mails.is_under_way
    or v_mails.last_at > now() - interval '1 minute'
    or not p_is_repeat and exists (
      select
      from logloom_private.notification_addresses a
      where a.tenant_id = p_rule.tenant_id and a.customer is not distinct from v_customer
        and a.mailbox = v_mailbox
        and a.code_expires_at > now() and a.tries < logloom_private.confirmation_tries()
    )
  then
    return v_mailed;
  elsif v_mails.of_owner >= v_codes_per_owner or v_mails.to_address >= v_codes_per_address then
    return 'The address is not confirmed, and no more codes are mailed today';
  end if;
  -- The code is created when the mail is sent.
  insert into logloom_private.notifications (
    tenant_id, customer, rule_id, purpose, channel, address, body, expires_at
  )
  values (
    p_rule.tenant_id, v_customer, p_rule.rule_id, 'confirmation', 'email', v_address,
    '{"type": "address.confirmation"}', now() + logloom_private.notification_lifetime()
  );
  return v_mailed;
end;
$$;

-- Mails a code when a rule gets an address that is not confirmed.
create function logloom_private.request_confirmation_of_rule()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes to the outbox
begin
  if not logloom_private.address_is_confirmed(
    new.tenant_id, logloom_private.customer_of_view(new.view_id),
    new.notification_config ->> 'email'
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
