-- Audit of settings, where a value changed. They go with their tenant, unnoted.
create function logloom_private.audit_tenant_settings()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select new.tenant_id, logloom_private.actor(), 'settings.changed', 'settings', c.changes
  from logloom_private.changed_members(
    case when tg_op = 'UPDATE' then to_jsonb(old) - 'updated_at' end,
    to_jsonb(new) - 'updated_at' - 'tenant_id'
  ) c (changes)
  where c.changes <> '{}';
  return null;
end;
$$;

create trigger audit_tenant_settings
after insert or update on logloom.tenant_settings
for each row execute function logloom_private.audit_tenant_settings();
