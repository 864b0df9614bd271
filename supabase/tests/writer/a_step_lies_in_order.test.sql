begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(2);

-- Within one day, whenever this runs.
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
