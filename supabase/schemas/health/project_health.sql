-- Returns the check of the project: degraded while pg_cron starts no jobs. It also shows the
-- following, which do not change the status: whether pg_cron logs each run, how many of our runs
-- there are a day (extrapolated from the last hour), and how many connections are free for roles
-- without superuser.
create function logloom_private.project_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- current_setting fails for a role that may not read pg_cron's settings.
  v_settings constant jsonb := (
    select coalesce(jsonb_object_agg(replace(s.name, 'cron.', ''), s.setting), '{}')
    from pg_settings s
    where s.name in ('cron.launch_active_jobs', 'cron.log_run', 'cron.log_statement')
  );
begin
  return logloom_private.health_grade(
    null,
    case when v_settings ->> 'launch_active_jobs' = 'off' then
      'cron.launch_active_jobs is off: pg_cron starts no job'
    end
  ) || v_settings || jsonb_build_object(
    'runs_a_day', (
      select round(
        86400 * (count(*) - count(distinct d.jobid))
          / nullif(extract(epoch from max(d.start_time) - min(d.start_time)), 0)
      )
      from (
        -- Reads by the primary key, because the project may have many runs of its own.
        select d.* from cron.job_run_details d order by d.runid desc limit 2000
      ) d
      where d.start_time > p_now - interval '1 hour' and strpos(d.command, 'logloom_private.') > 0
    ),
    'free_connections', current_setting('max_connections')::integer
      - current_setting('superuser_reserved_connections')::integer
      - coalesce(current_setting('reserved_connections', true)::integer, 0)
      - (select sum(d.numbackends) from pg_stat_database d)
  );
end;
$$;
