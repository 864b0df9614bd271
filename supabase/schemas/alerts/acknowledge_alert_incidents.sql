create function public.acknowledge_alert_incidents(p_incident_ids uuid[] default null)
returns public.logloom_alert_acknowledgement
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_held uuid[];
  v_acknowledged integer;
begin
  perform logloom_private.require_parameter('p_incident_ids', p_incident_ids is null);
  if cardinality(p_incident_ids) not between 1 and 1000 then
    perform logloom_private.refuse('alerts.too_many_incidents');
  end if;
  -- In one order, so that two callers never wait for each other.
  v_held := array(
    select i.incident_id
    from logloom.alert_incidents i
    where i.tenant_id = v_tenant_id and i.incident_id = any (p_incident_ids)
    order by i.incident_id
    for no key update
  );
  if cardinality(v_held) = 0 then
    perform logloom_private.refuse('alerts.incident_not_found');
  end if;
  -- The first acknowledgement stays on record.
  update logloom.alert_incidents i
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where i.incident_id = any (v_held) and i.acknowledged_at is null;
  get diagnostics v_acknowledged = row_count;
  update logloom.alert_history h
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where h.tenant_id = v_tenant_id and h.incident_id = any (v_held) and h.acknowledged_at is null;
  return row(true, v_acknowledged)::public.logloom_alert_acknowledgement;
end;
$$;

comment on function public.acknowledge_alert_incidents(uuid[]) is
  'Records that the caller answers incidents, 1 to 1000, with all their alerts. Those that nobody '
  'had acknowledged before are counted; ids that the tenant does not have are passed over, unless '
  'it has none of them. Errors: PT400, PT401, PT404.';
