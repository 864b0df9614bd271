begin;
select plan(8);

-- The test's database is a copy: pg_cron's tables say what the migration scheduled.
select results_eq(
  $$select jobname, schedule from cron.job order by jobname collate "C"$$,
  $$values
    ('logloom_archive_logs', '5 seconds'),
    ('logloom_compact_log_counts', '20 seconds'),
    ('logloom_evaluate_alerts', '3 seconds'),
    ('logloom_maintain_partitions', '7 * * * *'),
    ('logloom_purge_job_history', '*/10 * * * *'),
    ('logloom_purge_old_rows', '13 * * * *'),
    ('logloom_run_canary', '* * * * *'),
    ('logloom_run_deletions', '* * * * *'),
    ('logloom_run_retention', '* * * * *'),
    ('logloom_seal_logs', '* * * * *'),
    ('logloom_send_log_streams', '2 seconds'),
    ('logloom_send_notifications', '2 seconds'),
    ('logloom_verify_logs', '* * * * *'),
    ('logloom_write_logs', '1 second')$$,
  'the jobs and their schedules'
);

insert into cron.job_run_details (jobid, runid, command, status, start_time)
values
  -- What pg_cron was about to start when the server went down has neither start nor end.
  (1, -10, 'call logloom_private.write_logs()', 'failed', null),
  (1, -9, 'call logloom_private.write_logs()', 'failed', now() - interval '8 days'),
  (1, -8, 'call logloom_private.write_logs()', 'failed', null),
  (1, -6, 'call logloom_private.write_logs()', 'running', now() - interval '8 days'),
  (1, -7, 'call logloom_private.write_logs()', 'running', now());
insert into cron.job_run_details (jobid, runid, command, status, end_time)
values
  (1, -1, 'call logloom_private.write_logs()', 'succeeded', now() - interval '59 minutes'),
  (1, -2, 'call logloom_private.write_logs()', 'succeeded', now() - interval '61 minutes'),
  (1, -3, 'call logloom_private.write_logs()', 'failed', now() - interval '6 days'),
  (1, -4, 'call logloom_private.write_logs()', 'failed', now() - interval '8 days'),
  (2, -5, 'call app.send_invoices()', 'succeeded', now() - interval '8 days');
select logloom_private.purge_job_history();
select results_eq(
  $$select runid from cron.job_run_details where runid < 0 order by runid$$,
  $$values (-8::bigint), (-7), (-5), (-3), (-1)$$,
  'the history of our jobs is purged, failures and runs without an end later, nobody else''s'
);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
insert into logloom_private.idempotency_keys (
  tenant_id, idempotency_key, body_digest, response, created_at
)
values
  ('acme', 'old', '', '{}', now() - interval '25 hours'),
  ('acme', 'new', '', '{}', now() - interval '23 hours');
select logloom_private.purge_old_rows();
select results_eq(
  $$select idempotency_key from logloom_private.idempotency_keys$$, $$values ('new')$$,
  'idempotency keys past their lifetime are purged'
);

insert into logloom.alert_history (tenant_id, rule_id, value, threshold, triggered_at)
select 'acme', gen_random_uuid(), a.days, 0, now() - make_interval(days => a.days)
from (values (401), (399)) a (days);
select logloom_private.purge_old_rows();
select results_eq(
  'select value from logloom.alert_history', array[399::double precision],
  'alerts past their lifetime leave the history'
);

select is(
  (
    select count(*)::integer from cron.job
    where jobname = 'logloom_write_logs' and command = 'call logloom_private.write_logs()'
  ),
  1,
  'the writer is one procedure call'
);

-- pg_cron takes a second job of a name for a change of the first one.
select lives_ok(
  'select logloom_private.schedule_jobs()', 'jobs that are there are brought to what they should be'
);
select cron.alter_job(j.jobid, command => 'select 1')
from cron.job j where j.jobname = 'logloom_seal_logs';
select throws_ok(
  'select logloom_private.schedule_jobs()', '42710',
  'pg_cron has a job logloom_seal_logs that is not Logloom''s',
  'a job of the project is not changed, whatever it is called'
);
select is(
  (select j.command from cron.job j where j.jobname = 'logloom_seal_logs'), 'select 1',
  'it is what it was'
);

select * from finish();
rollback;
