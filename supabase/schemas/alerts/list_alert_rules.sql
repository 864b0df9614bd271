-- Alert rules that a reader finds, within a view those that are evaluated in it; without addresses
-- for who only reads.
create function logloom_private.read_alert_rules(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_alert_rule
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_rules', p_tenant_id);
  v_sees_addresses constant boolean := logloom_private.sees_addresses(v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert rule', 'rule_id',
    (
      select r.created_at from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id and r.rule_id = p_after
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select logloom_private.alert_rule_for(r, v_sees_addresses, v_scope.view_id) as item
      from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
        and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
      order by r.created_at desc, r.rule_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

-- A rule as a reader sees it.
create function logloom_private.alert_rule_for(
  p_row logloom.alert_rules,
  p_sees_addresses boolean,
  p_view_id uuid
)
returns public.logloom_alert_rule
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_sees_addresses then
    p_row.notification_destinations := '{}';
    p_row.notification_config := '{}';
    p_row.notification_secrets := '{}';
  end if;
  -- What it found before it was bound to the view as it is now is none of the view.
  if p_view_id is not null and (
    p_row.last_evaluated_at > greatest(
      p_row.asked_at,
      (select v.shows_since from logloom.log_views v where v.view_id = p_view_id)
    )
  ) is not true
  then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
    p_row.asked_at := greatest(
      p_row.asked_at,
      (select v.shows_since from logloom.log_views v where v.view_id = p_view_id)
    );
  end if;
  return logloom_private.alert_rule_of(p_row);
end;
$$;

create function public.list_alert_rules(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select r.* from logloom_private.read_alert_rules(null, p_tenant_id, p_limit, p_after) r;
end;
$$;

comment on function public.list_alert_rules(text, integer, uuid) is
  'Alert rules of the tenant, newest first. p_limit 1 to 1000 (default 100), p_after: rule_id of '
  'the last item of the page before. Who only reads sees no addresses. '
  'Errors: PT400, PT401, PT403.';
