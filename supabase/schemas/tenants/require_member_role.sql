-- PT400 unless it is member, admin or owner.
create function logloom_private.require_member_role(p_role text)
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_role not in ('member', 'admin', 'owner') then
    perform logloom_private.refuse('tenants.role_is_unknown');
  end if;
end;
$$;
