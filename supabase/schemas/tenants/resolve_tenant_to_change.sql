-- resolve_tenant() for an operation that changes something: PT403 for the token of an OAuth client
-- that may only read.
create function logloom_private.resolve_tenant_to_change(p_tenant_id text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
begin
  perform logloom_private.require_writing_client(logloom_private.claims());
  return v_tenant_id;
end;
$$;
