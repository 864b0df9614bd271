-- A block spans at most a quarter of its tenant's retention, or a day if this is longer. So expired
-- records are deleted within that time.
begin;
\ir ../actors.psql
\ir ../search/records.psql
set local client_min_messages = warning;
select plan(23);

-- The last Sunday at the end of a span of four weeks.
create temp table clock as
select logloom_private.span_start(logloom_private.utc_day(now()) - 2, 28) - 1 as day;
grant select on clock to public;
update logloom_private.settings set seal_week_records = 5;

-- Each of the last 84 days has five records.
create temp table kept (tenant_id text, days integer, span integer);
insert into kept
values ('one', 1, 1), ('seven', 7, 1), ('thirty', 30, 7), ('ninety', 90, 21), ('year', 365, 28),
  ('rule', 31, 21);
insert into logloom.tenants (tenant_id, plan_id) select k.tenant_id, 'pro' from kept k;
insert into logloom.tenant_settings (tenant_id, retention_days)
select k.tenant_id, k.days from kept k;
-- A rule keeps the records of this tenant for 90 days.
update logloom.tenant_settings
set retention_rules = array[row('info', null, 90)::public.logloom_retention_rule],
  rules_days_max = 90
where tenant_id = 'rule';
select pg_temp.add_records(jsonb_agg(jsonb_build_object(
  'tenant', k.tenant_id, 'level', 'info', 'msg', format('event %s of %s', i, d),
  'ts', logloom_private.day_start(c.day - d) + i * interval '4 hours'
)))
from clock c, kept k, generate_series(0, 83) d, generate_series(0, 4) i
group by k.tenant_id;

create function pg_temp.seal()
returns void
language sql
as $$
  select pg_temp.repeat_while(
    'logloom_private.seal_step_at('
      'logloom_private.day_start((select c.day + 2 from clock c))) is not null'
  )
$$;
-- Runs one night's retention, p_days days after the last record.
create function pg_temp.retain(p_days integer)
returns void
language sql
as $$
  select logloom_private.begin_retention((select c.day + p_days from clock c));
  select pg_temp.repeat_while('logloom_private.retention_step() is not null')
$$;
-- Returns for a tenant's blocks: the number of records, the age of the oldest day, and the most
-- days that a block spans.
create function pg_temp.stored(p_tenant text)
returns integer[]
language sql
return (
  select array[
    sum(b.records), max(c.day - logloom_private.utc_day(b.first_ts)),
    max(logloom_private.utc_day(b.last_ts) - logloom_private.utc_day(b.first_ts) + 1)
  ]
  from logloom_private.blocks b, clock c
  where b.tenant_id = p_tenant
);

select is(logloom_private.block_days(d.days), d.wanted, 'a retention of ' || d.days || ' days')
from (
  values (1, 1), (7, 1), (8, 2), (27, 6), (28, 7), (30, 7), (56, 14), (90, 21), (365, 28)
) d (days, wanted);

select pg_temp.seal();
select is(pg_temp.stored(k.tenant_id), array[420, 83, k.span], k.tenant_id || ' is sealed')
from kept k;

select pg_temp.retain(1);
select results_eq(
  'select k.tenant_id, pg_temp.stored(k.tenant_id) from kept k order by k.days',
  $$values
    ('one', '{5,0,1}'::integer[]), ('seven', '{35,6,1}'), ('thirty', '{175,34,7}'),
    ('rule', '{420,83,21}'), ('ninety', '{420,83,21}'), ('year', '{420,83,28}')$$,
  'expired records are deleted within a quarter of the retention'
);
select results_eq(
  $$select r.tenant_id, r.records from logloom.retention_runs r order by r.records desc$$,
  $$values ('one', 415::bigint), ('seven', 385), ('thirty', 245)$$,
  'receipts count the records of blocks'
);

-- Expired records that are still stored are in no answer.
update logloom.tenant_settings set retention_days = 30 where tenant_id = 'year';
select pg_temp.act_as_user('year', 'alice');
select is(
  (public.log_histogram(p_ts_from => '1970-01-01T00:00:00Z')).total,
  (
    select count(*)
    from clock c, generate_series(0, 83) d
    where c.day - d >= (now() at time zone 'UTC')::date - 30
  ) * 5,
  'a shortened retention applies to answers at once'
);
select pg_temp.act_as_postgres();
update logloom.tenant_settings set retention_days = 8 where tenant_id = 'ninety';
create or replace function logloom_private.retention_step_tenants()
returns integer
language sql
immutable
return 2;

-- A damaged block does not block other tenants.
create temp table damaged as
select b.block_id, b.checksum from logloom_private.blocks b where b.tenant_id = 'ninety' limit 1;
update logloom_private.blocks b set checksum = 'damaged' from damaged d
where b.block_id = d.block_id;
select pg_temp.retain(1);
select matches(
  (select p.error from logloom_private.retention_place p), '^LL001: ', 'a damaged block is reported'
);
select is(pg_temp.stored('year'), '{175,34,7}', 'the next tenant''s blocks are split anyway');
update logloom_private.blocks b set checksum = d.checksum from damaged d
where b.block_id = d.block_id;
select pg_temp.retain(1);
select results_eq(
  $$select k.tenant_id, pg_temp.stored(k.tenant_id) from kept k
    where k.tenant_id in ('year', 'ninety') order by k.days$$,
  $$values ('ninety', '{40,7,2}'::integer[]), ('year', '{175,34,7}')$$,
  'long blocks are split, and the expired part is deleted'
);
select is(
  (select sum(r.records) from logloom.retention_runs r where r.tenant_id in ('year', 'ninety')),
  (420 - 40 + 420 - 175)::numeric, 'with receipts'
);
select is((select p.error from logloom_private.retention_place p), null, 'without an error');

select * from finish();
rollback;
