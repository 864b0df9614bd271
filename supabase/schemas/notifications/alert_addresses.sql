-- A page of the email addresses in the tenant's own rules, or a customer's rules.
create function logloom_private.read_alert_addresses(
  p_scope logloom_private.reading_scope,
  p_limit integer,
  p_after text
)
returns setof public.logloom_notification_address
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads codes or the users of Auth
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'list_alert_addresses', null, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(p_limit);
begin
  return query
  with page as materialized (
    select distinct lower(r.notification_config ->> 'email') as mailbox
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and 'email' = any(r.notification_destinations)
      and r.notification_config ->> 'email' is not null
      and logloom_private.customer_of_view(r.view_id) is not distinct from v_scope.customer
      and (p_after is null or lower(r.notification_config ->> 'email') > lower(p_after))
    order by 1
    limit v_limit
  )
  select
    p.mailbox, logloom_private.address_is_confirmed(v_tenant_id, v_scope.customer, p.mailbox),
    a.confirmed_at,
    case when a.code_expires_at > now() then a.code_expires_at end,
    case when a.code_expires_at > now()
      then greatest(logloom_private.confirmation_tries() - a.tries, 0) end
  from page p
  left join logloom_private.notification_addresses a
    on a.tenant_id = v_tenant_id and a.mailbox = p.mailbox
    and a.customer is not distinct from v_scope.customer
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
  return query select a.* from logloom_private.read_alert_addresses(null, p_limit, p_after) a;
end;
$$;

comment on function public.list_alert_addresses(integer, text) is
  'The email addresses of the tenant''s alert rules in alphabetical order, and whether '
  'notifications may be sent there. p_limit: 1 to 1000 (default 100). p_after: email of the last '
  'item of the page before. Errors: PT400, PT401.';

-- Raises PT400 if the plan has no room for another confirmed address. Customers' addresses may use
-- at most half of the plan's limit. To make room, deletes addresses that no rule uses.
create function logloom_private.require_room_for_address(p_tenant_id text, p_customer text)
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
        and (p_customer is null or count(a.customer) < v_max / 2)
      from logloom_private.notification_addresses a
      where a.tenant_id = p_tenant_id and a.confirmed_at is not null
    ) then
      return;
    end if;
    delete from logloom_private.notification_addresses a
    where a.tenant_id = p_tenant_id and a.confirmed_at is not null
      and not logloom_private.rule_names_address(p_tenant_id, a.customer, a.mailbox);
  end loop;
  perform logloom_private.refuse(
    'notifications.no_room_for_address',
    (case when p_customer is null then v_max else v_max / 2 end)::text
  );
end;
$$;

-- Confirms an address by the code that was mailed to it, or counts a wrong attempt. A customer's
-- confirmation counts only for the customer's own rules.
create function logloom_private.confirm_address(
  p_scope logloom_private.reading_scope,
  p_email text,
  p_code text
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads or confirms addresses
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'confirm_alert_address', null, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_mailbox constant text := lower(logloom_private.trim_space(p_email));
  v_code constant text := logloom_private.trim_space(p_code);
  v_address logloom_private.notification_addresses;
begin
  perform logloom_private.require_parameter('p_email', p_email is null);
  perform logloom_private.require_parameter('p_code', p_code is null);
  if v_code !~ '^[0-9]{6}$' then
    perform logloom_private.refuse('notifications.code_is_malformed');
  end if;
  perform pg_advisory_xact_lock(logloom_private.lock_key('notifications'), hashtext(v_tenant_id));
  select a.* into v_address
  from logloom_private.notification_addresses a
  where a.tenant_id = v_tenant_id and a.customer is not distinct from v_scope.customer
    and a.mailbox = v_mailbox
  for update;
  if v_address.confirmed_at is not null then
    return jsonb_build_object('success', true);
  elsif v_address.code_expires_at > now() is not true then
    perform logloom_private.refuse('notifications.no_code_is_good');
  elsif v_address.tries >= logloom_private.confirmation_tries() then
    perform logloom_private.refuse('notifications.code_was_tried_too_often');
  end if;
  -- Compares hashes, so that the duration tells nothing about the code.
  if extensions.crypt(v_code, v_address.code_hash) <> v_address.code_hash then
    update logloom_private.notification_addresses a
    set tries = a.tries + 1
    where a.tenant_id = v_tenant_id and a.customer is not distinct from v_scope.customer
      and a.mailbox = v_mailbox;
    return logloom_private.refuse_and_keep('notifications.code_is_wrong');
  end if;
  perform logloom_private.require_room_for_address(v_tenant_id, v_scope.customer);
  update logloom_private.notification_addresses a
  set confirmed_at = now(),
    confirmed_by = logloom_private.person_in_scope(v_scope),
    code_hash = null,
    code_expires_at = null,
    tries = 0
  where a.tenant_id = v_tenant_id and a.customer is not distinct from v_scope.customer
    and a.mailbox = v_mailbox;
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
  return logloom_private.confirm_address(null, p_email, p_code);
end;
$$;

comment on function public.confirm_alert_address(text, text) is
  'Confirms the email address of an alert rule by the six digits that were mailed to it. Returns '
  '{"success": true}. A code is valid for 24 hours and five attempts. Errors: PT400, PT401.';
