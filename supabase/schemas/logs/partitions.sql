-- Gives partitions made by pg_partman their names and row-level security. Bounds come from the
-- catalog, so pg_partman goes on working after the rename.
create function logloom_private.adopt_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
-- The catalog prints bounds as the project's date style has them.
set datestyle = 'ISO'
as $$
declare
  v_partition record;
begin
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
    if v_partition.name <> v_partition.day_name then
      execute format('alter table logloom.%I rename to %I', v_partition.name, v_partition.day_name);
      execute format('alter table logloom.%I enable row level security', v_partition.day_name);
      execute format('alter table logloom.%I force row level security', v_partition.day_name);
    end if;
  end loop;
end;
$$;

-- Partitions that do not begin and end with a day in UTC.
create function logloom_private.unaligned_partitions()
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  return array(
    select c.relname::text
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass and not i.inhdetachpending
      and pg_get_expr(c.relpartbound, c.oid)
        !~ '^FOR VALUES FROM \(''[\d-]+ 00:00:00\+00''\) TO \(''[\d-]+ 00:00:00\+00''\)$'
    order by c.relname
  );
end;
$$;

-- Puts days in UTC in the place of partitions that begin at another hour: 0.1.0 made those where
-- the project has a time zone of its own.
create function logloom_private.align_partitions()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_unaligned text[] := logloom_private.unaligned_partitions();
  v_lock_wait text;
  v_name text;
  v_day date;
begin
  if cardinality(v_unaligned) = 0 then
    return;
  end if;
  v_lock_wait := logloom_private.limit_lock_wait(
    (select s.partition_drop_lock_timeout from logloom_private.settings s)
  );
  -- In the order in which the jobs take them.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  perform logloom_private.lock_partitions();
  v_unaligned := logloom_private.unaligned_partitions();
  -- All of them first: a day overlaps two that are beside it.
  foreach v_name in array v_unaligned loop
    execute format('alter table logloom.logs detach partition logloom.%I', v_name);
    execute format('alter table logloom.%I rename to %I', v_name, v_name || '_unaligned');
  end loop;
  foreach v_name in array v_unaligned loop
    for v_day in execute format(
      'select distinct logloom_private.utc_day(l.ts) from logloom.%I l', v_name || '_unaligned'
    )
    loop
      perform logloom_private.create_partition(v_day);
      execute format(
        'insert into logloom.%I select l.* from logloom.%I l '
          || 'where l.ts >= %L::timestamptz and l.ts < %L::timestamptz',
        logloom_private.partition_name(v_day), v_name || '_unaligned',
        v_day::timestamp at time zone 'UTC', (v_day + 1)::timestamp at time zone 'UTC'
      );
    end loop;
    execute format('drop table logloom.%I', v_name || '_unaligned');
  end loop;
  -- Also those that hold nothing yet; pg_partman goes on from the newest.
  perform logloom_private.create_partition(to_date(u.name, '"logs_"YYYY_MM_DD'))
  from unnest(v_unaligned) u (name)
  where u.name ~ '^logs_\d{4}_\d\d_\d\d$';
  perform logloom_private.create_partition(logloom_private.utc_day(now()) + i)
  from generate_series(0, (select s.partition_days_ahead from logloom_private.settings s)) i;
  perform logloom_private.restore_lock_wait(v_lock_wait);
exception when lock_not_available then
  raise warning 'Partitions are not aligned yet: readers or the writer hold them.';
end;
$$;
