-- What the request's token lets read: all of its tenant.
create function logloom_private.scope_of_token()
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope.tenant_id := logloom_private.caller_tenant();
  return v_scope;
end;
$$;
