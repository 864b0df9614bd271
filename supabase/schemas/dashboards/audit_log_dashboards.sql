-- Audits changes of dashboards. Leaves out the content of a private one.
create function logloom_private.audit_log_dashboards()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_dashboard constant logloom.log_dashboards := coalesce(new, old);
  v_was_shared constant boolean := tg_op <> 'UPDATE' or old.is_shared;
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_dashboard.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'dashboard.created'
      when 'DELETE' then 'dashboard.deleted'
      else 'dashboard.changed'
    end,
    v_dashboard.dashboard_id::text,
    jsonb_build_object('is_shared', v_dashboard.is_shared)
    || case when v_dashboard.is_shared and v_was_shared then
        jsonb_build_object('name', v_dashboard.name)
        || case when tg_op = 'UPDATE' then logloom_private.changed_members(
            to_jsonb(old) - 'updated_at', to_jsonb(new) - 'updated_at'
          ) else '{}' end
      else '{}' end
  );
  return null;
end;
$$;

create trigger audit_log_dashboards
after insert or delete or update on logloom.log_dashboards
for each row execute function logloom_private.audit_log_dashboards();
