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
select is(pg_temp.days_ahead(), 6, 'when days are missing');
select logloom_private.maintain_partitions();
set local search_path = public, extensions;
select is(pg_temp.days_ahead(), 8, 'maintenance brings them back');

update logloom_private.settings set partition_days_ahead = 12;
select logloom_private.maintain_partitions();
set local search_path = public, extensions;
select ok(
  logloom_private.partition_exists(logloom_private.utc_day(now()) + 12),
  'the days ahead are a setting'
);

-- As installing 0.1.0 made them where the project has a time zone of its own.
create function pg_temp.hour_of(p_ago integer, p_hour integer) returns timestamptz
language plpgsql as $$
begin
  return (logloom_private.utc_day(now()) - p_ago)::timestamp at time zone 'UTC'
    + make_interval(hours => p_hour);
end;
$$;
do $$
declare
  v_ago integer;
begin
  foreach v_ago in array array[401, 400] loop
    execute format(
      'create table logloom.%1$I partition of logloom.logs for values from (%2$L) to (%3$L)',
      logloom_private.partition_name(logloom_private.utc_day(now()) - v_ago),
      pg_temp.hour_of(v_ago, 5), pg_temp.hour_of(v_ago - 1, 5)
    );
  end loop;
end;
$$;
insert into logloom.logs (id, tenant_id, ts, received_at, write_seq, msg)
select
  extensions.gen_random_uuid(), 'acme', pg_temp.hour_of(e.ago, e.hour), now(), 1,
  e.ago || ' ' || e.hour
from (values (401, 5), (400, 4), (400, 6), (399, 4)) e (ago, hour);
set local timezone = 'America/New_York';
set local datestyle = 'German';
select logloom_private.maintain_partitions();
set local timezone = 'UTC';
set local datestyle = 'ISO';
set local search_path = public, extensions;
select is(
  logloom_private.unaligned_partitions(), '{}', 'partitions that begin at another hour become days'
);
select results_eq(
  $$select l.tableoid::regclass::text, l.msg
    from logloom.logs l
    where l.tenant_id = 'acme' and l.ts < pg_temp.hour_of(398, 0)
    order by l.ts$$,
  $$select
      'logloom.' || logloom_private.partition_name(logloom_private.utc_day(now()) - e.ago), e.msg
    from (
      values (401, '401 5'), (400, '400 4'), (400, '400 6'), (399, '399 4')
    ) e (ago, msg)$$,
  'each with the records of its day'
);
select is_empty(
  $$select relname from pg_class where relname like 'logs\_%\_unaligned'$$,
  'and nothing is left over'
);
select ok(
  (
    select bool_and(c.relrowsecurity and c.relforcerowsecurity)
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'logloom.logs'::regclass
  ),
  'each under row-level security'
);

select * from finish();
rollback;
