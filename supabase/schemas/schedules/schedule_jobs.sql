-- Makes the jobs of pg_cron, or brings those that are there to what they are here.
create function logloom_private.schedule_jobs()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job record;
begin
  for v_job in
    select
      'logloom_' || j.name as name,
      j.schedule,
      coalesce(
        j.command,
        format('call logloom_private.run_job(%L, %L)', j.name, 'logloom_private.' || j.name || '()')
      ) as command
    from (
      values
        ('write_logs', '1 second', 'call logloom_private.write_logs()'),
        ('compact_log_counts', '20 seconds', null),
        ('maintain_partitions', '7 * * * *', null),
        ('purge_job_history', '*/10 * * * *', null),
        -- Once a day: it goes on every minute until the day's work is done, then returns at once.
        ('run_retention', '* * * * *', 'call logloom_private.run_retention()'),
        (
          'run_deletions', '* * * * *',
          'call logloom_private.run_job(''run_deletions'', ''logloom_private.run_deletion_step()'')'
        ),
        (
          'seal_logs', '* * * * *',
          'call logloom_private.run_job(''seal_logs'', ''logloom_private.seal_step()'')'
        ),
        (
          'archive_logs', '5 seconds',
          'call logloom_private.run_job(''archive_logs'', ''logloom_private.archive_step()'')'
        ),
        (
          'verify_logs', '* * * * *',
          'call logloom_private.run_job(''verify_logs'', ''logloom_private.verify_step()'')'
        ),
        ('run_canary', '* * * * *', 'call logloom_private.run_canary()'),
        ('purge_old_rows', '13 * * * *', null),
        -- More often than once a minute: a round begins when the watermark has passed a minute.
        ('evaluate_alerts', '3 seconds', 'call logloom_private.evaluate_alerts()'),
        ('send_notifications', '2 seconds', null),
        ('send_log_streams', '2 seconds', null)
    ) j (name, schedule, command)
  loop
    -- pg_cron takes a second job of a name for a change of the first one.
    if exists (
      select
      from cron.job c
      where c.jobname = v_job.name
        and (c.username = current_user and strpos(c.command, 'logloom_private.') > 0) is not true
    ) then
      raise exception using
        errcode = 'duplicate_object',
        message = format('pg_cron has a job %s that is not Logloom''s', quote_ident(v_job.name)),
        hint = 'Schedule it under another name and remove this one, then try again.';
    end if;
    perform cron.schedule(v_job.name, v_job.schedule, v_job.command);
  end loop;
end;
$$;
