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
        concat_ws(
          '; ',
          case when g.silence > g.bound then
            logloom_private.silence_reason('No run of the job', g.silence, g.bound)
          end,
          case when g.failing then format('%s runs failed in a row', g.failures) end
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
