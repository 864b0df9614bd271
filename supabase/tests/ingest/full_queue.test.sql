begin;
update logloom_private.settings set provision_by_secret_key = true;
\ir ../ingest.psql
select plan(6);

update logloom_private.jobs set last_succeeded_at = now() where name = 'write_logs';
update logloom.plans set monthly_events_limit = 100 where plan_id = 'free';

select is(pg_temp.ingest('acme', 1) ->> 'status', '200', 'there is room');
update logloom_private.settings set queue_hard_limit_bytes = 8192;
select is(
  pg_temp.ingest('acme', 1) #- '{headers,X-RateLimit-Reset}',
  '{
    "status": 503, "message": "The queue is full, try again", "headers": {
      "Retry-After": "5", "X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "99"
    }
  }',
  'above the limit ingest answers 503, with the month''s remaining events'
);
select is((select count(*) from logloom_private.queue), 1::bigint, 'and stores nothing');
select is(pg_temp.ingest('acme', 0) ->> 'status', '200', 'a request without events succeeds');
select logloom_private.flip_queue();
select is(
  pg_temp.ingest('acme', 1) ->> 'status', '503', 'batches that are being moved still count'
);

select is(
  array[
    logloom_private.queue_limit(null, null), logloom_private.queue_limit(null, 300 << 20),
    logloom_private.queue_limit(null, 10000000000), logloom_private.queue_limit(8192, 10000000000)
  ],
  '{1073741824,67108864,1000000000,8192}', 'the limit is set, or follows from max_storage_bytes'
);

select * from finish();
rollback;
