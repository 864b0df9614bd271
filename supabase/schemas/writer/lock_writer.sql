-- Takes the writer's lock to the end of the transaction. False where another writer holds it.
create function logloom_private.lock_writer()
returns boolean
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  return pg_try_advisory_xact_lock(logloom_private.lock_key('writer'));
end;
$$;

-- Waits until nothing writes to logloom.logs, and keeps the writer, retention, erasures and the
-- sealing from it to the end of the transaction; requests go on into the queue. The first statement
-- of a migration that changes logloom.logs: otherwise the two deadlock.
create function logloom_private.hold_writers()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  -- In the order in which the jobs take them.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  -- A migration may make types and functions too, which a node takes only over the connection that
  -- everything before them came by.
  if logloom_private.is_spread() then
    perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  end if;
end;
$$;
