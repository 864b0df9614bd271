-- Ends the portal sessions of a member who is removed, or may make none any more: they stay ended
-- when the member comes back.
create function logloom_private.end_sessions_of_member()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes sessions
begin
  with ended as (
    update logloom.portal_sessions s
    set revoked_at = now()
    where s.tenant_id = old.tenant_id and s.created_by = old.user_id
      and s.revoked_at is null and s.expires_at > now()
    returning s.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    e.tenant_id, logloom_private.actor(), 'portal_session.revoked', e.session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'created_by', e.created_by, 'first_used_at', e.first_used_at,
      'last_used_at', e.last_used_at
    ))
  from ended e;
  return null;
end;
$$;

create trigger end_sessions_of_removed_member
after delete on logloom.tenant_members
for each row execute function logloom_private.end_sessions_of_member();

create trigger end_sessions_of_lesser_member
after update of role on logloom.tenant_members
for each row when (new.role not in ('admin', 'owner') and old.role in ('admin', 'owner'))
execute function logloom_private.end_sessions_of_member();
