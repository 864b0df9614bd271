-- Streams read by write sequence, over all of a tenant's days: over nodes that was never tried.
create or replace function logloom_citus.require_streams()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse('streams.not_over_nodes');
end;
$$;
