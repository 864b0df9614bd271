-- Held to the end of the transaction: one at a time makes, renames or drops partitions.
create function logloom_private.lock_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
end;
$$;
