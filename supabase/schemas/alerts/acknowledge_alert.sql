create function public.acknowledge_alert(p_alert_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_incident_id uuid;
begin
  perform logloom_private.require_parameter('p_alert_id', p_alert_id is null);
  -- Held before its entries: so does who fires one more.
  perform
  from logloom.alert_incidents i
  where i.tenant_id = v_tenant_id and i.incident_id = (
    select h.incident_id
    from logloom.alert_history h
    where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  )
  for no key update;
  -- The first acknowledgement stays on record.
  update logloom.alert_history h
  set
    acknowledged_at = coalesce(h.acknowledged_at, now()),
    acknowledged_by = coalesce(h.acknowledged_by, v_user_id)
  where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  returning h.incident_id into v_incident_id;
  if not found then
    perform logloom_private.refuse('alerts.alert_not_found');
  end if;
  update logloom.alert_incidents i
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where i.tenant_id = v_tenant_id and i.incident_id = v_incident_id
    and i.acknowledged_at is null
    and not exists (
      select from logloom.alert_history h
      where h.incident_id = v_incident_id and h.acknowledged_at is null
    );
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.acknowledge_alert(uuid) is
  'Records that the caller answers an alert, and with the last of an incident''s alerts the '
  'incident. Again: no change. Errors: PT400, PT401, PT404.';
