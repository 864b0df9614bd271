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
