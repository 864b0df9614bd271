-- Returns since when jobs can run: the start of the server.
create function logloom_private.up_since()
returns timestamptz
language sql
stable
return pg_postmaster_start_time();

-- Returns the check of each scheduled job. A job is degraded in these cases:
-- - Its last success is older than its limit or in the future, unless the server has just started.
-- - It failed too often in a row.
-- - The job is retention, and every day's retention has failed for more than 26 hours.
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
