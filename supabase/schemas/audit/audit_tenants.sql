-- Audit of a change of plan.
create function logloom_private.audit_tenants()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    new.tenant_id, logloom_private.actor(), 'plan.changed', new.plan_id,
    jsonb_build_object('plan_id', jsonb_build_object('from', old.plan_id, 'to', new.plan_id))
  );
  return null;
end;
$$;

create trigger audit_tenants
after update of plan_id on logloom.tenants
for each row when (old.plan_id is distinct from new.plan_id)
execute function logloom_private.audit_tenants();
