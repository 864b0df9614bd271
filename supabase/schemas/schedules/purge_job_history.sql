-- Deletes pg_cron's history of our jobs. A job that runs every second adds 86,400 rows a day.
create function logloom_private.purge_job_history()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from cron.job_run_details d
  where d.runid = any(array(
    select o.runid
    from cron.job_run_details o
    where strpos(o.command, 'logloom_private.') > 0
      -- An interrupted run has no end time. A run that was about to start when the server crashed
      -- has no start time, either: it counts as old as the next run that has a start time.
      and coalesce(
        o.end_time,
        o.start_time,
        (
          select n.start_time
          from cron.job_run_details n
          where n.runid > o.runid and n.start_time is not null
          order by n.runid
          limit 1
        )
      ) < now() - case o.status
        when 'succeeded' then interval '1 hour'
        else interval '7 days'
      end
    limit v_settings.deletion_step_records
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.deletion_step_records then v_settings.deletion_pause end;
end;
$$;
