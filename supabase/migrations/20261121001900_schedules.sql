-- What pg_cron runs. Each job leaves a heartbeat that health reads.

create function private.run_job(p_job text, p_function regprocedure)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_started_at constant timestamptz := clock_timestamp();
begin
  execute format('select %s', p_function);
  perform private.record_job(p_job, v_started_at);
exception when others then
  perform private.record_job(p_job, v_started_at, format('%s: %s', sqlstate, sqlerrm));
end;
$$;

create function private.purge_job_history()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  delete from cron.job_run_details d
  using private.settings s
  where d.end_time < now() - case d.status
    when 'succeeded' then s.job_history_lifetime
    else s.job_failure_lifetime
  end;
end;
$$;

create function private.purge_idempotency_keys()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  delete from private.idempotency_keys k
  using private.settings s
  where k.created_at < now() - s.idempotency_key_lifetime;
end;
$$;

comment on function private.run_job(text, regprocedure) is
  'Runs a job''s function and leaves its heartbeat, with the error where it fails.';
comment on function private.purge_job_history() is
  'Deletes pg_cron''s records of old runs: a job of every second makes 86,400 a day.';
comment on function private.purge_idempotency_keys() is
  'Deletes idempotency keys past their lifetime.';

select cron.schedule('write_logs', '1 second', 'call private.write_logs()');
select cron.schedule(
  'compact_log_counts', '20 seconds',
  $$select private.run_job('compact_log_counts', 'private.compact_log_counts()')$$
);
select cron.schedule(
  'maintain_partitions', '7 * * * *',
  $$select private.run_job('maintain_partitions', 'private.maintain_partitions()')$$
);
select cron.schedule(
  'purge_job_history', '*/10 * * * *',
  $$select private.run_job('purge_job_history', 'private.purge_job_history()')$$
);
-- Once a day; the other hours make up for a run that failed or was killed.
select cron.schedule('run_retention', '17 * * * *', 'call private.run_retention()');
select cron.schedule('run_deletions', '* * * * *', 'call private.run_deletions()');
select cron.schedule(
  'purge_audit_events', '41 * * * *',
  $$select private.run_job('purge_audit_events', 'private.purge_audit_events()')$$
);
select cron.schedule(
  'purge_rate_buckets', '43 * * * *',
  $$select private.run_job('purge_rate_buckets', 'private.purge_rate_buckets()')$$
);
select cron.schedule(
  'purge_idempotency_keys', '13 * * * *',
  $$select private.run_job('purge_idempotency_keys', 'private.purge_idempotency_keys()')$$
);
-- More often than once a minute, because a round begins when the watermark has passed a minute.
select cron.schedule('evaluate_alerts', '3 seconds', 'call private.evaluate_alerts()');
select cron.schedule(
  'send_notifications', '5 seconds',
  $$select private.run_job('send_notifications', 'private.send_notifications()')$$
);
select cron.schedule(
  'purge_notifications', '23 4 * * *',
  $$select private.run_job('purge_notifications', 'private.purge_notifications()')$$
);
