begin;
\ir ../ingest.psql
\ir ../stopped_clock.psql
select plan(19);

select pg_temp.stop_clock('take_rate', 'filled_bucket', 'check_rate', 'refuse_over_limit');

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('globex', 'free');
select pg_temp.ingest('acme', 5);
select is_empty('select from logloom_private.rate_buckets', 'without a rate there is no bucket');

update logloom.plans set requests_per_second = 2, requests_burst = 3 where plan_id = 'free';
select is(
  array(select pg_temp.ingest('acme', 1) ->> 'status' from generate_series(1, 4)),
  '{200,200,200,429}', 'a burst of requests is accepted, then no more'
);
select is(
  pg_temp.ingest('acme', 1) - 'headers',
  '{"status": 429, "message": "Rate limit reached: 2 requests per second"}',
  'the refusal says the rate'
);
select is(
  (pg_temp.ingest('acme', 1) -> 'headers') - 'X-RateLimit-Reset' - 'X-Logloom-Writer'
  - 'X-Logloom-Hold',
  '{"X-RateLimit-Limit": "2", "X-RateLimit-Remaining": "0", "Retry-After": "1"}',
  'and when to try again'
);
select is(pg_temp.ingest('globex', 1) ->> 'status', '200', 'another tenant has its own bucket');

update logloom_private.rate_buckets
set filled_at = filled_at - interval '1 second'
where tenant_id = 'acme';
select is(
  array(select pg_temp.ingest('acme', 1) ->> 'status' from generate_series(1, 3)),
  '{200,200,429}', 'a second refills as many as the rate allows'
);
update logloom_private.rate_buckets set filled_at = filled_at - interval '1 hour'
where tenant_id = 'acme';
select is(
  array(select pg_temp.ingest('acme', 1) ->> 'status' from generate_series(1, 4)),
  '{200,200,200,429}', 'a long pause refills at most the burst'
);

update logloom.plans
set requests_per_second = null, requests_burst = null, events_per_second = 10, events_burst = 20
where plan_id = 'free';
delete from logloom_private.rate_buckets;
create temp table large as select pg_temp.ingest('acme', 100) as answer;
select is(l.answer ->> 'status', '200', 'a request larger than the burst is accepted') from large l;
select is(
  (l.answer #>> '{headers,X-Logloom-Hold}')::jsonb,
  '{
    "seconds": 3, "retry_after": 9, "limit": 10,
    "error": "Rate limit reached: 10 events per second"
  }',
  'and its answer lets the function refuse the next one for a few seconds'
) from large l;
select is(
  pg_temp.ingest('acme', 1) #>> '{headers,Retry-After}', '9',
  'the next request waits for the debt of 80'
);
select is(
  (pg_temp.ingest('acme', 1) #>> '{headers,X-Logloom-Hold}')::jsonb ->> 'seconds', '3',
  'a refusal also lets the function refuse'
);
select is(
  pg_temp.ingest('acme', 1) ->> 'message', 'Rate limit reached: 10 events per second',
  'the refusal says that events are limited'
);
select is(
  (select events from logloom_private.rate_buckets where tenant_id = 'acme'), -80::double precision,
  'a refusal takes no tokens'
);

update logloom.plans set requests_per_second = 1, requests_burst = 2 where plan_id = 'free';
delete from logloom_private.rate_buckets;
select is(
  array(select pg_temp.ingest('acme', 100, p_slice => n) ->> 'status' from generate_series(0, 2) n),
  '{200,200,200}', 'the first slice decides for the whole request'
);
select results_eq(
  $$select b.events, b.requests from logloom_private.rate_buckets b where b.tenant_id = 'acme'$$,
  'values (-280::double precision, 1::double precision)',
  'slices take all their events but one request'
);
select is(
  pg_temp.ingest('acme', 1, p_slice => 0) ->> 'message',
  'Rate limit reached: 10 events per second', 'the next request waits for the debt'
);
select is(
  (pg_temp.ingest('acme', 1, p_slice => 1) #>> '{headers,X-Logloom-Hold}')::jsonb ->> 'seconds',
  '3', 'the answer to a later slice lets the function refuse'
);

select throws_ok(
  $$update logloom.plans set events_per_second = 0, events_burst = 1 where plan_id = 'free'$$,
  '23514', null, 'a rate must be positive'
);
select throws_ok(
  $$update logloom.plans set events_burst = null where plan_id = 'free'$$,
  '23514', null, 'and must have a burst'
);

select * from finish();
rollback;
