-- Leaves the heartbeat of a scheduled job. p_error null says that the run succeeded, unless a step
-- of it has left an error.
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
  v_has_failed constant boolean := p_error is not null or exists (
    select
    from logloom_private.job_heartbeats h
    where h.job = p_job and h.last_failed_at between p_started_at and v_now
  );
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
    last_succeeded_at = case
      when v_has_failed then h.last_succeeded_at else v_now
    end,
    last_duration_ms = excluded.last_duration_ms,
    last_failed_at = coalesce(excluded.last_failed_at, h.last_failed_at),
    last_error = coalesce(excluded.last_error, h.last_error),
    failures = case
      when p_error is not null then h.failures + 1 when v_has_failed then h.failures else 0
    end;
end;
$$;
