begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(10);

select pg_temp.send_request(
  p_tenant_id => 'acme',
  p_ts => array[now() - interval '1 hour', null],
  p_level => array['warn', null],
  p_msg => array['disk full', null],
  p_service => array['db', null],
  p_env => array['prod', null],
  p_req_id => array['r1', null],
  p_user_id => array['u1', null],
  p_route => array['/a', null],
  p_host => array['h1', null],
  p_attrs => array['{"n": 1}', null]::jsonb[]
);
select pg_temp.send_request(p_tenant_id => 'globex', p_ts => array[null]::timestamptz[]);
create temp table batch on commit drop as
select batch_key, received_at from logloom_private.queue where tenant_id = 'acme';

select is(logloom_private.write_step(), 0, 'nothing moves before the slot is closed');
select ok(logloom_private.flip_queue(), 'the flip closes the slot');
select ok(not logloom_private.flip_queue(), 'and waits until the closed slot is moved');
select is(logloom_private.write_step(), 3, 'one step moves both batches');
select is(logloom_private.write_step(), 0, 'and nothing twice');
select results_eq(
  $$select ts, level, msg, service, env, req_id, user_id, route, host, attrs
    from logloom.logs where tenant_id = 'acme' order by ts$$,
  $$values
    (
      now() - interval '1 hour', 'warn', 'disk full', 'db', 'prod', 'r1', 'u1', '/a', 'h1',
      '{"n": 1}'::jsonb
    ),
    ((select received_at from batch), null, null, null, null, null, null, null, null, null)$$,
  'every field arrives; a missing ts is the time of receipt'
);
select results_eq(
  $$select id from logloom.logs where tenant_id = 'acme' order by ts$$,
  $$select overlay(batch_key::text placing '0000' from 33)::uuid from batch
    union all
    select overlay(batch_key::text placing '0001' from 33)::uuid from batch$$,
  'ids are derived from the batch and the index'
);
select is(
  (select count(distinct write_seq)::integer from logloom.logs),
  1, 'a step has one write_seq'
);
select is((logloom_private.queue_state()).depth, 0::bigint, 'the queue is empty');
select ok(not logloom_private.flip_queue(), 'an empty slot is not closed');

select * from finish();
rollback;
