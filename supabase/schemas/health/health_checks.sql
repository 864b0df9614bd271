create function logloom_private.queue_health(
  p_queue logloom_private.queue_state,
  p_now timestamptz
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_age constant interval := p_now - p_queue.oldest_received_at;
  v_limit constant interval := case
    when v_age > v_settings.queue_unhealthy_age then v_settings.queue_unhealthy_age
    else v_settings.queue_degraded_age
  end;
  v_age_reason constant text := case when v_age > v_limit then format(
    'The oldest queued event is %s s old (limit %s s)', round(extract(epoch from v_age)),
    round(extract(epoch from v_limit), 3)::double precision
  ) end;
begin
  return logloom_private.health_grade(
    case when v_age > v_settings.queue_unhealthy_age then v_age_reason end,
    concat_ws(
      '; ',
      case when v_age <= v_settings.queue_unhealthy_age then v_age_reason end,
      case when p_queue.depth > v_settings.queue_degraded_events then format(
        '%s events are queued (limit %s)', p_queue.depth, v_settings.queue_degraded_events
      ) end
    )
  ) || jsonb_build_object(
    'depth', p_queue.depth,
    'oldest_item_age_seconds', coalesce(round(extract(epoch from v_age), 3), 0),
    'dead_letters', (select count(*) from logloom_private.dead_letters)
  );
end;
$$;

-- Returns the check of the writer: how long ago it last ran. Runs that ingest started also count.
-- If the writer never ran, the time is infinite.
create function logloom_private.writer_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_run logloom_private.jobs;
  v_silence interval;
  v_limit interval;
  v_reason text;
begin
  select j.* into v_run
  from logloom_private.jobs j
  where j.name in ('write_logs', 'run_writer')
  order by logloom_private.silence_since(j.last_succeeded_at, p_now), j.last_succeeded_at desc
    nulls last
  limit 1;
  v_silence := logloom_private.silence_since(v_run.last_succeeded_at, p_now);
  v_limit := case
    when v_silence >= v_settings.writer_unhealthy_silence then v_settings.writer_unhealthy_silence
    else v_settings.writer_degraded_silence
  end;
  if v_silence >= v_limit then
    v_reason := logloom_private.silence_reason('No run of the writer', v_silence, v_limit);
  end if;
  return logloom_private.health_grade(
    case when v_silence >= v_settings.writer_unhealthy_silence then v_reason end,
    case when v_silence < v_settings.writer_unhealthy_silence then v_reason end
  ) || jsonb_build_object(
    'last_run', v_run.last_succeeded_at,
    'last_duration_ms', round(v_run.last_duration_ms::numeric, 3),
    'seconds_since_run', case
      when isfinite(v_silence) then round(extract(epoch from v_silence), 3)
    end
  );
end;
$$;

-- Returns the check of the partitions: today's and tomorrow's must exist.
create function logloom_private.partition_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := logloom_private.utc_day(p_now);
  v_current_exists constant boolean := logloom_private.partition_exists(v_today);
  v_next_exists constant boolean := logloom_private.partition_exists(v_today + 1);
begin
  return logloom_private.health_grade(
    case when not v_current_exists then 'The partition of today is missing' end,
    case when not v_next_exists then 'The partition of tomorrow is missing' end
  ) || jsonb_build_object(
    'current_partition', logloom_private.partition_name(v_today),
    'current_exists', v_current_exists,
    'next_partition', logloom_private.partition_name(v_today + 1),
    'next_exists', v_next_exists
  );
end;
$$;

-- Returns the check of the database: whether it accepts writes. The disk counts as full while a job
-- fails because of it. Paused jobs are left out: they do not notice that there is space again.
create function logloom_private.database_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state constant text := case
    when logloom_private.is_read_only() then 'read_only'
    when exists (
      select from logloom_private.jobs j
      where j.failures > 0 and j.last_error like '53100:%' and not j.is_paused
    ) then 'full'
    else 'writable'
  end;
  v_mend constant text := 'see A read-only or full database in docs/guides/operations.md';
begin
  return logloom_private.health_grade(
    case v_state
      when 'read_only' then
        'The database is read-only: ingest refuses events and jobs pause until it accepts writes: '
          || v_mend
      when 'full' then 'The disk of the database is full: ' || v_mend
    end,
    null
  ) || jsonb_build_object('state', v_state);
end;
$$;

-- Returns the check of the project: degraded while pg_cron starts no jobs. Also shows whether
-- pg_cron logs each run, how many runs a day Logloom has (from the last hour), and the free
-- connections. These do not change the status.
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

-- Returns since when jobs can run: the start of the server.
create function logloom_private.up_since()
returns timestamptz
language sql
stable
return pg_postmaster_start_time();

-- Returns the check of each scheduled job. A job is degraded in these cases:
-- - Its last success is older than its limit or in the future, unless the server has just started.
-- - It failed too often in a row.
-- - For more than 26 hours, each day's retention ended with an error.
-- error_code: SQLSTATE of the last failure.
create function logloom_private.job_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(
      j.name,
      logloom_private.health_grade(
        null,
        concat_ws(
          '; ',
          case
            when g.silence > j.silence
              and p_now - logloom_private.up_since() not between interval '0' and j.silence
            then logloom_private.silence_reason(
              case when j.is_paused then 'No run of the paused job' else 'No run of the job' end,
              g.silence, j.silence
            )
          end,
          case when j.failures > j.failures_allowed then
            format('%s runs failed in a row', j.failures)
          end,
          case when j.name = 'run_retention' and p_now - r.failing_since > interval '26 hours' then
            logloom_private.silence_reason(
              'No retention', p_now - r.failing_since, interval '26 hours'
            )
          end
        )
      ) || jsonb_build_object(
        'last_success', j.last_succeeded_at,
        'last_failure', j.last_failed_at,
        'failures', j.failures,
        -- Never shows the message: it may contain a tenant's data, and health is public.
        'error_code', case when j.failures > 0 then
          substring(j.last_error from '^[0-9A-Z]{5}')
        end
      )
    )
    from logloom_private.jobs j
    left join logloom_private.retention_place r on r.singleton
    cross join logloom_private.silence_since(
      coalesce(j.last_succeeded_at, j.made_at), p_now
    ) g (silence)
    where j.lane <> 'ingest'
  );
end;
$$;
