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
