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
