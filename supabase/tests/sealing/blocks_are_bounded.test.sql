-- A block takes the oldest records that fit in its limits, at least one.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(8);

create temp table clock as
select (date_trunc('week', now() at time zone 'UTC') - interval '12 days')::date as day;
-- Adds thirty records of 300 bytes, and a later record of 9,000 bytes.
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object(
    'tenant', 'acme',
    'ts', (c.day::timestamp at time zone 'UTC') + i * interval '1 minute',
    'level', 'info', 'service', 'api', 'msg', case i when 31 then 'large' else 'request ' || i end,
    'req_id', case when i between 5 and 8 then 'r' || i end
  )),
  1
)
from clock c, generate_series(1, 31) i
group by c.day;
update logloom.logs l set record_bytes = 300 where l.tenant_id = 'acme';
update logloom.logs l set record_bytes = 9000 where l.tenant_id = 'acme' and l.msg = 'large';

create function pg_temp.sealed(p_records integer, p_bytes bigint)
returns integer
language plpgsql
as $$
begin
  update logloom_private.settings
  set seal_block_records = p_records, seal_block_bytes = p_bytes;
  return logloom_private.seal_block('acme', array[(select c.day from clock c)]);
end;
$$;

select is(pg_temp.sealed(4, 1000000), 4, 'a block has at most seal_block_records');
select is(pg_temp.sealed(1000, 2999), 9, 'and less than seal_block_bytes');
select is(pg_temp.sealed(1000, 3000), 10, 'records may fill the limit exactly');
savepoint usual;
-- A record of 400 bytes counts as 1100, because its message has 200.
update logloom.logs l set msg = repeat('m', 200) where l.tenant_id = 'acme';
select is(pg_temp.sealed(1000, 3299), 2, 'bytes of a message beyond a hundred count eightfold');
rollback to usual;
select is(pg_temp.sealed(1000, 1), 1, 'a block has at least one record');
select results_eq(
  $$ select max(l.ts) - min(l.ts), count(*) from logloom.logs l where l.tenant_id = 'acme' $$,
  $$ values (interval '6 minutes', 7::bigint) $$,
  'the oldest records are sealed, the others stay'
);
select is(
  (
    select array_agg(array[k.first, k.last, b.records] order by b.first_ts)
    from logloom_private.block_columns k
    join logloom_private.blocks b on b.tenant_id = k.tenant_id and b.block_id = k.block_id
    where k.tenant_id = 'acme' and k.name = 'req_id'
  ),
  array[[1, 4, 9]], 'a column begins and ends where it has values'
);
select is(
  (
    select array_agg(logloom_private.outer_nulls(array_positions(v, null), cardinality(v))::text)
    from (
      values (array[null, null, 'a', null, 'b', null]), (array[null, 'a']), (array['a', null]),
        (array[null, null, null]::text[]), (array['a', null, null, 'b'])
    ) x (v)
  ),
  array['(2,1)', '(1,0)', '(0,1)', '(3,3)', '(0,0)'],
  'nulls before and after the values are counted'
);

select * from finish();
rollback;
