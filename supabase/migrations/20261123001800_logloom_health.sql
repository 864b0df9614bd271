-- Assembled from supabase/schemas by npm run migration: change it there.

-- health/health_report.sql

-- Health: what is queued, when the writer last ran, whether the partitions are there.

create function logloom_private.members_of(p_object jsonb, p_members text[])
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(m.key, m.value)
    from jsonb_each(p_object) m
    where m.key = any(p_members)
  );
end;
$$;

-- Of the checks that are not healthy, status and reason.
create function logloom_private.unhealthy_checks(p_checks jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    (
      select jsonb_object_agg(c.key, logloom_private.members_of(c.value, '{status,reason}'))
      from jsonb_each(p_checks) c
      where c.value ->> 'status' <> 'healthy'
    ),
    '{}'
  );
end;
$$;

create function logloom_private.age_reason(p_age interval, p_limit interval)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_age > p_limit then format(
    'The oldest queued event is %s s old (limit %s s)', round(extract(epoch from p_age)),
    round(extract(epoch from p_limit), 3)::double precision
  ) end;
end;
$$;

-- What each endpoint of the function health shows, so that it has no shape of its own.
-- The report with what each endpoint shows of it: available (200, otherwise 503), status, checks.
-- ready shows, beside queue and writer, each check that is not healthy, and why.
create function logloom_private.with_health_endpoints(p_report jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_checks constant jsonb := p_report -> 'checks';
begin
  return p_report || jsonb_build_object('endpoints',
    (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    )
    || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', p_report ->> 'status' = 'healthy',
        'status', p_report -> 'status',
        'checks', logloom_private.unhealthy_checks(v_checks - 'jobs')
          || jsonb_strip_nulls(jsonb_build_object(
            'jobs', nullif(logloom_private.unhealthy_checks(v_checks -> 'jobs'), '{}')
          ))
          || jsonb_build_object(
            'queue', logloom_private.members_of(v_checks -> 'queue', '{depth,reason}'),
            'writer', logloom_private.members_of(v_checks -> 'writer', '{status,reason}')
          )
      ),
      'detailed', jsonb_build_object(
        'available', p_report ->> 'status' <> 'unhealthy',
        'status', p_report -> 'status',
        'checks', v_checks
      )
    )
  );
end;
$$;

-- The checks of health with their grades, read from the tables behind them.
create function logloom_private.read_health()
returns jsonb
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role reads neither queue nor heartbeats
declare
  v_settings logloom_private.settings;
  v_queue logloom_private.queue_state;
  v_writer logloom_private.job_heartbeats;
  v_now timestamptz;
  v_today constant date := logloom_private.utc_day(now());
  v_queue_age interval;
  v_silence interval;
  v_current_exists constant boolean := logloom_private.partition_exists(v_today);
  v_next_exists constant boolean := logloom_private.partition_exists(v_today + 1);
  v_dead_letters bigint;
  v_queue_grade jsonb;
  v_writer_grade jsonb;
  v_partitions_grade jsonb;
  v_installation jsonb;
  v_alerts jsonb;
  v_jobs jsonb;
  v_sealing jsonb;
  v_pre_request constant jsonb := logloom_private.pre_request_health();
  v_is_restored constant boolean := logloom_private.is_restored();
