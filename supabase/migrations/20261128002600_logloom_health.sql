-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- health/health_report.sql
-- Of the checks that are not healthy, status and reason. Null where all are.
create function logloom_private.unhealthy_checks(p_checks jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(
      c.key, jsonb_build_object('status', c.value -> 'status', 'reason', c.value -> 'reason')
    )
    from jsonb_each(p_checks) c
    where c.value ->> 'status' <> 'healthy'
  );
end;
$$;

-- The worst grade of checks, and of the jobs among them.
create function logloom_private.worst_status(p_checks jsonb)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_grades constant text[] := array(
    select c.value ->> 'status'
    from jsonb_each((p_checks - 'jobs') || (p_checks -> 'jobs')) c
  );
begin
  return case
    when 'unhealthy' = any (v_grades) then 'unhealthy'
    when 'degraded' = any (v_grades) then 'degraded'
    else 'healthy'
  end;
end;
$$;

-- The checks of health with their grades, and what each endpoint of the function health shows of
-- them: available (200, otherwise 503), status, checks. The whole is as well as the worst of its
-- checks. ready shows, beside queue and writer, each check that is not healthy, and why, but for
-- the log streams.
create function logloom_private.read_health()
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role reads neither queue nor heartbeats
declare
  v_queue constant logloom_private.queue_state := logloom_private.queue_state();
  -- After the queue was read, so that no age is negative.
  v_now constant timestamptz := clock_timestamp();
  v_is_restored constant boolean := logloom_private.is_restored();
  v_checks constant jsonb := jsonb_build_object(
    'queue', logloom_private.queue_health(v_queue, v_now),
    'writer', logloom_private.writer_health(v_now),
    'partitions', logloom_private.partition_health(),
    'alerts', logloom_private.alert_health(
      v_now, logloom_private.watermark(v_queue.oldest_received_at)
    ) || jsonb_build_object('unsealed_secrets', logloom_private.unsealed_secret_count()),
    'sealing', logloom_private.sealing_health(v_now),
    'verification', logloom_private.verification_health(),
    'canary', logloom_private.canary_health(),
    'streams', logloom_private.stream_health(v_now),
    'archive', logloom_private.archive_health(v_now),
    'pre_request', logloom_private.pre_request_health(),
    'installation', logloom_private.health_grade(
      case when v_is_restored then
        'Restored from a dump and not repaired: see Backup and restore in docs/guides/operations.md'
      end,
      null
    ) || jsonb_build_object(
      'state', case when v_is_restored then 'restored, not repaired' else 'installed' end
    ),
    'jobs', logloom_private.job_health(v_now)
  );
  v_status constant text := logloom_private.worst_status(v_checks);
  -- Receivers are the tenants'; for those of one the service is no less ready for others.
  v_ready constant text := logloom_private.worst_status(v_checks - 'streams');
begin
  return jsonb_build_object(
    'status', v_status,
    'timestamp', v_now,
    'checks', v_checks,
    'endpoints', (
      select jsonb_object_agg(
        c.name,
        jsonb_build_object(
          'available', true,
          'status', v_checks -> c.name -> 'status',
          'checks', jsonb_build_object(c.name, (v_checks -> c.name) - 'status')
        )
      )
      from unnest(array['queue', 'writer', 'partitions']) c (name)
    ) || jsonb_build_object(
      'ready', jsonb_build_object(
        'available', v_ready = 'healthy',
        'status', v_ready,
        'checks', coalesce(
          logloom_private.unhealthy_checks(v_checks - '{jobs,streams}'::text[]), '{}'
        )
          || jsonb_strip_nulls(jsonb_build_object(
            'jobs', logloom_private.unhealthy_checks(v_checks -> 'jobs'),
            'queue', jsonb_build_object(
              'depth', v_checks -> 'queue' -> 'depth', 'reason', v_checks -> 'queue' -> 'reason'
            ),
            'writer', jsonb_build_object(
              'status', v_checks -> 'writer' -> 'status',
              'reason', v_checks -> 'writer' -> 'reason'
            )
          ))
      ),
      'detailed', jsonb_build_object(
        'available', v_status <> 'unhealthy', 'status', v_status, 'checks', v_checks
      )
    )
  );
end;
$$;

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
  'writer (milliseconds, seconds), partitions, alerts, streams, pre_request and jobs, each with '
  'the reason where it is not healthy, and what each endpoint shows of it (available: 200, '
  'otherwise 503). '
  'Thresholds: logloom_private.settings and job_limits.';

-- health/job_health.sql
-- Since when jobs can have run: before, nothing did.
create function logloom_private.up_since()
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return pg_postmaster_start_time();
end;
$$;

-- Each scheduled job: degraded when it is silent beyond its limit, when its last success is dated
-- ahead, both unless the server has just started, or when it failed too often in a row; retention
-- also when no day of it ended well for so long. error_code: SQLSTATE of the last failure.
create function logloom_private.job_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(
      l.job,
      logloom_private.health_grade(
        null,
        concat_ws(
          '; ',
          case when g.silence > l.silence
            -- One that is due runs at least once an hour.
            and p_now - logloom_private.up_since()
              not between interval '0' and least(l.silence, interval '2 hours')
          then
            logloom_private.silence_reason('No run of the job', g.silence, l.silence)
          end,
          case when h.failures >= l.failures then
            format('%s runs failed in a row', h.failures)
          end,
          case when l.job = 'run_retention' and p_now - r.failing_since > l.silence then
            logloom_private.silence_reason(
              'No day''s retention', p_now - r.failing_since, l.silence
            )
          end
        )
      ) || jsonb_build_object(
        'last_success', h.last_succeeded_at,
        'last_failure', h.last_failed_at,
        'failures', coalesce(h.failures, 0),
        -- Never the message: it may have a tenant's words, and health is open to all.
        'error_code', case when h.failures > 0 then
          substring(h.last_error from '^[0-9A-Z]{5}')
        end
      )
    )
    from logloom_private.job_limits l
    left join logloom_private.job_heartbeats h on h.job = l.job
    left join logloom_private.retention_place r on r.singleton
    cross join logloom_private.silence_since(
      coalesce(h.last_succeeded_at, l.watched_since), p_now
    ) g (silence)
  );
end;
$$;

-- health/partition_health.sql
-- The check of the partitions: those of today and tomorrow are there.
create function logloom_private.partition_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_today constant date := logloom_private.utc_day(now());
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

-- health/queue_health.sql
-- The check of the queue.
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

-- health/writer_health.sql
-- The check of the writer: how long it is silent. A writer that never ran is silent since for ever;
-- what ingest ran in its stead counts as well.
create function logloom_private.writer_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_run logloom_private.job_heartbeats;
  v_silence interval;
  v_limit interval;
  v_reason text;
begin
  select h.* into v_run
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer')
  order by h.last_succeeded_at <= p_now desc nulls last, h.last_succeeded_at desc
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

select logloom_private.finish_migration();
