-- Updates the table of jobs and keeps the operator's changes. Creates one job of pg_cron for each
-- lane. The next run starts when the last one has ended, or at most ten seconds after an
-- interruption. Removes the jobs of earlier versions.
create function logloom_private.schedule_jobs()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lane text;
  v_job_id bigint;
begin
  -- silence: how long a job may be without success. Usually three intervals or more, plus a step.
  with known as (
    insert into logloom_private.jobs as j (name, lane, step, every, silence)
    values
      ('write_logs', 'write', 'write_logs', '250 milliseconds', '60 seconds'),
      ('move_sql_log', 'write', 'move_sql_log', '250 milliseconds', '60 seconds'),
      ('run_writer', 'ingest', 'run_writer_in_place', '1 day', '1 day'),
      -- A round begins when the watermark has passed a full minute.
      ('evaluate_alerts', 'send', 'evaluate_alerts', '2 seconds', '3 minutes'),
      ('group_errors', 'send', 'group_errors', '10 seconds', '10 minutes'),
      ('send_notifications', 'send', 'send_notifications', '2 seconds', '3 minutes'),
      ('send_log_streams', 'send', 'send_log_streams', '2 seconds', '3 minutes'),
      ('archive_logs', 'send', 'archive_step', '5 seconds', '10 minutes'),
      ('run_canary', 'send', 'run_canary', '1 minute', '10 minutes'),
      ('collect', 'tend', 'collect', '1 minute', '10 minutes'),
      ('compact_log_counts', 'tend', 'compact_log_counts', '20 seconds', '5 minutes'),
      ('maintain_partitions', 'tend', 'maintain_partitions', '1 hour', '3 hours'),
      ('seal_logs', 'tend', 'seal_step', '1 minute', '1 hour'),
      ('run_retention', 'tend', 'retention_step', '1 minute', '1 hour'),
      ('run_deletions', 'tend', 'run_deletion_step', '1 minute', '10 minutes'),
      ('bound_storage', 'tend', 'bound_storage', '1 minute', '10 minutes'),
      ('verify_logs', 'tend', 'verify_step', '1 minute', '1 hour'),
      ('link_audit_events', 'tend', 'link_audit_events', '5 seconds', '10 minutes'),
      ('purge_job_history', 'tend', 'purge_job_history', '1 hour', '4 hours'),
      ('purge_old_rows', 'tend', 'purge_old_rows', '1 hour', '4 hours')
    on conflict (name) do update set lane = excluded.lane, step = excluded.step
    returning j.name
  )
  delete from logloom_private.jobs j where j.name not in (select k.name from known k);

  foreach v_lane in array array['write', 'send', 'tend'] loop
    -- pg_cron would overwrite an existing job with the same name.
    if exists (
      select
      from cron.job c
      where c.jobname = 'logloom_' || v_lane
        and (c.username = current_user and strpos(c.command, 'logloom_private.') > 0) is not true
    ) then
      raise exception using
        errcode = 'duplicate_object',
        message = format('pg_cron has a job logloom_%s that is not Logloom''s', v_lane),
        hint = 'Schedule it under another name and remove this one, then try again.';
    end if;
    perform cron.schedule(
      'logloom_' || v_lane, '10 seconds', format('call logloom_private.work(%L)', v_lane)
    );
  end loop;
  for v_job_id in
    select c.jobid
    from cron.job c
    where c.username = current_user and c.jobname like 'logloom\_%'
      and starts_with(c.command, 'call logloom_private.')
      and not starts_with(c.command, 'call logloom_private.work(')
  loop
    perform cron.unschedule(v_job_id);
  end loop;
end;
$$;

-- This comes last: from here on PostgREST calls our check before each request, and the jobs run.
select logloom_private.adopt_pre_request();
select logloom_private.schedule_jobs();
