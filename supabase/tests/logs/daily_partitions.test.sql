begin;
select plan(10);

create function pg_temp.days_ahead() returns integer language plpgsql as $$
begin
  return (
    select count(*)
    from generate_series(0, 7) d
    where logloom_private.partition_exists(logloom_private.utc_day(now()) + d)
  );
end;
$$;

select is(pg_temp.days_ahead(), 8, 'today and the coming 7 days exist');
select is_empty(
  $$select c.relname
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
      and c.relname !~ '^logs_\d{4}_\d\d_\d\d$'$$,
  'every partition is named logs_YYYY_MM_DD'
);
select is_empty(
  $$select from pg_partitioned_table
  where partrelid = 'logloom.logs'::regclass and partdefid <> 0$$,
  'there is no default partition'
);

do $$
begin
  execute format(
    'drop table logloom.%I', logloom_private.partition_name(logloom_private.utc_day(now()) + 1)
  );
  execute format(
    'drop table logloom.%I', logloom_private.partition_name(logloom_private.utc_day(now()) + 7)
  );
end;
$$;
select is(pg_temp.days_ahead(), 6, 'two days are missing');
select logloom_private.maintain_partitions();
set local search_path = public, extensions;
select is(pg_temp.days_ahead(), 8, 'maintenance creates them again');

update logloom_private.settings set partition_days_ahead = 12;
select logloom_private.maintain_partitions();
set local search_path = public, extensions;
select ok(
  logloom_private.partition_exists(logloom_private.utc_day(now()) + 12),
  'the days ahead are a setting'
);

-- The project has another time zone and date style.
update logloom_private.settings set partition_days_ahead = 20;
set local timezone = 'America/New_York';
set local datestyle = 'German';
select logloom_private.maintain_partitions();
set local timezone = 'UTC';
set local datestyle = 'ISO';
set local search_path = public, extensions;
select ok(
  logloom_private.partition_exists(logloom_private.utc_day(now()) + 20),
  'the project''s time zone does not matter'
);
select is_empty(
  $$select c.relname
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
      and pg_get_expr(c.relpartbound, c.oid) <> format(
        'FOR VALUES FROM (''%s 00:00:00+00'') TO (''%s 00:00:00+00'')',
        to_date(c.relname, '"logs_"YYYY_MM_DD'), to_date(c.relname, '"logs_"YYYY_MM_DD') + 1
      )$$,
  'each partition is a UTC day'
);
select ok(
  (
    select bool_and(c.relrowsecurity and c.relforcerowsecurity)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
  ),
  'each with row-level security forced'
);

-- A project's own job may maintain all tables in the project's time zone, where a day of March has
-- 23 hours.
set local timezone = 'Europe/Berlin';
update partman.part_config set premake = 200 where parent_table = 'logloom.logs';
create temp table before as
select i.inhrelid::regclass as day from pg_inherits i
where i.inhparent = 'logloom.logs'::regclass;
select partman.run_maintenance();
set local search_path = public, extensions;
select set_eq(
  $$select i.inhrelid::regclass from pg_inherits i where i.inhparent = 'logloom.logs'::regclass$$,
  'select b.day from before b',
  'maintaining all tables of pg_partman creates no days'
);

select * from finish();
rollback;
