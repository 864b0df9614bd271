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

-- The email addresses of the people in incidents of the tenant.
create function logloom_private.addresses_in_incidents(p_tenant_id text, p_incident_ids uuid[])
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.addresses_of_users(
    p_tenant_id,
    array(
      select distinct u.id
      from logloom.alert_incidents i
      cross join lateral (
        values (i.acknowledged_by), (i.assigned_to), (i.assigned_by), (i.noted_by)
      ) u (id)
      where i.tenant_id = p_tenant_id and i.incident_id = any (p_incident_ids) and u.id is not null
    )
  );
end;
$$;

-- An incident as a reader sees it: a customer sees neither people nor notes. p_addresses has the
-- email addresses of its people.
create function logloom_private.alert_incident_for(
  p_scope logloom_private.reading_scope,
  p_row logloom.alert_incidents,
  p_addresses jsonb
)
returns public.logloom_alert_incident
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope.customer is not null then
    p_row.acknowledged_by := null;
    p_row.assigned_at := null;
    p_row.assigned_by := null;
    p_row.assigned_to := null;
    p_row.noted_at := null;
    p_row.noted_by := null;
    p_row.note := null;
  end if;
  return row(
    p_row.incident_id, p_row.tenant_id, p_row.rule_id, p_row.rule_name, p_row.query_dsl,
    p_row.window_minutes, p_row."group",
    logloom_private.alert_incident_state(p_row.resolved_at, p_row.acknowledged_at),
    p_row.opened_at, p_row.last_fired_at, p_row.resolved_at, p_row.resolution, p_row.fired_count,
    p_row.value, p_row.peak_value, p_row.threshold,
    p_row.comparison::public.logloom_alert_comparison,
    p_row.acknowledged_at, coalesce(p_addresses ->> p_row.acknowledged_by, p_row.acknowledged_by),
    p_row.assigned_at, coalesce(p_addresses ->> p_row.assigned_by, p_row.assigned_by),
    coalesce(p_addresses ->> p_row.assigned_to, p_row.assigned_to),
    p_row.noted_at, coalesce(p_addresses ->> p_row.noted_by, p_row.noted_by), p_row.note
  )::public.logloom_alert_incident;
end;
$$;

create function logloom_private.read_alert_incidents(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_rule_id uuid,
  p_state text,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_alert_incident
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'list_alert_incidents', p_tenant_id, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_views constant uuid[] := logloom_private.views_of_alerts(v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'incident', 'incident_id',
    (
      select i.opened_at from logloom.alert_incidents i
      where i.tenant_id = v_tenant_id and i.incident_id = p_after
        and (v_views is null or i.view_id = any (v_views))
    )
  );
begin
  if p_state not in ('open', 'acknowledged', 'resolved', 'unresolved') then
    perform logloom_private.refuse('alerts.incident_state_is_unknown');
  end if;
  return query
  with page as materialized (
    select b.incident
    from (
      select
        l.incident,
        -- A group can be as long as a message.
        sum(
          octet_length(concat((l.incident)."group", (l.incident).query_dsl, (l.incident).note))
        ) over (
          order by (l.incident).opened_at desc, (l.incident).incident_id desc
          rows between unbounded preceding and 1 preceding
        ) as bytes_before
      from (
        select i as incident
        from logloom.alert_incidents i
        where i.tenant_id = v_tenant_id
          and (
            v_views is null
            or i.view_id = any (v_views)
              and i.opened_at >= (
                select v.shows_since from logloom.log_views v where v.view_id = i.view_id
              )
          )
          and (p_rule_id is null or i.rule_id = p_rule_id)
          and (p_state is null or (i.resolved_at is not null) = (p_state = 'resolved'))
          and (
            p_state is null or p_state in ('resolved', 'unresolved')
            or (i.acknowledged_at is not null) = (p_state = 'acknowledged')
          )
          and (p_after is null or (i.opened_at, i.incident_id) < (v_after, p_after))
        order by i.opened_at desc, i.incident_id desc
        limit v_limit
      ) l
    ) b
    where coalesce(b.bytes_before, 0) < logloom_private.list_bytes()
  )
  select s.*
  from page p
  cross join logloom_private.addresses_in_incidents(
    v_tenant_id, array(select (a.incident).incident_id from page a)
  ) n (addresses)
  cross join lateral logloom_private.alert_incident_for(v_scope, p.incident, n.addresses) s
  order by (p.incident).opened_at desc, (p.incident).incident_id desc;
end;
$$;

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
begin
  return query
  select i.*
  from logloom_private.read_alert_incidents(
    null, p_tenant_id, p_rule_id, p_state, p_limit, p_after
  ) i;
end;
$$;

comment on function public.list_alert_incidents(text, uuid, text, integer, uuid) is
  'Incidents of the tenant, newest first, with filters: the rule, and p_state (open, acknowledged, '
  'resolved, or unresolved for open and acknowledged). p_limit: 1 to 1000 (default 100). p_after: '
  'incident_id of the last item of the page before. With long groups a page may have fewer items: '
  'read until a page is empty. Errors: PT400, PT401, PT403.';
