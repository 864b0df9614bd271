create type public.logloom_alert_incident_details as (
  incident_id uuid,
  tenant_id text,
  rule_id uuid,
  rule_name text,
  query_dsl text,
  window_minutes integer,
  "group" jsonb,
  state text,
  opened_at timestamptz,
  last_fired_at timestamptz,
  resolved_at timestamptz,
  resolution text,
  fired_count integer,
  value double precision,
  peak_value double precision,
  threshold double precision,
  comparison public.logloom_alert_comparison,
  acknowledged_at timestamptz,
  acknowledged_by text,
  alerts public.logloom_alert_history_entry[],
  deliveries public.logloom_alert_delivery[],
  assigned_at timestamptz,
  assigned_by text,
  assigned_to text,
  noted_at timestamptz,
  noted_by text,
  note text
);

comment on type public.logloom_alert_incident_details is
  'An incident with its newest alerts and deliveries, at most 100 of each.';

create function logloom_private.read_alert_incident(
  p_scope logloom_private.reading_scope,
  p_incident_id uuid
)
returns public.logloom_alert_incident_details
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because portal sessions have no rights on tables, and no API role reads the outbox
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'get_alert_incident', null, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_row logloom.alert_incidents;
  v_details public.logloom_alert_incident_details;
begin
  perform logloom_private.require_parameter('p_incident_id', p_incident_id is null);
  select i.* into v_row
  from logloom.alert_incidents i
  where i.tenant_id = v_tenant_id and i.incident_id = p_incident_id
    and logloom_private.is_managed_since(v_scope, i.view_id, i.opened_at);
  if not found then
    perform logloom_private.refuse('alerts.incident_not_found');
  end if;
  v_details := jsonb_populate_record(
    v_details, to_jsonb(logloom_private.alert_incident_for(
      v_scope, v_row, logloom_private.addresses_in_incidents(v_tenant_id, array[p_incident_id])
    ))
  );
  v_details.alerts := array(
    select logloom_private.alert_entry_of(h, v_row.resolved_at, true, v_scope.customer is null)
    from logloom.alert_history h
    where h.tenant_id = v_tenant_id and h.incident_id = p_incident_id
    order by h.triggered_at desc, h.alert_id desc
    limit 100
  );
  v_details.deliveries := array(
    select logloom_private.delivery(logloom_private.as_customer_reads(n, v_scope.customer))
    from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.incident_id = p_incident_id
    order by n.created_at desc, n.notification_id desc
    limit 100
  );
  return v_details;
end;
$$;

create function public.get_alert_incident(p_incident_id uuid default null)
returns public.logloom_alert_incident_details
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.read_alert_incident(null, p_incident_id);
end;
$$;

comment on function public.get_alert_incident(uuid) is
  'An incident with its newest 100 alerts and 100 deliveries. Errors: PT400, PT401, PT404.';
