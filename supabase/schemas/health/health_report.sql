-- Returns the status, reason and state of the checks that are not healthy. Null if all are healthy.
create function logloom_private.unhealthy_checks(p_checks jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select jsonb_object_agg(
      c.key, jsonb_strip_nulls(jsonb_build_object(
        'status', c.value -> 'status', 'reason', c.value -> 'reason', 'state', c.value -> 'state'
      ))
    )
    from jsonb_each(p_checks) c
    where c.value ->> 'status' <> 'healthy'
  );
end;
$$;

-- Returns the worst status of all checks. Each job counts as one check.
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

-- Returns all health checks with their status. The overall status is the worst status of a check.
-- Also returns the answer of each endpoint of the function health: available (200 or 503), status,
-- checks. The endpoint ready shows queue, writer, and each other check that is not healthy, but
-- never log streams and collectors. Stable, so that all checks see one snapshot. Nothing in it is
-- newer than v_now.
create function logloom_private.read_health()
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role cannot read the queue or the jobs
declare
  v_queue constant logloom_private.queue_state := logloom_private.queue_state();
  v_now constant timestamptz := clock_timestamp();
  v_is_restored constant boolean := logloom_private.is_restored();
  v_is_copied constant boolean := logloom_private.is_copied();
  v_checks constant jsonb := jsonb_build_object(
    'database', logloom_private.database_health(),
    'queue', logloom_private.queue_health(v_queue, v_now),
    'writer', logloom_private.writer_health(v_now),
    'partitions', logloom_private.partition_health(v_now),
    'alerts', logloom_private.alert_health(
      v_now, logloom_private.watermark(v_queue.oldest_received_at)
    ) || jsonb_build_object(
      -- They stay in plain text while the function logloom-notify has no key or was not called.
      'unsealed_secrets', (
        select count(*)
        from logloom_private.webhook_secrets w
        where starts_with(w.secret, 'whsec_') or starts_with(w.previous_secret, 'whsec_')
      ),
      'console_url', (select s.console_url from logloom_private.settings s)
    ),
    'sealing', logloom_private.sealing_health(v_now),
    'verification', logloom_private.verification_health(),
    'canary', logloom_private.canary_health(v_now),
    'streams', logloom_private.stream_health(v_now),
    'collectors', logloom_private.collector_health(v_now),
    'archive', logloom_private.archive_health(v_now),
    'storage', logloom_private.storage_health(),
    'pre_request', logloom_private.pre_request_health(),
    'project', logloom_private.project_health(v_now),
    'installation', logloom_private.health_grade(
      case
        when v_is_restored then
          'Restored from a dump and not repaired: see Backup and restore in '
            || 'docs/guides/operations.md'
        when v_is_copied then
          'A copy of another project''s database, which neither sends nor archives: see A copy of '
            || 'the database in docs/guides/operations.md'
      end,
      null
    ) || jsonb_build_object(
      'state', case
        when v_is_restored then 'restored, not repaired'
        when v_is_copied then 'copied, not begun anew'
        else 'installed'
      end
    ),
    'jobs', logloom_private.job_health(v_now)
  );
  v_status constant text := logloom_private.worst_status(v_checks);
  -- The service stays ready while one tenant's log stream or a collector fails. Degraded storage
  -- does not matter until ingest is refused.
  v_ready constant text := logloom_private.worst_status(
    v_checks - '{streams,collectors}'::text[]
      - case v_checks #>> '{storage,status}' when 'degraded' then 'storage' else '' end
  );
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
          logloom_private.unhealthy_checks(v_checks - '{jobs,streams,collectors}'::text[]), '{}'
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
  perform logloom_private.note_project();
  return logloom_private.read_health();
end;
$$;

comment on function public.health_report() is
  'Returns the answer of the edge function health: status, timestamp, checks, endpoints. Each '
  'endpoint has its own answer: 200 if it is available, otherwise 503. The checks are database, '
  'queue (events, seconds), writer (milliseconds, seconds), partitions, alerts, sealing, '
  'verification, canary (milliseconds), streams and collectors. Also archive (bytes), storage '
  '(bytes), pre_request, project, installation and jobs. An unhealthy check has a reason. '
  'Thresholds: logloom_private.settings and logloom_private.jobs.';
