begin;
select plan(6);

-- The test's database is a copy: pg_cron's tables say what the migration scheduled.
select results_eq(
  $$select jobname, schedule from cron.job order by jobname collate "C"$$,
  $$values
    ('compact_log_counts', '20 seconds'),
    ('evaluate_alerts', '3 seconds'),
    ('maintain_partitions', '7 * * * *'),
    ('purge_audit_events', '41 * * * *'),
    ('purge_idempotency_keys', '13 * * * *'),
    ('purge_job_history', '*/10 * * * *'),
    ('purge_notifications', '23 4 * * *'),
    ('purge_rate_buckets', '43 * * * *'),
    ('run_deletions', '* * * * *'),
    ('run_retention', '17 * * * *'),
    ('send_notifications', '5 seconds'),
    ('write_logs', '1 second')$$,
  'the jobs and their schedules'
);

select private.run_job('maintain_partitions', 'private.maintain_partitions()');
set local search_path = public, extensions;
select ok(
  (
    select last_succeeded_at >= now() and last_error is null
    from private.job_heartbeats where job = 'maintain_partitions'
  ),
  'a job leaves a heartbeat'
);

create function private.failing_job() returns void language plpgsql as $$
begin
  raise sqlstate '22012' using message = 'division by zero';
end;
$$;
select private.run_job('failing', 'private.failing_job()');
select results_eq(
  $$select last_succeeded_at is null, last_error from private.job_heartbeats
    where job = 'failing'$$,
  $$values (true, '22012: division by zero')$$,
  'a job that fails leaves its error'
);

insert into cron.job_run_details (jobid, runid, status, end_time)
values
  (1, -1, 'succeeded', now() - interval '59 minutes'),
  (1, -2, 'succeeded', now() - interval '61 minutes'),
  (1, -3, 'failed', now() - interval '6 days'),
  (1, -4, 'failed', now() - interval '8 days');
select private.purge_job_history();
select results_eq(
  $$select runid from cron.job_run_details where runid < 0 order by runid$$,
  $$values (-3::bigint), (-1::bigint)$$,
  'job history is purged, failures later'
);

insert into app.tenants (tenant_id, plan_id) values ('acme', 'free');
insert into private.idempotency_keys (
  tenant_id, idempotency_key, body_digest, response, created_at
)
values
  ('acme', 'old', '', '{}', now() - interval '25 hours'),
  ('acme', 'new', '', '{}', now() - interval '23 hours');
select private.purge_idempotency_keys();
select results_eq(
  $$select idempotency_key from private.idempotency_keys$$, $$values ('new')$$,
  'idempotency keys past their lifetime are purged'
);

select is(
  (
    select count(*)::integer from cron.job
    where jobname = 'write_logs' and command = 'call private.write_logs()'
  ),
  1,
  'the writer is one procedure call'
);

select * from finish();
rollback;
