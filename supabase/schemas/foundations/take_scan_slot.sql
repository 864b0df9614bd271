-- True, at once as long as the search runs shorter than search_free_time, then as soon as no other
-- search of the tenant that shares its scan slot reads on. Asked every few hundred records.
-- Parallel safe although it takes a lock: a worker's lock is its leader's as well, and is gone with
-- the worker, whose leader takes it again when it asks next.
create function logloom_private.take_scan_slot(
  p_scan text default current_setting('logloom.scan', true)
)
returns boolean
language plpgsql
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Empty where no search set it: jobs have budgets of their own.
  if coalesce(p_scan, '') = ''
    or extract(epoch from clock_timestamp()) < split_part(p_scan, ' ', 1)::numeric
  then
    return true;
  end if;
  -- Its statement's time limit ends the wait.
  while not pg_try_advisory_xact_lock(split_part(p_scan, ' ', 2)::bigint) loop
    perform pg_sleep(0.005);
  end loop;
  return true;
end;
$$;
