-- A verification compares the files of the archive with the records that count as archived, and
-- names the days that differ.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(16);

update logloom.plans set archive_days = 3650, retention_days_default = 30, retention_days_max = 90;
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('small', 'free');
update logloom_private.settings
set archive_bucket = 'bucket', seal_day_records = 50, seal_block_records = 40;
update logloom_private.archive_bucket b
set bucket = 'bucket', prefix = 'logloom', checked_at = now(), compared_at = now();

create function pg_temp.day(p_ago integer)
returns date
language sql
as $$ select logloom_private.utc_day(now()) - p_ago $$;

create function pg_temp.add(p_tenant text, p_day date, p_records integer, p_write_seq bigint)
returns void
language sql
as $$
  select pg_temp.add_records(
    jsonb_agg(jsonb_build_object(
      'tenant', p_tenant, 'ts', logloom_private.day_start(p_day) + i * interval '61.5 seconds',
      'level', 'info', 'service', 'api', 'msg', format('request %s', i)
    )),
    p_write_seq
  )
  from generate_series(1, p_records) i
$$;

create function pg_temp.note(
  p_tenant text,
  p_first date,
  p_last date,
  p_records integer,
  p_status text default 'verified'
)
returns void
language sql
as $$
  insert into logloom.archive_parts (
    tenant_id, first_day, last_day, write_seq, object_key, status, first_ts, last_ts, records,
    bytes, sha256, verified_at
  )
  values (
    p_tenant, p_first, p_last, 200, format('%s/%s/%s', p_tenant, p_first, gen_random_uuid()),
    p_status, logloom_private.day_start(p_first), logloom_private.day_start(p_last), p_records,
    1000, 'digest', now()
  )
$$;

-- Runs a whole verification.
create function pg_temp.found()
returns setof text
language sql
as $$
  select pg_temp.repeat_while('logloom_private.verify_on()');
  select concat_ws(' ', d.kind, d.tenant_id, pg_temp.day(0) - d.day, d.detail)
  from logloom_private.verification_differences d
  where d.verification_id = (select max(v.verification_id) from logloom_private.verifications v)
  order by d.difference_id
$$;

-- A large tenant's days, as blocks and rows, each have a file. Two days of a small tenant share a
-- file. Their block also has records of a third day, which is not archived.
select set_config('logloom_test.sealed', 'some', true);
select pg_temp.add('acme', pg_temp.day(10), 90, 101);
select pg_temp.add('acme', pg_temp.day(9), 60, 102);
select set_config('logloom_test.sealed', '', true);
select pg_temp.add('small', pg_temp.day(10), 7, 103);
select pg_temp.add('small', pg_temp.day(8), 5, 104);
select set_config('logloom_test.sealed', 'all', true);
select pg_temp.add('small', pg_temp.day(7), 3, 105);
insert into logloom_private.archived_days (tenant_id, day, write_seq)
select 'acme', pg_temp.day(10), 200
union all select 'acme', pg_temp.day(9), 200
union all select 'small', pg_temp.day(n), 200 from generate_series(8, 10) n;
select pg_temp.note('acme', pg_temp.day(10), pg_temp.day(10), 50);
select pg_temp.note('acme', pg_temp.day(10), pg_temp.day(10), 40);
select pg_temp.note('acme', pg_temp.day(9), pg_temp.day(9), 60);
select pg_temp.note('small', pg_temp.day(10), pg_temp.day(8), 12);

select is(
  (select count(*) from logloom_private.blocks b where b.tenant_id = 'small'), 1::bigint,
  'days of a small tenant share a block'
);
select is_empty('select pg_temp.found()', 'complete files are no difference');
savepoint elsewhere;
-- In this zone times are printed with CST, which also stands for Chicago's time.
set local timezone = 'Asia/Shanghai';
set local datestyle = 'SQL, DMY';
select is_empty('select pg_temp.found()', 'whatever the date style is');
rollback to elsewhere;
select results_eq(
  'select v.archive_tenant_through, v.archive_day_through, v.differences '
    'from logloom_private.verifications v order by v.verification_id desc limit 1',
  $$values ('small', pg_temp.day(8), 0::bigint)$$, 'all archived days were checked'
);

