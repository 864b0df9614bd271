-- What pg_cron runs: a job step by step, each committed, until nothing is left or its time is up.
-- Leaves its heartbeat, with the error where a step fails. A step is a function that finds by
-- itself where the last one ended, and returns how long to rest before the next one, null when
-- nothing is left. No set clause and not definer: such a procedure could not commit. Every name and
-- every type is qualified, since one of that name in pg_temp would come first.
create procedure logloom_private.run_job(p_job text, p_step regprocedure)
language plpgsql
as $$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz := logloom_private.job_deadline(v_started_at);
  v_rest pg_catalog.interval;
  v_answer pg_catalog.text;
  v_error pg_catalog.text;
begin
  loop
    -- Whoever waited for a lock sees what was done meanwhile: a project may have another level.
    commit;
    set transaction isolation level read committed;
    begin
      -- The project's may have days of 23 hours, and dates that are read as another zone's.
      perform
        pg_catalog.set_config('timezone', 'UTC', true),
        pg_catalog.set_config('datestyle', 'ISO', true);
      execute pg_catalog.format('select %s::pg_catalog.text', p_step) into v_answer;
      v_rest := case when v_answer <> '' then v_answer::pg_catalog.interval end;
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      v_rest := null;
    end;
    commit;
    exit when v_rest is null or pg_catalog.clock_timestamp() + v_rest > v_deadline;
    perform pg_catalog.pg_sleep(extract(epoch from v_rest));
  end loop;
  perform logloom_private.record_job(p_job, v_started_at, v_error);
  commit;
end;
$$;
