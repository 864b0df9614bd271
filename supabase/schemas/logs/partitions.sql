-- Returns the name of a day's partition: logs_YYYY_MM_DD.
create function logloom_private.partition_name(p_day date)
returns text
language sql
stable
return to_char(p_day, '"logs_"YYYY_MM_DD');

-- True if the day's partition is attached.
create function logloom_private.partition_exists(p_day date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
      and c.relname = logloom_private.partition_name(p_day)
      and not i.inhdetachpending
  );
end;
$$;

create function logloom_private.partition_days()
returns date[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select to_date(c.relname, '"logs_"YYYY_MM_DD') as day
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
    order by 1
  );
end;
$$;

-- Deletes from log_days the days of p_days in which the tenants have no rows left. Their searches
-- then skip these partitions.
create function logloom_private.leave_days(p_tenant_ids text[], p_days date[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_left text;
  v_tenants bigint;
begin
  foreach v_day in array p_days loop
    v_left := format(
      'from logloom_private.log_days d where d.day = %L and d.tenant_id = any($1) '
        || 'and not exists (select from logloom.logs l where l.tenant_id = d.tenant_id '
        || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz)',
      v_day, logloom_private.day_start(v_day), logloom_private.day_start(v_day + 1)
    );
    execute 'select count(*) ' || v_left into v_tenants using p_tenant_ids;
    if v_tenants > 0 then
      -- Takes the writer's lock, because the writer adds a day only if it is missing.
      perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
      execute 'delete ' || v_left using p_tenant_ids;
    end if;
  end loop;
end;
$$;

-- Creates the day's partition, unless it exists.
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
  -- Creates a separate table and attaches it: "partition of" would wait for every reader of the
  -- parent.
  execute format('create table logloom.%I (like logloom.logs including all)', v_name);
  execute format(
    'alter table logloom.%I enable row level security, force row level security', v_name
  );
  execute format(
    'alter table logloom.logs attach partition logloom.%I for values from (%L) to (%L)',
    v_name, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  );
end;
$$;

-- Runs the hourly job: creates the partitions of today and the coming days, with our names and with
-- row-level security. No migration calls it. Otherwise `supabase db diff` would show the partition
-- of the day on which the migration was written.
create function logloom_private.maintain_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
-- The catalog prints bounds in the session's date style.
set datestyle = 'ISO'
as $$
declare
  v_days_ahead constant integer := (select s.partition_days_ahead from logloom_private.settings s);
  v_partition record;
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('partitions'));
  if not exists (
    select from partman.part_config c where c.parent_table = 'logloom.logs'
  ) then
    -- There is no default partition: a row in it would stop pg_partman's maintenance, and checking
    -- it would wait for readers.
    perform partman.create_parent(
      p_parent_table := 'logloom.logs',
      p_control := 'ts',
      p_interval := '1 day',
      p_premake := v_days_ahead,
      -- In a restored table, begin after its existing days.
      p_start_partition := (
        select coalesce(max(d.day) + 1, logloom_private.utc_day(now()))::text
        from unnest(logloom_private.partition_days()) d (day)
      ),
      p_default_table := false
    );
  end if;
  -- Excludes the table from the project's own maintenance of all tables: that would create days in
  -- its own time zone.
  update partman.part_config
  set infinite_time_partitions = true, automatic_maintenance = 'off', premake = v_days_ahead
  where parent_table = 'logloom.logs';
  -- run_maintenance changes the session's search_path, so this job does nothing else in its
  -- session.
  perform partman.run_maintenance('logloom.logs');
  -- Reads the days from the bounds of the partitions, because partitions get other names below.
  -- pg_partman works with any name.
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
    execute format(
      'alter table logloom.%I enable row level security, force row level security',
      v_partition.day_name
    );
  end loop;
  -- pg_partman only adds partitions after the newest one. Create missing days before it, too.
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, v_days_ahead) i;
end;
$$;
