-- Leaves the heartbeat of a scheduled job. p_error null says that the run succeeded.
create function logloom_private.record_job(
  p_job text,
  p_started_at timestamptz,
  p_error text default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  insert into logloom_private.job_heartbeats as h (
    job, last_started_at, last_succeeded_at, last_duration_ms, last_failed_at, last_error,
    failures
  )
  values (
    p_job,
    p_started_at,
    case when p_error is null then v_now end,
    extract(epoch from v_now - p_started_at) * 1000,
    case when p_error is not null then v_now end,
    p_error,
    (p_error is not null)::integer
  )
  on conflict (job) do update set
    last_started_at = excluded.last_started_at,
    last_succeeded_at = coalesce(excluded.last_succeeded_at, h.last_succeeded_at),
    last_duration_ms = excluded.last_duration_ms,
    last_failed_at = coalesce(excluded.last_failed_at, h.last_failed_at),
    last_error = coalesce(excluded.last_error, h.last_error),
    failures = case when p_error is null then 0 else h.failures + 1 end;
end;
$$;
