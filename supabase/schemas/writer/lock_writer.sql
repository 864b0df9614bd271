-- Takes the writer's lock to the end of the transaction. False where another writer holds it.
create function logloom_private.lock_writer()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return pg_try_advisory_xact_lock(logloom_private.lock_key('writer'));
end;
$$;
