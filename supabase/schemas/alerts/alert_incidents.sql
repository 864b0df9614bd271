-- open, acknowledged or resolved.
create function logloom_private.alert_incident_state(
  p_resolved_at timestamptz,
  p_acknowledged_at timestamptz
)
returns text
language sql
immutable
return case
  when p_resolved_at is not null then 'resolved'
  when p_acknowledged_at is not null then 'acknowledged'
  else 'open'
end;

-- An incident as the operations show it.
create function logloom_private.alert_incident_of(p_row logloom.alert_incidents)
returns public.logloom_alert_incident
language sql
stable
return row(
  p_row.incident_id, p_row.tenant_id, p_row.rule_id, p_row.rule_name, p_row.query_dsl,
  p_row.window_minutes, p_row."group",
  logloom_private.alert_incident_state(p_row.resolved_at, p_row.acknowledged_at),
  p_row.opened_at, p_row.last_fired_at, p_row.resolved_at, p_row.resolution, p_row.fired_count,
  p_row.value, p_row.peak_value, p_row.threshold,
  p_row.comparison::public.logloom_alert_comparison, p_row.acknowledged_at, p_row.acknowledged_by
);

create function public.list_alert_incidents(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_state text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_incident
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_list_bytes constant integer := logloom_private.list_bytes();
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'incident', 'incident_id',
    (
      select i.opened_at from logloom.alert_incidents i
      where i.tenant_id = v_tenant_id and i.incident_id = p_after
    )
  );
begin
  if p_state not in ('open', 'acknowledged', 'resolved') then
    perform logloom_private.refuse('alerts.incident_state_is_unknown');
  end if;
  return query
  select (p.item).*
  from (
    select
      logloom_private.alert_incident_of(i) as item,
      -- A group may be a whole message.
      sum(octet_length(i."group"::text) + octet_length(i.query_dsl)) over (
        order by i.opened_at desc, i.incident_id desc
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select l.*
      from logloom.alert_incidents l
      where l.tenant_id = v_tenant_id
        and (p_rule_id is null or l.rule_id = p_rule_id)
        and (p_state is null or (l.resolved_at is not null) = (p_state = 'resolved'))
        and (
          p_state is null or p_state = 'resolved'
          or (l.acknowledged_at is not null) = (p_state = 'acknowledged')
        )
        and (p_after is null or (l.opened_at, l.incident_id) < (v_after, p_after))
      order by l.opened_at desc, l.incident_id desc
      limit v_limit
    ) i
    order by i.opened_at desc, i.incident_id desc
  ) p
  where coalesce(p.bytes_before, 0) < v_list_bytes;
end;
$$;

comment on function public.list_alert_incidents(text, uuid, text, integer, uuid) is
  'Incidents of the tenant, newest first: of one rule, and open, acknowledged or resolved, where '
  'given. p_limit 1 to 1000 (default 100), p_after: incident_id of the last item of the page '
  'before. With long groups a page may have fewer; the one after the last has none. '
  'Errors: PT400, PT401, PT403.';

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