begin
  select s.* into v_settings from logloom_private.settings s;
  v_queue := logloom_private.queue_state();
  select count(*) into v_dead_letters from logloom_private.dead_letters;
  -- What ingest ran in its stead counts as well.
  select h.* into v_writer
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer')
  order by h.last_succeeded_at <= clock_timestamp() desc nulls last, h.last_succeeded_at desc
  limit 1;
  -- After what it is compared with was read, so that no age is negative.
  v_now := clock_timestamp();
  v_queue_age := v_now - v_queue.oldest_received_at;
  -- A writer that never ran counts as silent since for ever.
  v_silence := logloom_private.silence_since(v_writer.last_succeeded_at, v_now);

  v_queue_grade := logloom_private.health_grade(
    logloom_private.age_reason(v_queue_age, v_settings.queue_unhealthy_age),
    nullif(
      concat_ws(
        '; ',
        case when v_queue_age <= v_settings.queue_unhealthy_age then
          logloom_private.age_reason(v_queue_age, v_settings.queue_degraded_age)
        end,
        case when v_queue.depth > v_settings.queue_degraded_events then format(
          '%s events are queued (limit %s)', v_queue.depth, v_settings.queue_degraded_events
        ) end
      ),
      ''
    )
  );
  v_writer_grade := logloom_private.health_grade(
    case when v_silence >= v_settings.writer_unhealthy_silence then
      logloom_private.silence_reason(
        'No run of the writer', v_silence, v_settings.writer_unhealthy_silence
      )
    end,
    case
      when v_silence >= v_settings.writer_degraded_silence
        and v_silence < v_settings.writer_unhealthy_silence
        then logloom_private.silence_reason(
          'No run of the writer', v_silence, v_settings.writer_degraded_silence
        )
    end
  );
  v_partitions_grade := logloom_private.health_grade(
    case when not v_current_exists then 'The partition of today is missing' end,
    case when not v_next_exists then 'The partition of tomorrow is missing' end
  );
  v_installation := logloom_private.health_grade(
    case when v_is_restored then
      'Restored from a dump and not repaired: see Backup and restore in docs/operations.md'
    end,
    null
  );
  v_alerts := logloom_private.alert_health(
    v_now, logloom_private.watermark(v_queue.oldest_received_at)
  );

  v_jobs := logloom_private.job_health(v_now);
  v_sealing := logloom_private.sealing_health(v_now);

  return logloom_private.with_health_endpoints(jsonb_build_object(
    'status', logloom_private.health_word(
      v_is_restored or 'unhealthy' in (
        v_queue_grade ->> 'status', v_writer_grade ->> 'status', v_partitions_grade ->> 'status'
      ),
      'degraded' in (
        v_queue_grade ->> 'status', v_writer_grade ->> 'status', v_partitions_grade ->> 'status',
        v_alerts ->> 'status', v_pre_request ->> 'status', v_sealing ->> 'status',
        case when exists (
          select from jsonb_each(v_jobs) j where j.value ->> 'status' = 'degraded'
        ) then 'degraded' end
      )
    ),
    'timestamp', v_now,
    'checks', jsonb_build_object(
      'queue', v_queue_grade || jsonb_build_object(
        'depth', v_queue.depth,
        'oldest_item_age_seconds', coalesce(round(extract(epoch from v_queue_age), 3), 0),
        'dead_letters', v_dead_letters
      ),
      'writer', v_writer_grade || jsonb_build_object(
        'last_run', v_writer.last_succeeded_at,
        'last_duration_ms', round(v_writer.last_duration_ms::numeric, 3),
        'seconds_since_run', case
          when isfinite(v_silence) then round(extract(epoch from v_silence), 3)
        end
      ),
      'partitions', v_partitions_grade || jsonb_build_object(
        'current_partition', logloom_private.partition_name(v_today),
        'current_exists', v_current_exists,
        'next_partition', logloom_private.partition_name(v_today + 1),
        'next_exists', v_next_exists
      ),
      'alerts', v_alerts,
      'sealing', v_sealing,
      'pre_request', v_pre_request,
      'installation', v_installation || jsonb_build_object(
        'state', case when v_is_restored then 'restored, not repaired' else 'installed' end
      ),
      'jobs', v_jobs
    )
  ));
end;
$$;

grant execute on function logloom_private.read_health() to service_role;

create function public.health_report()
returns jsonb
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '1500ms'
as $$
begin
  return logloom_private.read_health();
end;
$$;

comment on function public.health_report() is
  'What the edge function health shows: status, timestamp and checks for queue (events, seconds), '
  'writer (milliseconds, seconds), partitions, alerts, pre_request and jobs, each with the reason '
  'where it is not healthy, and what each endpoint shows of it (available: 200, otherwise 503). '
  'Thresholds: logloom_private.settings and job_limits.';

-- health/job_health.sql

-- Each scheduled job: degraded when it is silent beyond its limit, when its last success is dated
-- ahead, or when it failed too often in a row. error_code: SQLSTATE of the last failure.
create function logloom_private.job_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(
      g.job,
      logloom_private.health_grade(
        null,
        nullif(
          concat_ws(
            '; ',
            case when g.silence > g.bound then
              logloom_private.silence_reason('No run of the job', g.silence, g.bound)
            end,
            case when g.failing then format('%s runs failed in a row', g.failures) end
          ),
          ''
        )
      ) || jsonb_build_object(
        'last_success', g.last_succeeded_at,
        'last_failure', g.last_failed_at,
        'failures', g.failures,
        'error_code', g.error_code
      )
    )
    from (
      select
        l.job, h.last_succeeded_at, h.last_failed_at, coalesce(h.failures, 0) as failures,
        logloom_private.silence_since(
          coalesce(h.last_succeeded_at, l.watched_since), p_now
        ) as silence,
        l.silence as bound,
        coalesce(h.failures >= l.failures, false) as failing,
        -- Never the message: it may have a tenant's words, and health is open to all.
        case when h.failures > 0 then substring(h.last_error from '^[0-9A-Z]{5}') end as error_code
      from logloom_private.job_limits l
      left join logloom_private.job_heartbeats h on h.job = l.job
    ) g
  );
end;
$$;

select logloom_private.finish_migration();
