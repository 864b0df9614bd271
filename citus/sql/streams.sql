-- A stream reads by write sequence over all days of a tenant. This is untested over nodes.
create or replace function logloom_citus.require_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'PT400',
    message = 'Log streams do not work with records that are sharded over nodes',
    hint = 'Fetch records with export_logs or tail_logs.';
end;
$$;
