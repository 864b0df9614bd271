-- PT403 unless the caller is an admin, PT404 unless the tenant has the view. Nothing for null.
create function logloom_private.require_view_by_admin(p_tenant_id text, p_view_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_view_id is not null then
    perform logloom_private.require_role(p_tenant_id, 'admin');
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
  end if;
end;
$$;
