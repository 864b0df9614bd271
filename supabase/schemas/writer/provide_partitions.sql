-- Makes the partitions of today and tomorrow where they are missing.
create function logloom_private.provide_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := logloom_private.utc_day(now());
begin
  -- Two look-ups in the catalog, so that the day does not hang on the hourly job.
  for i in 0..1 loop
    if not logloom_private.partition_exists(v_today + i) then
      perform logloom_private.create_partition(v_today + i);
    end if;
  end loop;
end;
$$;
