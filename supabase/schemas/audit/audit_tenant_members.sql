-- Audit of members.
create function logloom_private.audit_tenant_members()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_member constant logloom.tenant_members := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_member.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'member.added'
      when 'DELETE' then 'member.removed'
      else case when new.chosen_at is distinct from old.chosen_at then 'member.switched'
        else 'member.changed' end
    end,
    v_member.user_id,
    case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        to_jsonb(old) - 'chosen_at', to_jsonb(new) - 'chosen_at'
      )
      else jsonb_strip_nulls(
        jsonb_build_object('role', v_member.role, 'view_id', v_member.view_id)
      )
    end
  );
  return null;
end;
$$;

create trigger audit_tenant_members
after insert or delete or update on logloom.tenant_members
for each row execute function logloom_private.audit_tenant_members();
