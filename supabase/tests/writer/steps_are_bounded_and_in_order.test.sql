-- A step of the writer moves a limited number of batches, and stores records in order.
begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(7);
savepoint begun;

-- A step is bounded by events and by batches.
update logloom_private.settings set writer_step_events = 4;
create or replace function logloom_private.max_step_batches()
returns integer
language sql
immutable
return 3;
select pg_temp.send_request(p_tenant_id => 'acme', p_ts => array_fill(null::timestamptz, array[n]))
from unnest(array[3, 3, 3, 10, 1, 1, 1, 1]) n;
select logloom_private.flip_queue();

select is(logloom_private.write_step(), 6, 'a step ends with the batch that fills it');
select is(logloom_private.write_step(), 13, 'a batch larger than a step is moved as well');
select is(logloom_private.write_step(), 3, 'a step has at most max_step_batches');
select is(logloom_private.write_step(), 1, 'the rest follows');
select is(logloom_private.write_step(), 0, 'then nothing is left');

rollback to begun;

-- Records are stored by tenant and time. All times are within one day, whenever this test runs.
create temp table noon on commit drop as
select logloom_private.day_start(logloom_private.utc_day(now()) - 1) + interval '12 hours' as at;

select pg_temp.send_request(
  p_tenant_id => q.tenant_id,
  p_ts => array[n.at + q.first, n.at + q.last],
  p_msg => array[q.first::text, q.last::text]
)
from (
  values
    ('globex', interval '-1 minute', interval '-1 second'),
    ('acme', interval '-1 second', interval '-20 milliseconds'),
    ('initech', interval '-2 minutes', interval '-3 minutes'),
    ('acme', interval '-30 milliseconds', interval '-2 seconds')
) q (tenant_id, first, last), noon n;
select logloom_private.flip_queue();
select is(logloom_private.write_step(), 8, 'a step writes the batches of several tenants');
select results_eq(
  $$select tenant_id || ' ' || msg from logloom.logs order by ctid$$,
  $$select l.tenant_id || ' ' || l.msg from logloom.logs l
  order by l.tenant_id collate "C", l.ts$$,
  'and stores them by tenant and ts, whatever the order of the batches'
);

select * from finish();
rollback;
