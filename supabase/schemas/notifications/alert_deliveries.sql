-- A notification as operations show it.
create function logloom_private.delivery(p_notification logloom_private.notifications)
returns public.logloom_alert_delivery
language sql
stable
return row(
  p_notification.notification_id, p_notification.alert_id, p_notification.rule_id,
  p_notification.channel, p_notification.status, p_notification.attempts,
  p_notification.created_at, p_notification.last_attempt_at,
  case p_notification.status when 'pending' then p_notification.next_attempt_at end,
  case p_notification.status when 'delivered' then p_notification.settled_at end,
  p_notification.last_status, p_notification.last_error, p_notification.purpose,
  case p_notification.status when 'pending' then p_notification.expires_at end
)::public.logloom_alert_delivery;

-- Hides from a customer that the service's mail is not configured.
create function logloom_private.as_customer_reads(
  p_notification logloom_private.notifications,
  p_customer text
)
returns logloom_private.notifications
language sql
stable
return case when p_customer is null then p_notification else jsonb_populate_record(
  p_notification, jsonb_build_object('last_error', replace(
    p_notification.last_error, 'SMTP is not configured', 'The mail could not be sent'
  ))
) end;

-- Returns a page of the tenant's deliveries, of an alert or of a rule.
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
    and (p_alert_id is null or n.alert_id = p_alert_id or n.notification_id = any (v_collecting))
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
  'Deliveries of an alert, or of a rule including its tests, newest first. p_limit: 1 to 1000 '
  '(default 100). p_after: delivery_id of the last item of the page before. Errors: PT400, PT401, '
  'PT404.';

-- Makes a delivery of the tenant due again, at the rule's current address.
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
  elsif v_notification.status = 'delivered' then
    perform logloom_private.refuse('notifications.delivery_arrived');
  elsif v_notification.purpose = 'confirmation' then
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
    and not logloom_private.address_is_confirmed(v_tenant_id, v_notification.customer, v_address)
  then
    perform logloom_private.refuse('notifications.address_is_not_confirmed');
  end if;
  -- If an attempt is under way, keeps its claim. The address may have been corrected.
  update logloom_private.notifications n
  set status = 'pending',
    settled_at = null,
    next_attempt_at = case when n.claim_id is null then now() else n.next_attempt_at end,
    expires_at = now() + logloom_private.notification_lifetime(),
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
  'Tries a failed delivery again, now and for another 24 hours, at the rule''s current address. '
  'Errors: PT400, PT401, PT404.';
