-- Records the result of a step of a job. The step succeeded if p_error is null and the step
-- recorded no error itself. If p_next_at is null, next_at does not change.
create function logloom_private.record_job(
  p_job text,
  p_started_at timestamptz,
  p_error text default null,
  p_next_at timestamptz default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now constant timestamptz := clock_timestamp();
begin
  update logloom_private.jobs j
  set
    last_started_at = p_started_at,
    last_duration_ms = extract(epoch from v_now - p_started_at) * 1000,
    next_at = coalesce(p_next_at, j.next_at),
    last_succeeded_at = case when o.is_well then v_now else j.last_succeeded_at end,
    failures = case when o.is_well then 0 else j.failures + (p_error is not null)::integer end,
    last_failed_at = case when p_error is null then j.last_failed_at else v_now end,
    last_error = coalesce(p_error, j.last_error)
  from (
    select p_error is null and (s.last_failed_at between p_started_at and v_now) is not true
      as is_well
    from logloom_private.jobs s
    where s.name = p_job
  ) o
  where j.name = p_job;
end;
$$;

-- Records an error that did not stop the step. The step then does not count as successful.
create function logloom_private.record_job_error(p_job text, p_sqlstate text, p_message text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.jobs j
  set last_failed_at = clock_timestamp(), last_error = format('%s: %s', p_sqlstate, p_message),
    failures = j.failures + 1
  where j.name = p_job;
end;
$$;
