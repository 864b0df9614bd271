-- What the hourly job does. Today's partition and those of the coming days exist afterwards, with
-- their names and row-level security. No migration calls it: `supabase db diff` of every project
-- would show the partition of the day on which the migration was written.
create function logloom_private.maintain_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
-- The catalog prints bounds as the project's date style has them.
set datestyle = 'ISO'
as $$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from logloom_private.settings s);
  v_partition record;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
  perform logloom_private.manage_partitions();
  update partman.part_config c
  set premake = v_days_ahead
  where c.parent_table = 'logloom.logs' and c.premake <> v_days_ahead;
  -- Leaves the search_path of the session changed: nothing else belongs in the session of the job.
  perform partman.run_maintenance('logloom.logs');
  -- Bounds come from the catalog, so pg_partman goes on working after its partitions are renamed.
  for v_partition in
    select
      c.relname as name,
      logloom_private.partition_name(
        substring(pg_get_expr(c.relpartbound, c.oid) from 'FROM \(''(\d+-\d\d-\d\d)')::date
      ) as day_name
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
  loop
    continue when v_partition.name = v_partition.day_name;
    execute format('alter table logloom.%I rename to %I', v_partition.name, v_partition.day_name);
    execute format('alter table logloom.%I enable row level security', v_partition.day_name);
    execute format('alter table logloom.%I force row level security', v_partition.day_name);
  end loop;
  -- pg_partman extends the newest partition; a day that went missing it does not bring back.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$$;
