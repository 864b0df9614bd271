-- Gives logloom.logs to pg_partman, unless it has it.
create function logloom_private.manage_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
-- Days begin in UTC, whatever the project's time zone is.
set timezone = 'UTC'
as $$
begin
  if not exists (
    select from partman.part_config c where c.parent_table = 'logloom.logs'
  ) then
    -- No default partition: a row in it would stop maintenance, and its check would wait for
    -- readers.
    perform partman.create_parent(
      p_parent_table := 'logloom.logs',
      p_control := 'ts',
      p_interval := '1 day',
      p_premake := (select s.partition_days_ahead from logloom_private.settings s),
      -- After the days that a restored table has.
      p_start_partition := (
        select coalesce(max(d.day) + 1, logloom_private.utc_day(now()))::text
        from unnest(logloom_private.partition_days()) d (day)
      ),
      p_default_table := false
    );
  end if;
  -- A job of the project that maintains all tables leaves ours out: it makes days of its time zone.
  update partman.part_config
  set infinite_time_partitions = true, automatic_maintenance = 'off'
  where parent_table = 'logloom.logs';
end;
$$;
