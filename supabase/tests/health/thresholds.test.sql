begin;
\ir ../ingest.psql
\ir ../stopped_clock.psql
update logloom_private.settings set provision_by_secret_key = true;
select plan(26);

select pg_temp.stop_clock('read_health', 'record_job', 'enqueue');

-- So that this server is older than what follows.
create or replace function logloom_private.up_since()
returns timestamptz
language plpgsql
stable
as $$ begin return now() - interval '1 month'; end; $$;

create function pg_temp.health(variadic p_path text[])
returns text
language plpgsql
as $$
begin
  return logloom_private.read_health() #>> p_path;
end;
$$;
create function pg_temp.writer_ran(p_ago interval)
returns void
language plpgsql
as $$
begin
  update logloom_private.jobs set last_succeeded_at = now() - p_ago, last_duration_ms = 12.5
  where name = 'write_logs';
end;
$$;
create function pg_temp.queue_age(p_age interval)
returns void
language plpgsql
as $$
begin
  update logloom_private.queue set received_at = now() - p_age where true;
end;
$$;

-- No job runs in this database.
update logloom_private.jobs set made_at = now() where true;
select is(pg_temp.health('checks', 'writer', 'status'), 'unhealthy', 'a writer that never ran');
select is(
  pg_temp.health('checks', 'writer', 'reason'), 'No run of the writer ever succeeded by this clock',
  'and says why'
);
select pg_temp.writer_ran('59 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'healthy', 'silent for 59 s');
select is(pg_temp.health('checks', 'writer', 'reason'), null, 'what is healthy needs no reason');
select pg_temp.writer_ran('60 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'degraded', 'silent for 60 s');
select is(pg_temp.health('status'), 'degraded', 'which the whole shows');
select is(
  pg_temp.health('endpoints', 'ready', 'checks', 'writer'),
  '{"reason": "No run of the writer succeeded for 60 s (limit 60 s)", "status": "degraded"}',
  'and why ready is 503'
);
select pg_temp.writer_ran('300 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'unhealthy', 'silent for 300 s');
select is(pg_temp.health('status'), 'unhealthy', 'which the whole shows too');

select pg_temp.writer_ran('1 second');
select is(pg_temp.health('status'), 'healthy', 'all well');
select is(pg_temp.health('checks', 'queue', 'depth'), '0', 'with an empty queue');
select is(pg_temp.health('checks', 'queue', 'oldest_item_age_seconds'), '0', 'of no age');
select is(
  pg_temp.health('endpoints', 'ready', 'checks'),
  '{"queue": {"depth": 0}, "writer": {"status": "healthy"}}', 'ready shows no more than that'
);

select pg_temp.send_request(
  p_tenant_id => 'acme', p_ts => array_fill(null::timestamptz, array[10])
);
update logloom_private.settings set queue_degraded_events = 10;
select is(pg_temp.health('checks', 'queue', 'status'), 'healthy', 'depth at the threshold');
update logloom_private.settings set queue_degraded_events = 9;
select is(pg_temp.health('checks', 'queue', 'status'), 'degraded', 'depth above it');
select is(
  pg_temp.health('endpoints', 'ready', 'checks', 'queue'),
  '{"depth": 10, "reason": "10 events are queued (limit 9)"}', 'and why'
);
update logloom_private.settings set queue_degraded_events = 10;
select pg_temp.queue_age('31 seconds');
select is(pg_temp.health('checks', 'queue', 'status'), 'degraded', 'an item of 31 s');
select pg_temp.queue_age('601 seconds');
select is(pg_temp.health('checks', 'queue', 'status'), 'unhealthy', 'an item of 601 s');
select is(
  pg_temp.health('endpoints', 'queue', 'checks', 'queue', 'reason'),
  'The oldest queued event is 601 s old (limit 600 s)', 'and why'
);

-- A writer whose job is stopped while ingest runs it in its stead.
select pg_temp.queue_age('1 second');
update logloom_private.jobs
set made_at = now() - interval '70 seconds', last_succeeded_at = null
where name = 'write_logs';
select logloom_private.record_job('run_writer', now()) \g /dev/null
select is(
  pg_temp.health('endpoints', 'ready', 'checks'),
  '{"jobs": {"write_logs": {"reason": "No run of the job succeeded for 70 s (limit 60 s)", '
    '"status": "degraded"}}, "queue": {"depth": 10}, "writer": {"status": "healthy"}}',
  'ready names the check that makes it 503'
);
select pg_temp.writer_ran('1 second');
select is(pg_temp.health('status'), 'healthy', 'all well again');

do $$
begin
  execute format(
    'drop table logloom.%I', logloom_private.partition_name(logloom_private.utc_day(now()) + 1)
  );
end;
$$;
select is(
  pg_temp.health('checks', 'partitions', 'status'), 'degraded', 'tomorrow''s partition is missing'
);
select is(
  pg_temp.health('endpoints', 'ready', 'checks', 'partitions'),
  '{"reason": "The partition of tomorrow is missing", "status": "degraded"}', 'ready says so'
);
do $$
begin
  execute format(
    'drop table logloom.%I', logloom_private.partition_name(logloom_private.utc_day(now()))
  );
end;
$$;
select is(
  pg_temp.health('checks', 'partitions', 'status'), 'unhealthy', 'today''s partition is missing'
);
select is(
  pg_temp.health('endpoints', 'partitions', 'checks', 'partitions', 'reason'),
  'The partition of today is missing; The partition of tomorrow is missing', 'and why'
);
select is(
  pg_temp.health('checks', 'partitions', 'current_partition'),
  to_char(now() at time zone 'UTC', '"logs_"YYYY_MM_DD'),
  'its name'
);

select * from finish();
rollback;
