-- Seam: waits until nothing writes to logloom.logs. Stops the writer, retention, erasures and
-- sealing until the transaction ends. Requests still fill the queue. A migration that changes
-- logloom.logs calls it first. Otherwise the migration and the jobs could deadlock.
create function logloom_private.hold_writers()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Takes the locks in the same order as the jobs do.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
end;
$$;
