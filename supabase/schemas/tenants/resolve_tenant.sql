-- The tenant that an operation acts for, as caller_tenant() says it: PT403 for a token that only
-- reads. All but the reading operations, which make a scope, begin here.
create function logloom_private.resolve_tenant(p_tenant_id text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.caller_tenant(p_tenant_id);
begin
  if not logloom_private.is_service_role() then
    perform logloom_private.require_writing_client(logloom_private.claims());
  end if;
  return v_tenant_id;
end;
$$;
