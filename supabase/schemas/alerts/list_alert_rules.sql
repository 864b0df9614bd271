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
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert rule', 'rule_id',
    (
      select r.created_at from logloom.alert_rules r
      where r.tenant_id = v_tenant_id and r.rule_id = p_after
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
      select o as item
      from logloom.alert_rules r
      cross join lateral logloom_private.alert_rule_of(r) o
      where r.tenant_id = v_tenant_id
        and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
      order by r.created_at desc, r.rule_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

comment on function public.list_alert_rules(text, integer, uuid) is
  'Alert rules of the tenant, newest first. p_limit 1 to 1000 (default 100), p_after: rule_id of '
  'the last item of the page before. Errors: PT400, PT401, PT403.';
