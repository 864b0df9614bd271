-- Seam: waits until nothing writes to logloom.logs, and stops the writer, retention, erasures and
-- sealing until the end of the transaction. Requests still fill the queue. A migration that changes
-- logloom.logs calls it first; otherwise the migration and the jobs could deadlock.
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
