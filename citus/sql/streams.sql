-- Streams read by write sequence, over all of a tenant's days: over nodes that was never tried.
create or replace function logloom_citus.require_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'PT400',
    message = 'Log streams are not kept where records are sharded over nodes',
    hint = 'Fetch records by export_logs or tail_logs.';
end;
$$;
