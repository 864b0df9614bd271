-- Makes the day's partition unless it exists.
create function logloom_private.create_partition(p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_name constant text := logloom_private.partition_name(p_day);
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
  if logloom_private.partition_exists(p_day) then
    return;
  end if;
  -- Made beside the parent and attached: "partition of" would wait for every reader of the parent.
  execute format('create table logloom.%I (like logloom.logs including all)', v_name);
  execute format('alter table logloom.%I enable row level security', v_name);
  execute format('alter table logloom.%I force row level security', v_name);
  execute format(
    'alter table logloom.logs attach partition logloom.%I for values from (%L) to (%L)',
    v_name,
    p_day::timestamp at time zone 'UTC',
    (p_day + 1)::timestamp at time zone 'UTC'
  );
end;
$$;
