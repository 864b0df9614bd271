begin;
\ir ../ingest.psql
update logloom_private.settings set provision_by_secret_key = true;
set local timezone = 'UTC';
select plan(21);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
update logloom.plans set monthly_events_limit = 100 where plan_id = 'free';
update logloom_private.jobs set last_succeeded_at = now() where name = 'write_logs';

create function pg_temp.send(p_tenant_id text, p_key text, p_body bytea, p_events integer)
returns jsonb
language sql
as $$
  select pg_temp.send_request(
    p_tenant_id => p_tenant_id,
    p_idempotency_key => p_key,
    p_body_digest => encode(sha256(p_body), 'hex'),
    p_ts => array_fill(null::timestamptz, array[p_events])
  )
$$;

select is(
  pg_temp.send('acme', 'k1', 'body', 3), '{"success": true, "ingested": 3, "rejected": 0}',
  'the first request is stored'
);
select is(
  pg_temp.send('acme', 'k1', 'body', 3), '{"success": true, "ingested": 3, "rejected": 0}',
  'a repeat returns the first answer'
);
select is((select sum(events)::integer from logloom_private.queue), 3, 'a repeat stores nothing');
select throws_ok(
  $$select pg_temp.send('acme', 'k1', 'other body', 3)$$,
  'PT409', 'Idempotency-Key was used with another body', 'the same key with another body is refused'
);
select is(
  to_jsonb(pg_temp.answer_to(
    '{"p_tenant_id": "acme", "p_idempotency_key": "k1", "p_body_digest": "00", "p_ts": [null]}'
  )),
  jsonb_build_object(
    'status', 409,
    'headers', jsonb_build_object(
      'X-RateLimit-Limit', '100', 'X-RateLimit-Remaining', '97',
      'X-RateLimit-Reset',
      extract(epoch from date_trunc('month', now()) + interval '1 month')::bigint::text
    ),
    'body', jsonb_build_object(
      'code', 'PT409', 'message', 'Idempotency-Key was used with another body',
      'details', '{"name": "ingest.idempotency_key_has_another_body"}',
      'hint', 'Send a new key with a new body; repeat a key only with the same body.'
    )
  ),
  'with the headers of the limit'
);
select is(
  pg_temp.send('globex', 'k1', 'other body', 2), '{"success": true, "ingested": 2, "rejected": 0}',
  'another tenant can use the same key'
);
update logloom_private.idempotency_keys
set created_at = now() - interval '24 hours 1 second'
where tenant_id = 'acme';
select is(
  pg_temp.send('acme', 'k1', 'other body', 1), '{"success": true, "ingested": 1, "rejected": 0}',
  'after its lifetime a key is new again'
);

-- Slices of one request share a row, and each slice is stored once.
create function pg_temp.send_slice(p_slice integer, p_events integer, p_body bytea default 'large')
returns jsonb
language sql
as $$
  select pg_temp.send_request(
    p_tenant_id => 'initech',
    p_idempotency_key => 'sha256:1',
    p_body_digest => encode(sha256(p_body), 'hex'),
    p_ts => array_fill(
      now() - case when p_slice = 1 then interval '100 years' else '0' end, array[p_events]
    ),
    p_slice => p_slice
  )
$$;
create function pg_temp.stored()
returns integer
language sql
as $$ select (select sum(q.events) from logloom_private.queue q where q.tenant_id = 'initech') $$;

select is(
  pg_temp.send_slice(0, 4), '{"success": true, "ingested": 4, "rejected": 0}',
  'the first slice is stored'
);
select is(
  pg_temp.send_slice(0, 4), '{"success": true, "ingested": 4, "rejected": 0}',
  'a repeat of it returns its answer'
);
select is(
  pg_temp.send_slice(1, 2) - 'errors', '{"success": false, "ingested": 0, "rejected": 2}',
  'another slice has its own answer'
);
select is(
  pg_temp.send_slice(2, 3), '{"success": true, "ingested": 3, "rejected": 0}',
  'the request goes on where it was interrupted'
);
select is(
  array[pg_temp.send_slice(1, 2) - 'errors', pg_temp.send_slice(2, 3)],
  array[
    '{"success": false, "ingested": 0, "rejected": 2}',
    '{"success": true, "ingested": 3, "rejected": 0}'
  ]::jsonb[],
  'repeats get the first counts'
);
select is(
  array[pg_temp.stored(), (
    select count(*)::integer from logloom_private.idempotency_keys where tenant_id = 'initech'
  )],
  array[7, 1], 'each slice is stored once, and all are noted in one row'
);
create function pg_temp.send_half() returns jsonb language sql as $$
  select pg_temp.send_request(
    p_tenant_id => 'initech', p_idempotency_key => 'half', p_body_digest => 'aa', p_slice => 0,
    p_ts => array[now(), now() - interval '100 years']
  )
