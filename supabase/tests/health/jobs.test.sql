begin;
\ir ../actors.psql
\ir ../stopped_clock.psql
select plan(28);

create function pg_temp.status(p_job text default null)
returns text
language plpgsql
as $$
declare
  v_report constant jsonb := logloom_private.read_health();
begin
  return case
    when p_job is null then v_report ->> 'status'
    else v_report #>> array['endpoints', 'detailed', 'checks', 'jobs', p_job, 'status']
  end;
end;
$$;

create function pg_temp.ran(p_job text, p_ago interval)
returns void
language sql
as $$
  update logloom_private.jobs
  set last_started_at = clock_timestamp() - p_ago, last_succeeded_at = clock_timestamp() - p_ago,
    failures = 0
  where name = p_job
$$;

-- The server started long before the runs below.
select pg_temp.set_uptime('1 month') \g /dev/null

select is_empty(
  $$select j.name from logloom_private.jobs j
    where to_regprocedure(format('logloom_private.%I()', j.step)) is null$$,
  'every step is a function'
);

select logloom_private.record_job(j.name, clock_timestamp())
from logloom_private.jobs j where j.lane <> 'ingest'
\g /dev/null
select is(pg_temp.status(), 'healthy', 'healthy after all jobs ran');

-- Health shows the number of runs.
delete from cron.job_run_details where true;
insert into cron.job_run_details (runid, jobid, command, start_time)
select r.n, r.job, r.command, now() - r.minutes_ago * interval '1 minute'
from (
  values
    (1, 1, 'call logloom_private.work(''write'')', 61),
    (2, 1, 'call logloom_private.work(''write'')', 10),
    (3, 2, 'call logloom_private.work(''send'')', 10),
    (4, 1, 'call logloom_private.work(''write'')', 5),
    (5, 2, 'call logloom_private.work(''send'')', 5),
    (6, 3, 'select of_the_project()', 1)
) r (n, job, command, minutes_ago);
select is(
  logloom_private.project_health(now()) -> 'runs_a_day', '576',
  'our two runs in five minutes are extrapolated'
);

-- A job that does not run is reported.
savepoint silence;
select pg_temp.stop_clock('read_health');
update logloom_private.jobs
set last_started_at = now(),
  last_succeeded_at = now() - case name
    when 'run_deletions' then interval '9 minutes 59 seconds' else '0'
  end;
select is(pg_temp.status('run_deletions'), 'healthy', 'healthy just below the limit');
update logloom_private.jobs set last_succeeded_at = now() - interval '10 minutes 1 second'
where name = 'run_deletions';
select is(
  array[pg_temp.status('run_deletions'), pg_temp.status('run_retention'), pg_temp.status()],
  '{degraded,healthy,degraded}', 'above the limit only this job is degraded'
);
rollback to silence;
select pg_temp.ran('run_deletions', '0') \g /dev/null

update logloom_private.jobs
set last_succeeded_at = null, made_at = clock_timestamp() - interval '59 minutes'
where name = 'run_retention';
select is(pg_temp.status('run_retention'), 'healthy', 'a new job is healthy until its limit');
update logloom_private.jobs set made_at = clock_timestamp() - interval '61 minutes'
where name = 'run_retention';
select is(pg_temp.status('run_retention'), 'degraded', 'then it is degraded if it never ran');

select pg_temp.ran('run_deletions', '2 hours') \g /dev/null
select pg_temp.set_uptime('9 minutes') \g /dev/null
select is(pg_temp.status('run_deletions'), 'healthy', 'after a start of the server jobs get time');
select pg_temp.set_uptime('11 minutes') \g /dev/null
select is(pg_temp.status('run_deletions'), 'degraded', 'but only as long as their limit');
select pg_temp.set_uptime('3 hours') \g /dev/null
select is(
  pg_temp.status('run_retention'), 'degraded', 'a job that never ran stays degraded after a restart'
);
select pg_temp.set_uptime('1 month') \g /dev/null
select pg_temp.ran('run_deletions', '0') \g /dev/null

-- A job that fails three times in a row is reported.
select logloom_private.record_job('run_retention', clock_timestamp()) \g /dev/null
select logloom_private.record_job('run_retention', clock_timestamp(), '42P01: acme''s secret')
from generate_series(1, 2) \g /dev/null
select is(pg_temp.status(), 'healthy', 'two failures in a row are allowed');
select logloom_private.record_job('run_retention', clock_timestamp(), '42P01: acme''s secret')
\g /dev/null
select is(
  (logloom_private.read_health() #> '{checks,jobs,run_retention}')
    - '{last_success,last_failure}'::text[],
  '{
    "status": "degraded", "reason": "3 runs failed in a row", "failures": 3, "error_code": "42P01"
  }',
  'three are too many, and the error''s message is not shown'
);
select logloom_private.record_job('run_retention', clock_timestamp()) \g /dev/null
select is(pg_temp.status(), 'healthy', 'healthy after a success');

