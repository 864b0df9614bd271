create function public.delete_alert_rule(p_rule_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  delete from logloom.alert_rules r where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.delete_alert_rule(uuid) is
  'Deletes an alert rule; its history stays. Errors: PT400, PT401, PT404.';
