begin;
update logloom_private.settings set provision_by_secret_key = true;
set local timezone = 'UTC';
\ir ../ingest.psql
\ir ../stopped_clock.psql
select plan(19);

select pg_temp.stop_clock('refuse_over_limit');

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('globex', 'free');
update logloom_private.jobs set last_succeeded_at = now() where name = 'write_logs';
update logloom.plans set monthly_events_limit = 100, monthly_bytes_limit = 1000
where plan_id = 'free';

create temp table month_end as
select extract(epoch from date_trunc('month', now()) + interval '1 month')::bigint as seconds;

select is(
  pg_temp.ingest('acme', 60, 10),
  jsonb_build_object(
    'status', 200, 'ingested', 60,
    'headers', jsonb_build_object(
      'X-RateLimit-Limit', '100', 'X-RateLimit-Remaining', '40',
      'X-RateLimit-Reset', m.seconds::text
    )
  ),
  'below the limit the answer says how much is left'
) from month_end m;
select is(
  pg_temp.ingest('acme', 60, 10, 'key') #>> '{headers,X-RateLimit-Remaining}', '0',
  'the request that passes the limit is accepted, and nothing is left'
);
select is(
  pg_temp.ingest('acme', 1) - 'headers',
  '{"status": 429, "message": "Monthly event limit reached: 100 events"}',
  'the next request is refused'
);
select is(
  (pg_temp.ingest('acme', 1) -> 'headers') - 'Retry-After',
  jsonb_build_object(
    'X-RateLimit-Limit', '100', 'X-RateLimit-Remaining', '0', 'X-RateLimit-Reset', m.seconds::text
  ),
  'with the limit'
) from month_end m;
select is(
  (pg_temp.ingest('acme', 1) #>> '{headers,Retry-After}')::bigint,
  ceil(m.seconds - extract(epoch from now()))::bigint, 'and the seconds to the month''s end'
) from month_end m;
select is(
  pg_temp.ingest('acme', 60, 10, 'key') - 'headers', '{"status": 200, "ingested": 60}',
  'a repeat still gets its first answer'
);
select is((select sum(events) from logloom_private.queue), 120::bigint, 'and stores nothing');
select is(pg_temp.ingest('acme', 0) ->> 'status', '200', 'a request without events is accepted');
select is(
  (pg_temp.answer_to('{"p_tenant_id": "acme"}')).headers,
  jsonb_build_object(
    'X-RateLimit-Limit', '100', 'X-RateLimit-Remaining', '0', 'X-RateLimit-Reset', m.seconds::text
  ),
  'a request that only authenticates also says how much is left'
) from month_end m;

select logloom_private.flip_queue();
select logloom_private.write_step();
select is(pg_temp.ingest('acme', 1) ->> 'status', '429', 'written events still count');
update logloom.plans set monthly_events_limit = 121 where plan_id = 'free';
select is(
  pg_temp.ingest('acme', 1) ->> 'status', '200', 'a raised limit applies to the next request'
);
update logloom.usage_days
set day = date_trunc('month', now() at time zone 'UTC')::date - 1
where true;
select is(
  pg_temp.ingest('acme', 1) #>> '{headers,X-RateLimit-Remaining}', '119',
  'the month before does not count'
);

select pg_temp.ingest('globex', 1, 1000);
select is(
  pg_temp.ingest('globex', 1) - 'headers',
  '{"status": 429, "message": "Monthly byte limit reached: 1000 bytes"}', 'bytes are limited too'
);

select is(
  array(
    select pg_temp.ingest('umbrella', 60, 400, p_slice => n) ->> 'status'
    from generate_series(0, 3) n
  ),
  '{200,200,200,200}', 'a request in slices that passes the limit is accepted as a whole'
);
select is(
  array(
    select pg_temp.ingest('umbrella', n, p_slice => 0) ->> 'status' from generate_series(0, 1) n
  ),
  '{429,429}', 'the next is refused, even if its first slice stores nothing'
);

update logloom.plans set monthly_events_limit = 1000000, monthly_bytes_limit = 56000000
where plan_id = 'free';
-- Marks all batches as counted: other tests have used the sequence, too.
update logloom_private.queue_pointer
set metered_through = (select b.last_value from logloom_private.queue_batch_id b) where singleton;
select pg_temp.ingest('initech', 1, 8000000) from generate_series(1, 7);
select is(
  pg_temp.ingest('initech', 1) - 'headers',
  '{"status": 429, "message": "Monthly byte limit reached: 56000000 bytes"}',
  'a few large batches in the queue count, too'
);
select is(
  pg_temp.ingest('initech', e.events, e.bytes) - 'headers',
  '{"status": 413, "message": "Batch too large (max 10000 events, 8388608 bytes)"}',
  'a batch above the largest size is refused'
)
from (values (10001, 100), (1, 8388609)) e (events, bytes);

update logloom_private.jobs set last_succeeded_at = now() - interval '21 seconds'
where name = 'write_logs';
select is(
  array[
    pg_temp.ingest('acme', 1) #>> '{headers,X-Logloom-Writer}',
    pg_temp.ingest('globex', 1) #>> '{headers,X-Logloom-Writer}'
  ],
  '{silent,silent}', 'every answer says that the writer does not run'
);

select * from finish();
rollback;
