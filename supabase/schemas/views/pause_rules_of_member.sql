-- Runs when a member is removed or becomes a viewer. Pauses the alert rules that they created in a
-- view, because they may no longer read everything in it. Any member can enable these rules again.
-- Rules without a view belong to the tenant and go on. hold_rules_of_makers holds customers' rules.
create function logloom_private.pause_rules_of_member()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
begin
  with paused as (
    update logloom.alert_rules r
    set enabled = false, updated_at = now()
    where r.tenant_id = old.tenant_id and r.created_by = old.user_id
      and r.view_id is not null and r.enabled
      and logloom_private.customer_of_view(r.view_id) is null
    returning r.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    p.tenant_id, logloom_private.actor(), 'alert_rule.paused', p.rule_id::text,
    jsonb_build_object('name', p.name, 'created_by', p.created_by, 'view_id', p.view_id)
  from paused p;
  return null;
end;
$$;

create trigger pause_rules_of_removed_member
after delete on logloom.tenant_members
for each row execute function logloom_private.pause_rules_of_member();

create trigger pause_rules_of_new_viewer
after update of role on logloom.tenant_members
for each row when (new.role = 'viewer' and old.role <> 'viewer')
execute function logloom_private.pause_rules_of_member();
