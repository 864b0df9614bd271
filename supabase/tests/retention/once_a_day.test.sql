begin;
select plan(3);

delete from private.job_heartbeats where job = 'run_retention';
select ok(private.retention_is_due(private.utc_day(now())), 'it never ran');
select private.record_job('run_retention', now(), 'failed');
select ok(private.retention_is_due(private.utc_day(now())), 'it failed today');
select private.record_job('run_retention', now());
select ok(
  not private.retention_is_due(private.utc_day(now()))
  and private.retention_is_due(private.utc_day(now()) + 1),
  'it succeeded today, and is due tomorrow'
);

select * from finish();
rollback;
