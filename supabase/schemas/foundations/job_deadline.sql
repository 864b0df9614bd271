-- After this time a job's run that began at p_started_at starts no further step.
create function logloom_private.job_deadline(p_started_at timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_budget interval := (select s.job_run_budget from logloom_private.settings s);
  v_statement_timeout constant interval := current_setting('statement_timeout')::interval;
begin
  -- A run of pg_cron is one statement, commits or not: at its timeout all of it is cancelled.
  if v_statement_timeout > interval '0' then
    v_budget := least(v_budget, v_statement_timeout / 2);
  end if;
  return p_started_at + v_budget;
end;
$$;
