begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir rounds.psql
select plan(9);

select is(
  logloom_private.enqueue_timeout(), '5 seconds', 'the enqueue timeout is that of ingest_text'
);
alter function public.ingest_text(text) set statement_timeout = '7500';
select is(logloom_private.enqueue_timeout(), '7.5 seconds', 'follows a change of it');
alter function public.ingest_text(text) set statement_timeout = '5s';

delete from logloom_private.job_heartbeats;
select is(
  logloom_private.watermark((logloom_private.queue_state()).oldest_received_at), null,
  'before the writer ever ran nothing is known'
);
select logloom_private.record_job('write_logs', pg_temp.at('12:00:05')) \g /dev/null
select is(
  logloom_private.watermark((logloom_private.queue_state()).oldest_received_at),
  pg_temp.at('12:00'),
  'with an empty queue it is the last run''s start less the enqueue timeout'
);
select is(
  logloom_private.watermark(pg_temp.at('11:59')), pg_temp.at('11:59'), 'what is queued holds it'
);
select is(
  logloom_private.watermark(pg_temp.at('12:00:01')), pg_temp.at('12:00'),
  'what was queued later does not'
);

-- Health.
select is(
  logloom_private.alert_health(pg_temp.at('12:05'), pg_temp.at('12:00')),
  '{"status": "healthy", "waiting": false, "watermark_age_seconds": 300, "evaluated_until": null,
    "late_rules": 0, "late_seconds": 0}',
  'without rules nobody waits'
);
select pg_temp.rule('ts:*') \g /dev/null
select pg_temp.round('12:00') \g /dev/null
select is(
  logloom_private.alert_health(pg_temp.at('12:02:01'), pg_temp.at('12:00')),
  '{
    "status": "degraded", "reason": "Rules wait until all that was acknowledged is visible",
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
  'and when rounds stay away'
);

select * from finish();
rollback;
