-- The canary's own tenant.
create function logloom_private.canary_tenant()
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'logloom-canary';
end;
$$;
