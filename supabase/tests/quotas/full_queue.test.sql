begin;
\ir ../ingest_answer.psql
select plan(5);

select is(pg_temp.ingest('acme', 1) ->> 'status', '200', 'there is room');
update private.settings set queue_hard_limit_bytes = 8192;
select is(
  pg_temp.ingest('acme', 1) #- '{headers,X-Logloom-Writer}',
  '{
    "status": 503, "message": "The queue is full, try again", "headers": {"Retry-After": "5"}
  }',
  'beyond the hard limit nothing is taken'
);
select is((select count(*) from private.queue), 1::bigint, 'and nothing stored');
select is(pg_temp.ingest('acme', 0) ->> 'status', '200', 'no events need no room');
select private.flip_queue();
select is(
  pg_temp.ingest('acme', 1) ->> 'status', '503', 'what is being moved takes its room until then'
);

select * from finish();
rollback;
