begin;
\ir ../ingest.psql
\ir ../stopped_clock.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(26);

select pg_temp.stop_clock('read_health', 'record_job', 'enqueue');

-- The server started long before the runs below.
select pg_temp.set_uptime('1 month') \g /dev/null

create function pg_temp.health(variadic p_path text[])
returns text
language sql
return logloom_private.read_health() #>> p_path;
create function pg_temp.writer_ran(p_ago interval)
returns void
language sql
as $$
  update logloom_private.jobs set last_succeeded_at = now() - p_ago, last_duration_ms = 12.5
  where name = 'write_logs'
$$;
create function pg_temp.queue_age(p_age interval)
returns void
language sql
as $$ update logloom_private.queue set received_at = now() - p_age where true $$;

-- No jobs run in this database.
update logloom_private.jobs set made_at = now(), last_succeeded_at = null where true;
select is(
  pg_temp.health('checks', 'writer', 'status'), 'unhealthy', 'a writer that never ran is unhealthy'
);
select is(
  pg_temp.health('checks', 'writer', 'reason'), 'No run of the writer ever succeeded by this clock',
  'with a reason'
);
select pg_temp.writer_ran('59 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'healthy', 'healthy after 59 s');
select is(pg_temp.health('checks', 'writer', 'reason'), null, 'without a reason');
select pg_temp.writer_ran('60 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'degraded', 'degraded after 60 s');
select is(pg_temp.health('status'), 'degraded', 'the overall status is degraded');
select is(
  pg_temp.health('endpoints', 'ready', 'checks', 'writer'),
  '{"reason": "No run of the writer succeeded for 60 s (limit 60 s)", "status": "degraded"}',
  'ready shows the reason'
);
select pg_temp.writer_ran('300 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'unhealthy', 'unhealthy after 300 s');
select is(pg_temp.health('status'), 'unhealthy', 'the overall status is unhealthy');

select pg_temp.writer_ran('1 second');
select is(pg_temp.health('status'), 'healthy', 'all checks are healthy');
select is(pg_temp.health('checks', 'queue', 'depth'), '0', 'with an empty queue');
select is(pg_temp.health('checks', 'queue', 'oldest_item_age_seconds'), '0', 'and no oldest event');
select is(
  pg_temp.health('endpoints', 'ready', 'checks'),
  '{"queue": {"depth": 0}, "writer": {"status": "healthy"}}', 'ready shows only queue and writer'
);

select pg_temp.send_request(
  p_tenant_id => 'acme', p_ts => array_fill(null::timestamptz, array[10])
);
update logloom_private.settings set queue_degraded_events = 10;
select is(pg_temp.health('checks', 'queue', 'status'), 'healthy', 'healthy at the limit of events');
update logloom_private.settings set queue_degraded_events = 9;
select is(pg_temp.health('checks', 'queue', 'status'), 'degraded', 'degraded above it');
select is(
  pg_temp.health('endpoints', 'ready', 'checks', 'queue'),
  '{"depth": 10, "reason": "10 events are queued (limit 9)"}', 'with its reason'
);
update logloom_private.settings set queue_degraded_events = 10;
select pg_temp.queue_age('31 seconds');
select is(
  pg_temp.health('checks', 'queue', 'status'), 'degraded', 'degraded with an event of 31 s'
);
select pg_temp.queue_age('601 seconds');
select is(
  pg_temp.health('checks', 'queue', 'status'), 'unhealthy', 'unhealthy with an event of 601 s'
);
select is(
  pg_temp.health('endpoints', 'queue', 'checks', 'queue', 'reason'),
  'The oldest queued event is 601 s old (limit 600 s)', 'with its reason'
);

-- The job of the writer has stopped, and ingest runs the writer.
select pg_temp.queue_age('1 second');
update logloom_private.jobs
set made_at = now() - interval '70 seconds', last_succeeded_at = null
where name = 'write_logs';
select logloom_private.record_job('run_writer', now()) \g /dev/null
select is(
  pg_temp.health('endpoints', 'ready', 'checks'),
  '{"jobs": {"write_logs": {"reason": "No run of the job succeeded for 70 s (limit 60 s)", '
    '"status": "degraded"}}, "queue": {"depth": 10}, "writer": {"status": "healthy"}}',
  'ready shows the failing job'
);
select pg_temp.writer_ran('1 second');
select is(pg_temp.health('status'), 'healthy', 'all checks are healthy again');

create function pg_temp.drop_partition(p_days integer)
returns void
language plpgsql
as $$
begin
  execute format(
    'drop table logloom.%I', logloom_private.partition_name(logloom_private.utc_day(now()) + p_days)
  );
end;
$$;
select pg_temp.drop_partition(1);
select is(
  pg_temp.health('checks', 'partitions', 'status'), 'degraded', 'tomorrow''s partition is missing'
);
select is(
  pg_temp.health('endpoints', 'ready', 'checks', 'partitions'),
  '{"reason": "The partition of tomorrow is missing", "status": "degraded"}', 'ready shows it'
);
select pg_temp.drop_partition(0);
select is(
  pg_temp.health('checks', 'partitions', 'status'), 'unhealthy', 'today''s partition is missing'
);
select is(
  pg_temp.health('endpoints', 'partitions', 'checks', 'partitions', 'reason'),
  'The partition of today is missing; The partition of tomorrow is missing', 'with its reason'
);
select is(
  pg_temp.health('checks', 'partitions', 'current_partition'),
  to_char(now() at time zone 'UTC', '"logs_"YYYY_MM_DD'), 'the partition''s name'
);

select * from finish();
rollback;
