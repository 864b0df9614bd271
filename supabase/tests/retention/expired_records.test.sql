begin;
\ir ../actors.psql
select plan(30);

create function pg_temp.day(p_ago integer)
returns date
language sql
return logloom_private.utc_day(now()) - p_ago;

-- Retention is due once a day.
savepoint begun;
delete from logloom_private.retention_place;
select ok(logloom_private.retention_is_due(pg_temp.day(0)), 'due if it never ran');
select logloom_private.begin_retention(pg_temp.day(0));
select ok(logloom_private.retention_is_due(pg_temp.day(0)), 'due while it is running');
select logloom_private.end_retention(null);
select ok(
  not logloom_private.retention_is_due(pg_temp.day(0))
  and logloom_private.retention_is_due(pg_temp.day(-1)),
  'not due again before tomorrow'
);

select logloom_private.begin_retention(pg_temp.day(0));
update logloom_private.retention_place set error = '22012: division by zero';
select logloom_private.end_retention('22012: division by zero');
select ok(not logloom_private.retention_is_due(pg_temp.day(0)), 'not due just after a failure');
update logloom_private.retention_place set finished_at = now() - interval '61 minutes';
select ok(logloom_private.retention_is_due(pg_temp.day(0)), 'due an hour after a failure');
rollback to begun;

-- The plan "free" keeps 7 days. The tenants "long" and "short" keep 30 and 2. "gone" is deleted.
insert into logloom.tenants (tenant_id, plan_id)
values ('seven', 'free'), ('long', 'pro'), ('short', 'free');
insert into logloom.tenant_settings (tenant_id, retention_days) values ('short', 2);

-- Adds an empty partition.
select logloom_private.create_partition(pg_temp.day(1));

create function pg_temp.fill(p_tenant_id text, p_days_ago integer, p_records integer)
returns void
language plpgsql
as $$
declare
  v_day constant date := pg_temp.day(p_days_ago);
begin
  perform logloom_private.create_partition(v_day);
  execute logloom_private.added_records_sql($query$
    insert into logloom.logs as l (id, tenant_id, ts, received_at, write_seq, level, service)
    select gen_random_uuid(), $1, logloom_private.day_start($2) + i * interval '1 second', now(),
      1, 'info', 'api'
    from generate_series(1, $3) i
  $query$)
  using p_tenant_id, v_day, p_records;
end;
$$;
create function pg_temp.days_of(p_tenant_id text)
returns integer[]
language sql
return array(
  select distinct pg_temp.day(0) - logloom_private.utc_day(l.ts)
  from logloom.logs l where l.tenant_id = p_tenant_id order by 1
);
create function pg_temp.counted(p_tenant_id text)
returns bigint
language sql
return (select sum(c.events) from logloom_private.log_counts c where c.tenant_id = p_tenant_id);
-- Does the job's work in one transaction.
create function pg_temp.run()
returns void
language sql
as $$
  select logloom_private.begin_retention(pg_temp.day(0));
  select pg_temp.repeat_while('logloom_private.retention_step() is not null')
$$;

select pg_temp.fill(t, d, 25)
from unnest(array['seven', 'long', 'short', 'gone']) t, unnest(array[0, 2, 3, 7, 8]) d;
select pg_temp.fill('seven', 20, 5), pg_temp.fill('gone', 20, 5);
select logloom_private.compact_log_counts();
select pg_temp.fill('long', 8, 1), pg_temp.fill('short', 7, 3);
update logloom_private.settings set deletion_step_records = 10;

select is(
  logloom_private.delete_expired('seven', pg_temp.day(d.ago), pg_temp.day(0)), d.deleted, d.what
)
from (
  values
    (8, 10, 'a step is limited'), (7, 0, 'a kept day loses nothing'), (0, 0, 'today loses nothing')
) d (ago, deleted, what);
select is(
  array(
    select array(select t from logloom_private.day_tenants(pg_temp.day(d)) t order by t)::text
    from unnest(array[0, 20, 8]) d
  ),
  '{"{gone,long,seven,short}","{gone,seven}","{gone,long,seven,short}"}', 'the tenants of a day'
);

delete from logloom.retention_runs;
select pg_temp.run();
select is(
  (select p.error from logloom_private.retention_place p), null, 'no day is left with an error'
);
select is(pg_temp.days_of('seven'), '{0,2,3,7}', 'seven whole days before today stay');
select is(pg_temp.days_of('short'), '{0,2}', 'a tenant may keep less');
select is(pg_temp.days_of('long'), '{0,2,3,7,8}', 'another keeps more');
select is(pg_temp.days_of('gone'), '{0}', 'nothing of a deleted tenant stays');
select is(logloom_private.partition_exists(pg_temp.day(d.ago)), d.is_kept, d.what)
from (
  values
    (20, false, 'a day that nobody keeps is dropped'),
    (8, true, 'a day that somebody keeps is not dropped'),
    (5, false, 'an empty day of the past is dropped'),
    (1, true, 'yesterday stays, even if empty'), (-3, true, 'so do the coming days')
) d (ago, is_kept, what);

select is(
  array[pg_temp.counted('seven'), pg_temp.counted('short'), pg_temp.counted('long')],
  '{100,50,126}', 'the counts match the records'
);
select is_empty(
  $$select from logloom_private.log_counts c
    where c.minute < logloom_private.day_start(pg_temp.day(19))$$,
  'a dropped day has no counts'
);
select results_eq(
  $$select r.tenant_id, r.status, r.records, r.partitions,
      pg_temp.day(0) - logloom_private.utc_day(r.ts_to)
    from logloom.retention_runs r order by r.tenant_id$$,
  $$values
    ('seven', 'done', 20::bigint, 1, 7),
    ('short', 'done', 78::bigint, 0, 2)$$,
  'each tenant''s run counts its deleted records'
);

select pg_temp.run();
select is(
  (select count(*) from logloom.retention_runs), 2::bigint, 'with nothing to delete there is no run'
);

update logloom.tenant_settings set retention_days = 7 where tenant_id = 'short';
select pg_temp.run();
select is(pg_temp.days_of('short'), '{0,2}', 'a longer retention restores nothing');
update logloom.tenants set plan_id = 'free' where tenant_id = 'long';
select pg_temp.run();
select is(pg_temp.days_of('long'), '{0,2,3,7}', 'a smaller plan shortens the retention');

insert into logloom.retention_runs (tenant_id, kind, status, requested_by, ts_to)
values ('seven', 'retention', 'running', 'retention', now());
select pg_temp.run();
select is(
  (select count(*) from logloom.retention_runs where status = 'interrupted'), 1::bigint,
  'a killed run is marked'
);

select pg_temp.act_as_user('seven', 'alice');
select is(
  (
    select array_agg(r.status || ' ' || r.records order by r.requested_at desc)
    from public.list_log_retention_runs() r
  ),
  '{"interrupted 0","done 20"}', 'a user sees the tenant''s runs, newest first'
);
select is(
  (
    select r.records from public.list_log_retention_runs(
      p_limit => 1, p_after => (select f.run_id from public.list_log_retention_runs(p_limit => 1) f)
    ) r
  ),
  20::bigint, 'page by page'
);
select throws_ok(
  format('select public.list_log_retention_runs(p_after => %L)', gen_random_uuid()),
  'PT400', 'Invalid p_after: no such run', 'after an unknown run'
);
select throws_ok(
  $$select public.list_log_retention_runs(p_kind => 'expiry')$$,
  'PT400', 'Invalid p_kind: one of retention, erasure, storage', 'of an unknown kind'
);

select * from finish();
rollback;
