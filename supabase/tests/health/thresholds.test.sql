begin;
select plan(16);

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
  insert into logloom_private.job_heartbeats (job, last_succeeded_at, last_duration_ms)
  values ('write_logs', clock_timestamp() - p_ago, 12.5)
  on conflict (job) do update set last_succeeded_at = excluded.last_succeeded_at;
end;
$$;
create function pg_temp.queue_age(p_age interval)
returns void
language plpgsql
as $$
begin
  update logloom_private.queue set received_at = clock_timestamp() - p_age where true;
end;
$$;

delete from logloom_private.job_heartbeats where true;
-- No job runs in this database.
update logloom_private.job_limits set watched_since = clock_timestamp() where true;
select is(pg_temp.health('checks', 'writer', 'status'), 'unhealthy', 'a writer that never ran');
select pg_temp.writer_ran('59 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'healthy', 'silent for 59 s');
select pg_temp.writer_ran('60 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'degraded', 'silent for 60 s');
select is(pg_temp.health('status'), 'degraded', 'which the whole shows');
select pg_temp.writer_ran('300 seconds');
select is(pg_temp.health('checks', 'writer', 'status'), 'unhealthy', 'silent for 300 s');
select is(pg_temp.health('status'), 'unhealthy', 'which the whole shows too');

select pg_temp.writer_ran('1 second');
select is(pg_temp.health('status'), 'healthy', 'all well');
select is(pg_temp.health('checks', 'queue', 'depth'), '0', 'with an empty queue');
select is(pg_temp.health('checks', 'queue', 'oldest_item_age_seconds'), '0', 'of no age');

select public.ingest_logs(
  p_tenant_id => 'acme', p_ts => array_fill(null::timestamptz, array[10])
);
update logloom_private.settings set queue_degraded_events = 10;
select is(pg_temp.health('checks', 'queue', 'status'), 'healthy', 'depth at the threshold');
update logloom_private.settings set queue_degraded_events = 9;
select is(pg_temp.health('checks', 'queue', 'status'), 'degraded', 'depth above it');
update logloom_private.settings set queue_degraded_events = 10;
select pg_temp.queue_age('31 seconds');
select is(pg_temp.health('checks', 'queue', 'status'), 'degraded', 'an item of 31 s');
select pg_temp.queue_age('601 seconds');
select is(pg_temp.health('checks', 'queue', 'status'), 'unhealthy', 'an item of 601 s');
select pg_temp.queue_age('1 second');

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
  pg_temp.health('checks', 'partitions', 'current_partition'),
  to_char(now() at time zone 'UTC', '"logs_"YYYY_MM_DD'),
  'its name'
);

select * from finish();
rollback;
