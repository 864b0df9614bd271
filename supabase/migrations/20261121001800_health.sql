-- Health: what is queued, when the writer last ran, whether the partitions are there.

create function private.health_word(p_unhealthy boolean, p_degraded boolean)
returns text
language plpgsql
immutable
security invoker
set search_path = ''
as $$
begin
  return case when p_unhealthy then 'unhealthy' when p_degraded then 'degraded' else 'healthy' end;
end;
$$;

create function private.health_report()
returns jsonb
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because service_role reads neither queue nor heartbeats
declare
  v_settings private.settings;
  v_queue private.queue_state;
  v_writer private.job_heartbeats;
  v_now timestamptz;
  v_today constant date := private.utc_day(now());
  v_queue_age interval;
  v_silence interval;
  v_current_exists constant boolean := private.partition_exists(v_today);
  v_next_exists constant boolean := private.partition_exists(v_today + 1);
  v_dead_letters bigint;
  v_queue_status text;
  v_writer_status text;
  v_partitions_status text;
  v_alerts jsonb;
begin
  select s.* into v_settings from private.settings s;
  v_queue := private.queue_state();
  select count(*) into v_dead_letters from private.dead_letters;
  select h.* into v_writer from private.job_heartbeats h where h.job = 'write_logs';
  -- After what it is compared with was read, so that no age is negative.
  v_now := clock_timestamp();
  v_queue_age := v_now - v_queue.oldest_received_at;
  -- A writer that never ran counts as silent since for ever.
  v_silence := coalesce(v_now - v_writer.last_succeeded_at, 'infinity');

  v_queue_status := private.health_word(
    coalesce(v_queue_age > v_settings.queue_unhealthy_age, false),
    v_queue.depth > v_settings.queue_degraded_events
    or coalesce(v_queue_age > v_settings.queue_degraded_age, false)
  );
  v_writer_status := private.health_word(
    v_silence >= v_settings.writer_unhealthy_silence,
    v_silence >= v_settings.writer_degraded_silence
  );
  v_partitions_status := private.health_word(not v_current_exists, not v_next_exists);
  v_alerts := private.alert_health(v_now, private.watermark(v_queue.oldest_received_at));

  return jsonb_build_object(
    'status', private.health_word(
      'unhealthy' in (v_queue_status, v_writer_status, v_partitions_status),
      'degraded' in (
        v_queue_status, v_writer_status, v_partitions_status, v_alerts ->> 'status'
      )
    ),
    'timestamp', v_now,
    'checks', jsonb_build_object(
      'queue', jsonb_build_object(
        'status', v_queue_status,
        'depth', v_queue.depth,
        'oldest_item_age_seconds', coalesce(round(extract(epoch from v_queue_age), 3), 0),
        'dead_letters', v_dead_letters
      ),
      'writer', jsonb_build_object(
        'status', v_writer_status,
        'last_run', v_writer.last_succeeded_at,
        'last_duration_ms', round(v_writer.last_duration_ms::numeric, 3),
        'seconds_since_run', case
          when isfinite(v_silence) then round(extract(epoch from v_silence), 3)
        end
      ),
      'partitions', jsonb_build_object(
        'status', v_partitions_status,
        'current_partition', private.partition_name(v_today),
        'current_exists', v_current_exists,
        'next_partition', private.partition_name(v_today + 1),
        'next_exists', v_next_exists
      ),
      'alerts', v_alerts,
      'jobs', coalesce(
        (
          select jsonb_object_agg(
            h.job,
            jsonb_build_object(
              'last_success', h.last_succeeded_at,
              'last_failure', h.last_failed_at
            )
          )
          from private.job_heartbeats h
        ),
        '{}'
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
set search_path = ''
set statement_timeout = '1500ms'
as $$
begin
  return private.health_report();
end;
$$;

grant execute on function private.health_report(), public.health_report() to service_role;

comment on function private.health_word(boolean, boolean) is 'healthy, degraded or unhealthy.';
comment on function private.health_report() is 'The work of public.health_report().';
comment on function public.health_report() is
  'What the edge function health shows: status, timestamp and checks for queue (events, seconds), '
  'writer (milliseconds, seconds), partitions, alerts and jobs. Thresholds: private.settings.';