$$;
create temp table answers on commit drop as
select pg_temp.send_half() as first;
select results_eq(
  $$select pg_temp.send_half(), pg_temp.send_half() #> '{errors,0,index}'$$,
  $$select first, '1'::jsonb from answers$$,
  'and the rejected events'
);
-- The list of errors can be long, so it is not stored. A repeat makes it again, with the time
-- limits of the first request. By the current limits one event would now be in range and another
-- too old.
create function pg_temp.send_all(p_slice integer) returns jsonb language sql as $$
  select pg_temp.send_request(
    p_tenant_id => 'initech', p_idempotency_key => 'all ' || coalesce(p_slice, 9),
    p_body_digest => 'aa', p_slice => p_slice, p_all_errors => true,
    p_ts => array[now() + interval '25 hours', now(), now() - interval '60 hours'], p_cut => 1
  )
$$;
select pg_temp.send_all(n) from (values (null), (0)) s (n) \g /dev/null
update logloom_private.settings set ingest_future_limit = '2 days';
update logloom.plans set retention_days_default = 1 where is_default;
select is(
  pg_temp.send_all(n) #- '{errors,0,message}',
  '{
    "success": true, "ingested": 2, "rejected": 1, "cut": 1,
    "errors": [{"index": 0, "code": "ts_out_of_range"}]
  }',
  'a repeat gets the first list of all errors'
)
from (values (null), (0)) s (n);
select throws_ok(
  $$select pg_temp.send_slice(3, 1, 'other')$$, 'PT409', null, 'a slice of another body is refused'
);

select pg_temp.send_request(
  p_tenant_id => 'rejected', p_idempotency_key => 'k' || n, p_body_digest => 'aa',
  p_ts => '{}'::timestamptz[], p_rejected => 1
)
from generate_series(1, 3) n;
select is_empty(
  $$select from logloom_private.idempotency_keys where tenant_id = 'rejected'$$,
  'a request that stores no event keeps no answer'
);

-- A token sends for one service. So the same body with another service's token is a different
-- request.
insert into logloom_private.ingest_tokens (token_digest, tenant_id, service, expires_at)
values
  (sha256('shop 1'), 'acme', 'shop', now() + interval '1 minute'),
  (sha256('shop 2'), 'acme', 'shop', now() + interval '1 minute'),
  (sha256('blog'), 'acme', 'blog', now() + interval '1 minute');
create function pg_temp.send_by_token(p_token bytea, p_body bytea, p_events integer)
returns jsonb
language sql
as $$
  select pg_temp.send_request(
    p_key_digest => encode(sha256(p_token), 'hex'),
    p_idempotency_key => 'k2',
    p_body_digest => encode(sha256(p_body), 'hex'),
    p_ts => array_fill(null::timestamptz, array[p_events])
  )
$$;
select is(
  array[
    pg_temp.send_by_token('shop 1', 'body', 3) -> 'ingested',
    pg_temp.send_by_token('blog', 'body', 2) -> 'ingested',
    pg_temp.send('acme', 'k2', 'body', 1) -> 'ingested'
  ],
  '{3,2,1}', 'keys are separate for the tokens of each service'
);
select is(
  pg_temp.send_by_token('shop 2', 'body', 3) -> 'ingested', '3',
  'a repeat may come with another token of the service'
);
select is(
  (select sum(q.events)::integer from logloom_private.queue q where q.tenant_id = 'acme'), 10,
  'and stores nothing'
);

select * from finish();
rollback;
