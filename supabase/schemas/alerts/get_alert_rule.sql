create function public.get_alert_rule(p_rule_id uuid default null)
returns public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  select r.* into v_row
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return logloom_private.alert_rule_of(v_row);
end;
$$;

comment on function public.get_alert_rule(uuid) is
  'An alert rule of the tenant. Errors: PT400, PT401, PT404.';
