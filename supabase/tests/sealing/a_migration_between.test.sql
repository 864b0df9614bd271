-- A migration changes logloom.logs between copying and replacing a partition.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(7);

create temp table clock as select (now() at time zone 'UTC' - interval '12 days')::date as day;
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object(
    'tenant', 'acme', 'ts', (c.day::timestamp at time zone 'UTC') + i * interval '1 minute',
    'msg', 'request ' || i
  )),
  1
)
from clock c, generate_series(1, 4) i;
insert into logloom_private.sealing_days (day, removed_records, checked_at)
select c.day, 5, now() from clock c;

select ok(logloom_private.prepare_replacement(c.day), 'the remaining rows are copied') from clock c;
alter table logloom.logs add column added integer;
select is(
  logloom_private.replace_partition(c.day), 'changed', 'the copy no longer matches the partitions'
)
from clock c;
select results_eq(
  'select d.removed_records, d.prepared_by::text,
     to_regclass(format(''logloom.%I'', logloom_private.remainder_name(d.day)))::text
   from logloom_private.sealing_days d, clock c where d.day = c.day',
  'values (5::bigint, null::text, null::text)', 'it is dropped, and the day is due again'
);
select is((select count(*) from logloom.logs), 4::bigint, 'the records stay');
select ok(logloom_private.prepare_replacement(c.day), 'the rows are copied again') from clock c;
select is(logloom_private.replace_partition(c.day), 'replaced', 'and the partition is replaced')
from clock c;
select is((select count(*) from logloom.logs), 4::bigint, 'with its records');

select * from finish();
rollback;
