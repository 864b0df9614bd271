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
