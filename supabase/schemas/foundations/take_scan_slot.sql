-- Returns true at once while the search is shorter than search_free_time. After that, waits until
-- no other search of the tenant holds the same scan slot. Called every few hundred records.
-- Parallel safe although it takes a lock: the leader shares its worker's lock, and takes the lock
-- again when the worker has ended.
create function logloom_private.take_scan_slot(
  p_scan text default current_setting('logloom.scan', true)
)
returns boolean
language plpgsql
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Empty outside a search: jobs have their own budgets.
  if coalesce(p_scan, '') = ''
    or extract(epoch from clock_timestamp()) < split_part(p_scan, ' ', 1)::numeric
  then
    return true;
  end if;
  -- The statement's timeout ends this wait.
  while not pg_try_advisory_xact_lock(split_part(p_scan, ' ', 2)::bigint) loop
    perform pg_sleep(0.005);
  end loop;
  return true;
end;
$$;
