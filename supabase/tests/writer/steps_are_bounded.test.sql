begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(5);

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

select * from finish();
rollback;
