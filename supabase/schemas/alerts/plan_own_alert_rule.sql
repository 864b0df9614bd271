-- Compiles an enabled rule of the caller's tenant where it is new or asks something else now, so
-- that no round has to.
create function logloom_private.plan_own_alert_rule(p_tenant_id text, p_rule_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles see neither plans nor groups
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  if exists (
    select
    from logloom.alert_rules r
    where r.rule_id = p_rule_id
      and r.tenant_id = v_tenant_id
      and r.enabled
      and not exists (
        select from logloom_private.planned_alert_rules p where p.rule_id = r.rule_id
      )
  ) then
    perform logloom_private.plan_alert_rule(p_rule_id, now());
  end if;
exception when foreign_key_violation then
  -- Its group was deleted meanwhile, when it had no rule: the evaluator makes both.
  return;
end;
$$;

grant execute on function logloom_private.plan_own_alert_rule(text, uuid)
to authenticated, service_role;
