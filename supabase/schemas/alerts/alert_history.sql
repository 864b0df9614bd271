-- True for a portal session with the part alerts: its customer manages own rules.
create function logloom_private.manages_alerts(p_scope logloom_private.reading_scope)
returns boolean
language sql
stable
return coalesce(
    p_scope.kind = 'portal_session' and 'create_alert_rule' = any (p_scope.operations), false
  );

-- Returns the views whose rules and alerts a reader sees; null: all of the tenant.
create function logloom_private.views_of_alerts(p_scope logloom_private.reading_scope)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if logloom_private.manages_alerts(p_scope) then
    return array(
      select v.view_id
      from logloom.log_views v
      where v.tenant_id = p_scope.tenant_id and v.customer = p_scope.customer
    );
  end if;
  return case when p_scope.view_id is not null then array[p_scope.view_id] end;
end;
$$;

-- Whether a reader may see where alerts are sent. Addresses are secrets, and callers who may only
-- read do not need them.
create function logloom_private.sees_addresses(p_scope logloom_private.reading_scope)
returns boolean
language sql
stable
return p_scope.kind is not distinct from 'token' and p_scope.view_id is null
  and logloom_private.reads_only(logloom_private.claims()) is not true;

-- Returns an alert as operations show it: with addresses if p_sees_addresses, with people if
-- p_sees_people. p_resolved_at: when the alert's incident ended.
create function logloom_private.alert_entry_of(
  p_row logloom.alert_history,
  p_resolved_at timestamptz,
  p_sees_addresses boolean,
  p_sees_people boolean
)
returns public.logloom_alert_history_entry
language sql
stable
return row(
  p_row.alert_id, p_row.rule_id, p_row.tenant_id, p_row.triggered_at, p_row.value,
  p_row.threshold, p_row.acknowledged_at is not null, p_row.acknowledged_at,
  case when p_sees_people then p_row.acknowledged_by end,
  p_row.notification_sent_at is not null, p_row.notification_sent_at,
  case when p_sees_addresses then p_row.notification_channels else '{}' end,
  case when p_sees_addresses then p_row.notification_error end,
  p_row.window_start, p_row.window_end, p_row."group", p_row.incident_id, p_resolved_at,
  p_row.silence_id, p_row.absent
);

-- Returns alerts for a reader. In a view: only alerts of the view's rules, since the view last
-- changed. For a customer: only alerts of their own rules.
create function logloom_private.read_alert_history(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_rule_id uuid,
  p_ts_from text,
  p_ts_to text,
  p_acknowledged boolean,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_alert_history_entry
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
-- definer because callers who may only read reach no table
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_history', p_tenant_id);
  v_is_customer constant boolean := logloom_private.manages_alerts(v_scope);
  v_sees_addresses constant boolean := v_is_customer or logloom_private.sees_addresses(v_scope);
  v_views constant uuid[] := logloom_private.views_of_alerts(v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert', 'alert_id',
    (
      select h.triggered_at from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id and h.alert_id = p_after
        and (
          v_views is null
          or h.view_id = any (v_views)
            and h.triggered_at >= (
              select v.shows_since from logloom.log_views v where v.view_id = h.view_id
            )
        )
    )
  );
begin
  if v_from >= v_to then
    perform logloom_private.refuse('alerts.range_is_empty');
  end if;
  -- Planning takes a tenth of a call. Without filters, one cached plan always fits. With filters,
  -- the query is planned for their values.
  if num_nonnulls(p_rule_id, v_from, v_to, p_acknowledged, p_after) > 0 then
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return query
  select e.*
  from (
    select h.alert, sum(octet_length((h.alert)."group"::text)) over (
      order by (h.alert).triggered_at desc, (h.alert).alert_id desc
      rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (
      select h as alert
      from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id
        and (
          v_views is null
          or h.view_id = any (v_views)
            and h.triggered_at >= (
              select v.shows_since from logloom.log_views v where v.view_id = h.view_id
            )
        )
        and (p_rule_id is null or h.rule_id = p_rule_id)
        and (v_from is null or h.triggered_at >= v_from)
        and (v_to is null or h.triggered_at < v_to)
        and (p_acknowledged is null or (h.acknowledged_at is not null) = p_acknowledged)
        and (p_after is null or (h.triggered_at, h.alert_id) < (v_after, p_after))
      order by h.triggered_at desc, h.alert_id desc
      limit v_limit
    ) h
  ) h
  left join logloom.alert_incidents i on i.incident_id = (h.alert).incident_id
  cross join lateral logloom_private.alert_entry_of(
    h.alert, i.resolved_at, v_sees_addresses, not v_is_customer
  ) e
  -- A group can be as long as a message.
  where coalesce(h.bytes_before, 0) < logloom_private.list_bytes()
  order by (h.alert).triggered_at desc, (h.alert).alert_id desc;
end;
$$;

create function public.list_alert_history(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_acknowledged boolean default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_history_entry
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select h.*
  from logloom_private.read_alert_history(
    null, p_tenant_id, p_rule_id, p_ts_from, p_ts_to, p_acknowledged, p_limit, p_after
  ) h;
end;
$$;

comment on function public.list_alert_history(
  text, uuid, text, text, boolean, integer, uuid
) is
  'Alerts of the tenant, newest first, with filters: the rule, triggered from p_ts_from to before '
  'p_ts_to, acknowledged or not. p_limit: 1 to 1000 (default 100). p_after: alert_id of the last '
  'item of the page before. With long groups a page may have fewer items: read until a page is '
  'empty. Errors: PT400, PT401, PT403.';

-- Returns who acknowledges an alert: the user, or a portal session.
create function logloom_private.person_in_scope(p_scope logloom_private.reading_scope)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_scope.customer is null then logloom_private.require_user_id()
    else logloom_private.actor() end;
end;
$$;

create function logloom_private.acknowledge_in_scope(
  p_scope logloom_private.reading_scope,
  p_alert_id uuid
)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'acknowledge_alert', null, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_user_id constant text := logloom_private.person_in_scope(v_scope);
  v_incident_id uuid;
begin
  perform logloom_private.require_parameter('p_alert_id', p_alert_id is null);
  -- Locks the incident before its alerts, in the same order as when an alert fires.
  perform
  from logloom.alert_incidents i
  where i.tenant_id = v_tenant_id and i.incident_id = (
    select h.incident_id
    from logloom.alert_history h
    where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
      and logloom_private.is_managed_since(v_scope, h.view_id, h.triggered_at)
  )
  for no key update;
  -- The first acknowledgement stays on record.
  update logloom.alert_history h
  set
    acknowledged_at = coalesce(h.acknowledged_at, now()),
    acknowledged_by = coalesce(h.acknowledged_by, v_user_id)
  where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
    and logloom_private.is_managed_since(v_scope, h.view_id, h.triggered_at)
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

create function public.acknowledge_alert(p_alert_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.acknowledge_in_scope(null, p_alert_id);
end;
$$;

comment on function public.acknowledge_alert(uuid) is
  'Acknowledges an alert. Acknowledging the last alert of an incident acknowledges the incident. '
  'Repeating it changes nothing. Errors: PT400, PT401, PT404.';
