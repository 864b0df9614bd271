-- Events that cannot be written, and a database that cannot write, lose no other event.
begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(17);
savepoint begun;

-- An event that cannot be written becomes a dead letter.
select pg_temp.send_request(
  p_tenant_id => 'acme',
  p_ts => array_fill(now(), array[5]),
  p_level => array['info', 'info', 'loud', 'info', 'info'],
  p_msg => array['a', 'b', 'c', 'd', 'e']
);
select pg_temp.send_request(p_tenant_id => 'globex', p_ts => array[now()], p_msg => array['f']);
select logloom_private.flip_queue();
select is(logloom_private.write_step(), 6, 'a failing event does not stop the step');
select results_eq(
  $$select msg from logloom.logs order by msg$$,
  $$values ('a'), ('b'), ('d'), ('e'), ('f')$$,
  'all other events are written'
);
select results_eq(
  $$select tenant_id, msg, level, error_code, attempts from logloom_private.dead_letters$$,
  $$values ('acme', 'c', 'loud', '23514', 1)$$,
  'it becomes a dead letter with its error'
);
select is((logloom_private.queue_state()).depth, 0::bigint, 'and leaves the queue');
select is(
  (logloom_private.read_health() #>> '{checks,queue,dead_letters}')::integer, 1,
  'health counts it'
);

select is(
  logloom_private.replay_dead_letters(), row(0, 1)::logloom_private.replay_result,
  'a letter that still fails stays'
);
select results_eq(
  $$select attempts from logloom_private.dead_letters$$, $$values (2)$$, 'with one more attempt'
);
create temp table letter as select id from logloom_private.dead_letters;
update logloom_private.dead_letters set level = 'error';
select is(
  logloom_private.replay_dead_letters(), row(1, 0)::logloom_private.replay_result,
  'a repaired letter is written'
);
select results_eq(
  $$select id from logloom.logs where msg = 'c'$$, $$select id from letter$$, 'under its own id'
);

rollback to begun;

-- A tenant is deleted while good and bad events of it are in the queue. This fails no step.
select pg_temp.send_request(
  p_tenant_id => t.tenant_id, p_ts => array[now(), now()], p_level => array['info', 'loud']
)
from (values ('gone'), ('stays')) t (tenant_id);
delete from logloom.tenants where tenant_id = 'gone';
select logloom_private.flip_queue();
select is(logloom_private.write_step(), 4, 'the step moves all');
select is(
  (select count(*) from logloom.logs where tenant_id = 'stays'), 1::bigint,
  'others'' records are written'
);
select is(
  (select count(*) from logloom_private.dead_letters where tenant_id = 'stays'), 1::bigint,
  'bad events become dead letters'
);
delete from logloom.tenants where tenant_id = 'stays';
select is_empty(
  $$select from logloom_private.dead_letters where tenant_id = 'stays'
    union all select from logloom.usage_days where tenant_id = 'stays'
    union all select from logloom_private.usage_services where tenant_id = 'stays'$$,
  'dead letters and usage are deleted with their tenant'
);

rollback to begun;

-- A full disk fails the step, and the step is repeated.
select pg_temp.send_request(p_tenant_id => 'acme', p_ts => array[now()], p_msg => array['a']);
select logloom_private.flip_queue();

create function pg_temp.refuse() returns trigger language plpgsql as $$
begin
  raise sqlstate '53100' using message = 'disk full';
end;
$$;
create trigger refuse before insert on logloom.logs for each row execute function pg_temp.refuse();

select throws_ok(
  'select logloom_private.write_step()', '53100', 'disk full',
  'an error of the database fails the step'
);
select is_empty('select from logloom_private.dead_letters', 'without dead letters');
drop trigger refuse on logloom.logs;
select is(logloom_private.write_step(), 1, 'the next step moves it');
select is((select count(*)::integer from logloom.logs), 1, 'exactly once');

select * from finish();
rollback;
