begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir rounds.psql
select plan(7);

select is(
  logloom_private.enqueue_timeout(), '5 seconds',
  'the enqueue timeout is the timeout of ingest_text'
);
alter function public.ingest_text(text) set statement_timeout = '7500';
select is(logloom_private.enqueue_timeout(), '7.5 seconds', 'and follows a change of it');
alter function public.ingest_text(text) set statement_timeout = '5s';

select is(
  logloom_private.watermark((logloom_private.queue_state()).oldest_received_at),
  now() - interval '5 seconds', 'with an empty queue the watermark is now minus the enqueue timeout'
);
select is(
  array[
    logloom_private.watermark(now() - interval '6 seconds'),
    logloom_private.watermark(now() - interval '4 seconds')
  ],
  array[now() - interval '6 seconds', now() - interval '5 seconds'],
  'older queued batches hold it, newer ones do not'
);

-- Health reports rules that wait.
select is(
  logloom_private.alert_health(pg_temp.at('12:05'), pg_temp.at('12:00')),
  '{"status": "healthy", "waiting": false, "watermark_age_seconds": 300, "evaluated_until": null,
    "late_rules": 0, "late_seconds": 0}',
  'without rules health is not degraded'
);
select pg_temp.rule('ts:*') \g /dev/null
select pg_temp.round('12:00') \g /dev/null
select is(
  logloom_private.alert_health(pg_temp.at('12:02:01'), pg_temp.at('12:00')),
  '{
    "status": "degraded", "reason": "Rules wait until all acknowledged events are visible",
    "waiting": true, "watermark_age_seconds": 121,
    "evaluated_until": "2026-03-03T12:00:00+00:00", "late_rules": 0, "late_seconds": 0
  }',
  'while rules wait, health is degraded'
);
select is(
  array[
    logloom_private.alert_health(pg_temp.at('12:05:00'), pg_temp.at('12:04:54')) ->> 'status',
    logloom_private.alert_health(pg_temp.at('12:05:01'), pg_temp.at('12:04:54')) ->> 'status'
  ],
  '{healthy,degraded}',
  'so it is when no round runs'
);

select * from finish();
rollback;
