-- The tenant of the request's token, see tenant_of_token(). Null if unusable.
create function logloom_private.current_tenant_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if current_setting('role', true) = 'anon' then
    return null;
  end if;
  return logloom_private.tenant_of_token(logloom_private.claims());
end;
$$;

grant execute on function logloom_private.current_tenant_id()
to anon, authenticated, service_role;
