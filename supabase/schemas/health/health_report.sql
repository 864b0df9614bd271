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

-- The report with what each endpoint of the function health shows of it: available (200, otherwise
-- 503), status, checks. ready shows, beside queue and writer, each check that is not healthy, and
-- why.
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

-- The checks of health with their grades, and what each endpoint shows of them. The whole is as
-- well as the worst of its checks.
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
    ),
    'sealing', logloom_private.sealing_health(v_now),
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
  v_grades constant text[] := array(
    select c.value ->> 'status'
    from jsonb_each((v_checks - 'jobs') || (v_checks -> 'jobs')) c
  );
begin
  return logloom_private.with_health_endpoints(jsonb_build_object(
    'status', case
      when 'unhealthy' = any(v_grades) then 'unhealthy'
      when 'degraded' = any(v_grades) then 'degraded'
      else 'healthy'
    end,
    'timestamp', v_now,
    'checks', v_checks
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