-- A step fails and records its error, while the run continues and succeeds.
create function pg_temp.run_with_failed_step()
returns void
language plpgsql
as $$
declare
  v_started_at constant timestamptz := clock_timestamp();
begin
  perform logloom_private.record_job_error('run_deletions', '22012', 'of a step');
  perform logloom_private.record_job('run_deletions', v_started_at);
end;
$$;
select pg_temp.run_with_failed_step() from generate_series(1, 3) \g /dev/null
select is(pg_temp.status('run_deletions'), 'degraded', 'a run with a failed step is no success');
select pg_temp.ran('run_deletions', '0') \g /dev/null

-- The retention of one day takes many runs of the job.
insert into logloom_private.retention_place (today) values (logloom_private.utc_day(now()))
on conflict (singleton) do nothing;
update logloom_private.retention_place set failing_since = now() - interval '27 hours' where true;
select matches(
  logloom_private.read_health() #>> '{checks,jobs,run_retention,reason}',
  '^No retention succeeded for 972\d\d s \(limit 93600 s\)$',
  'degraded if no retention succeeded for 26 hours'
);
select logloom_private.begin_retention(logloom_private.utc_day(now()) + 1),
  logloom_private.end_retention('22012: division by zero') \g /dev/null
select logloom_private.record_job('run_retention', clock_timestamp()) \g /dev/null
select is(pg_temp.status('run_retention'), 'degraded', 'another failure does not change that');
select logloom_private.begin_retention(logloom_private.utc_day(now()) + 2),
  logloom_private.end_retention(null) \g /dev/null
select is(pg_temp.status('run_retention'), 'healthy', 'a success does');

-- The clock was set back.
select pg_temp.ran('purge_old_rows', '-1 day') \g /dev/null
select is(
  array[pg_temp.status('purge_old_rows'), pg_temp.status()], '{degraded,degraded}',
  'a success in the future does not count'
);
select pg_temp.ran('purge_old_rows', '0') \g /dev/null
select pg_temp.ran('write_logs', '-1 day') \g /dev/null
select is(
  logloom_private.read_health() #>> '{checks,writer,status}', 'unhealthy', 'neither for the writer'
);
select pg_temp.ran('write_logs', '0') \g /dev/null

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
insert into logloom.alert_rules (
  tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled
)
values ('acme', 'rule', 'ts:*', 1, 'gte', 5, 5, true);
insert into logloom_private.alert_rounds (window_end, write_seq_from, write_seq_to, finished_at)
values (date_bin('1 minute', now() + interval '1 day', 'epoch'), 0, 0, now());
update logloom.alert_rules set last_evaluated_at = now() + interval '1 day' where true;
select is(
  logloom_private.read_health() #>> '{checks,alerts,status}', 'degraded',
  'nor do alert rounds of tomorrow'
);
select is(
  (logloom_private.begin_alert_round(now(), now() - interval '6 seconds')).window_end,
  date_bin('1 minute', now() - interval '6 seconds', 'epoch'),
  'the next round does not wait until then'
);
select results_eq(
  'select last_evaluated_at from logloom.alert_rules', array[null::timestamptz],
  'each rule is evaluated again'
);
update logloom_private.alert_rounds set window_end = now() - interval '1 hour' where singleton;
select is(
  logloom_private.read_health() #>> '{checks,alerts,status}', 'degraded',
  'a round without an end does not count'
);
delete from logloom.alert_rules where true;

-- Ingest is the watchdog of the writer: it runs the writer if pg_cron does not.
select pg_temp.ran('write_logs', '10 minutes') \g /dev/null
select is(
  logloom_private.read_health() #>> '{checks,writer,status}', 'unhealthy',
  'the writer is unhealthy while pg_cron is down'
);
select logloom_private.record_job('run_writer', clock_timestamp()) \g /dev/null
select is(
  logloom_private.read_health() #>> '{checks,writer,status}', 'healthy', 'a run by ingest counts'
);
select ok(
  logloom_private.watermark(null) > clock_timestamp() - interval '1 minute',
  'and moves the watermark, so alerts continue'
);
select is(
  array[pg_temp.status('write_logs'), pg_temp.status()], '{degraded,degraded}',
  'the silent job is still reported'
);

-- A run ends while health is read.
select pg_temp.ran('run_writer', '515 seconds'), pg_temp.ran('write_logs', '-1 second') \g /dev/null
select is(
  logloom_private.read_health() #>> '{checks,writer,status}', 'healthy',
  'a run that has just ended counts'
);

select * from finish();
rollback;