-- Each change below is a difference that must be found.
update logloom.archive_parts p set records = 39 where p.tenant_id = 'acme' and p.records = 40;
select results_eq(
  'select pg_temp.found()',
  $$select format('archive acme 10 the archive has 89 of 90 records up to %s', pg_temp.day(10))$$,
  'a file with fewer records is found, by tenant and day'
);
select is(
  logloom_private.read_health() #>> '{checks,verification,status}', 'degraded', 'health is degraded'
);
update logloom.archive_parts p set records = 42 where p.tenant_id = 'acme' and p.records = 39;
select results_eq(
  'select pg_temp.found()',
  $$values ('archive acme 10 the archive has 92 records, the database 90')$$,
  'a file with more records is found'
);
insert into logloom_private.archive_erasures (
  run_id, tenant_id, query_dsl, requested_at, ts_from, ts_to
)
values (gen_random_uuid(), 'acme', '*', now(), '-infinity', 'infinity');
select is_empty('select pg_temp.found()', 'but not while an erasure is running');
delete from logloom_private.archive_erasures e where e.tenant_id = 'acme';
update logloom.archive_parts p set records = 40 where p.tenant_id = 'acme' and p.records = 42;

-- Records written after the archived write sequence are not expected in the archive yet. A draft
-- file does not count.
select set_config('logloom_test.sealed', '', true);
select pg_temp.add('acme', pg_temp.day(9), 4, 300);
insert into logloom.archive_parts (tenant_id, first_day, last_day, write_seq, object_key, status)
values ('acme', pg_temp.day(9), pg_temp.day(9), 300, 'acme/draft', 'draft');
select is_empty('select pg_temp.found()', 'records that came after archiving are no difference');
update logloom_private.archived_days a
set write_seq = 300
where a.tenant_id = 'acme' and a.day = pg_temp.day(9);
select results_eq(
  'select pg_temp.found()',
  $$select format('archive acme 9 the archive has 60 of 64 records up to %s', pg_temp.day(9))$$,
  'unless they count as archived'
);
update logloom_private.archived_days a
set write_seq = 200
where a.tenant_id = 'acme' and a.day = pg_temp.day(9);

-- Days that share a file.
update logloom.archive_parts p set records = 11 where p.tenant_id = 'small';
select results_eq(
  'select pg_temp.found()',
  $$select format('archive small 10 the archive has 11 of 12 records up to %s', pg_temp.day(8))$$,
  'days that share a file are checked together'
);
delete from logloom.archive_parts p where p.tenant_id = 'small';
select results_eq(
  'select pg_temp.found()',
  $$
    select format('archive small 10 the archive has 0 of 7 records up to %s', pg_temp.day(10))
    union all
    select format('archive small 8 the archive has 0 of 5 records up to %s', pg_temp.day(8))
  $$,
  'a lost row of archive_parts is found'
);
update logloom.plans set archive_days = 5;
select is_empty('select pg_temp.found()', 'but not if the file would have expired');
update logloom.plans set archive_days = 3650;
select pg_temp.note('small', pg_temp.day(10), pg_temp.day(8), 12);

update logloom.archive_parts p
set last_ts = p.last_ts + interval '1 day'
where p.tenant_id = 'small';
set local timezone = 'UTC';
select results_eq(
  'select pg_temp.found()',
  $$
    select format(
      'archive small 10 the file %s has records from %s to %s', p.object_key, p.first_ts, p.last_ts
    )
    from logloom.archive_parts p
    where p.tenant_id = 'small'
  $$,
  'a file with records of other days is named'
);
update logloom.archive_parts p
set last_ts = p.last_ts - interval '1 day'
where p.tenant_id = 'small';

-- Retention deletes records that the archive keeps.
delete from logloom.logs l where l.tenant_id = 'acme';
delete from logloom_private.blocks b where b.tenant_id = 'acme';
delete from logloom_private.log_counts c where c.tenant_id = 'acme';
select is_empty('select pg_temp.found()', 'records that retention deleted are no difference');
select is(
  logloom_private.read_health() #>> '{checks,verification,status}', 'healthy',
  'and health is healthy'
);

select * from finish();
rollback;
