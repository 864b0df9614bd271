begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(9);

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

select * from finish();
rollback;
