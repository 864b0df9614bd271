-- The tenant that an operation acts for, as caller_tenant() says it: PT403 for a token that only
-- reads, an OAuth client's or a viewer's. All but the reading operations, which make a scope, begin
-- here.
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
    if logloom_private.is_viewer(v_tenant_id, logloom_private.claims()) then
      perform logloom_private.refuse('callers.viewer_may_only_read');
    end if;
  end if;
  return v_tenant_id;
end;
$$;
