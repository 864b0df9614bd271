-- PT400 unless it is a role, with a view if it is viewer, and without one if it is another.
create function logloom_private.require_member_role(p_role text, p_view_id uuid)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_role not in ('viewer', 'member', 'admin', 'owner') then
    perform logloom_private.refuse('tenants.role_is_unknown');
  elsif p_role = 'viewer' and p_view_id is null then
    perform logloom_private.refuse('tenants.viewer_needs_a_view');
  elsif p_role <> 'viewer' and p_view_id is not null then
    perform logloom_private.refuse('tenants.view_is_for_viewers');
  end if;
end;
$$;
