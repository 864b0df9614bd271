begin;
select plan(8);

-- This database is a copy; pg_cron's tables show what the migration scheduled.
select results_eq(
  $$select jobname, schedule, command from cron.job order by jobname collate "C"$$,
  $$values
    ('logloom_send', '10 seconds', 'call logloom_private.work(''send'')'),
    ('logloom_tend', '10 seconds', 'call logloom_private.work(''tend'')'),
    ('logloom_write', '10 seconds', 'call logloom_private.work(''write'')')$$,
  'pg_cron has one job for each lane'
);

insert into cron.job_run_details (jobid, runid, command, status, start_time)
values
  -- A run that pg_cron was about to start when the server crashed has neither start nor end.
  (1, -10, 'call logloom_private.work(''write'')', 'failed', null),
  (1, -9, 'call logloom_private.work(''write'')', 'failed', now() - interval '8 days'),
  (1, -8, 'call logloom_private.work(''write'')', 'failed', null),
  (1, -6, 'call logloom_private.work(''write'')', 'running', now() - interval '8 days'),
  (1, -7, 'call logloom_private.work(''write'')', 'running', now());
insert into cron.job_run_details (jobid, runid, command, status, end_time)
values
  (1, -1, 'call logloom_private.work(''write'')', 'succeeded', now() - interval '59 minutes'),
  (1, -2, 'call logloom_private.work(''write'')', 'succeeded', now() - interval '61 minutes'),
  (1, -3, 'call logloom_private.work(''write'')', 'failed', now() - interval '6 days'),
  (1, -4, 'call logloom_private.work(''write'')', 'failed', now() - interval '8 days'),
  (2, -5, 'call app.send_invoices()', 'succeeded', now() - interval '8 days');
select logloom_private.purge_job_history();
select results_eq(
  $$select runid from cron.job_run_details where runid < 0 order by runid$$,
  $$values (-8::bigint), (-7), (-5), (-3), (-1)$$,
  'only the history of our jobs is purged, failed and unfinished runs later'
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
  'alerts past their lifetime are purged'
);

-- pg_cron would overwrite an existing job of the same name.
update logloom_private.jobs set is_paused = true, every = '2 seconds', step = 'old_step'
where name = 'archive_logs';
insert into logloom_private.jobs (name, lane, step, every, silence)
values ('of_old', 'tend', 'of_old', '1 minute', '1 hour');
select cron.schedule('logloom_seal_logs', '* * * * *', 'call logloom_private.run_job(''seal'')');
select cron.schedule('logloom_like', '* * * * *', 'select app.logloom_private()');
select logloom_private.schedule_jobs();
select results_eq(
  $$select name, step, every, is_paused from logloom_private.jobs
    where name in ('archive_logs', 'of_old')$$,
  $$values ('archive_logs', 'archive_step', interval '2 seconds', true)$$,
  'steps are updated, the operator''s settings stay, jobs of earlier versions are removed'
);
select results_eq(
  $$select jobname from cron.job order by jobname collate "C"$$,
  array['logloom_like', 'logloom_send', 'logloom_tend', 'logloom_write'],
  'and so are their jobs of pg_cron, but no others'
);
select cron.alter_job(j.jobid, command => 'select 1')
from cron.job j where j.jobname = 'logloom_tend';
select throws_ok(
  'select logloom_private.schedule_jobs()', '42710',
  'pg_cron has a job logloom_tend that is not Logloom''s', 'a job of the project is not overwritten'
);
select is(
  (select j.command from cron.job j where j.jobname = 'logloom_tend'), 'select 1',
  'it is unchanged'
);

select * from finish();
rollback;
