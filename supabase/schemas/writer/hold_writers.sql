-- Seam: waits until nothing writes to logloom.logs, and keeps the writer, retention, erasures and
-- the sealing from it to the end of the transaction; requests go on into the queue. The first
-- statement of a migration that changes logloom.logs: otherwise the two deadlock.
create function logloom_private.hold_writers()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- In the order in which the jobs take them.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
end;
$$;
