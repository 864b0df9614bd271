-- Runs one step of a job and commits it. Writes the job's row only if its state changes or
-- p_noted_every has passed, so that an idle service writes little. p_next_at: when the job is due
-- again; null: read it from the job's row. p_rest: what the step returned. A procedure with a set
-- clause or with security definer cannot commit. Without a set clause the caller's pg_temp is
-- searched first. So the procedures of this file qualify every name and type.
create procedure logloom_private.run_step(
  p_job logloom_private.jobs,
  p_noted_every pg_catalog.interval,
  inout p_next_at pg_catalog.timestamptz default null,
  inout p_rest pg_catalog.interval default null
)
language plpgsql
as $$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_answer pg_catalog.text;
  v_error pg_catalog.text;
begin
  perform
    -- The project may have another time zone or date style.
    pg_catalog.set_config('timezone', 'UTC', true),
    pg_catalog.set_config('datestyle', 'ISO', true),
    -- A step that waits for a lock blocks its lane. After this time it fails and is tried again.
    pg_catalog.set_config(
      'lock_timeout', case p_job.lane when 'tend' then '5s' else '2s' end, true
    );
  begin
    execute pg_catalog.format('select logloom_private.%I()::pg_catalog.text', p_job.step)
    into v_answer;
    p_rest := case when v_answer <> '' then v_answer::pg_catalog.interval end;
  exception when query_canceled or others then
    v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    p_rest := null;
  end;
  p_next_at := case
    -- On a full disk, each attempt uses some of the little space that is left.
    when v_error like '53100:%' then pg_catalog.clock_timestamp() + '10 seconds'
    when v_error is not null then pg_catalog.clock_timestamp() + greatest(
      '1 second'::pg_catalog.interval, least(p_job.every, '1 minute'::pg_catalog.interval)
    )
    when p_rest is not null then pg_catalog.clock_timestamp() + p_rest
    else v_started_at + p_job.every
  end;
  if v_error is not null or p_job.failures > 0
    or (v_started_at - p_job.last_succeeded_at between -p_noted_every and p_noted_every) is not true
  then
    begin
      perform logloom_private.record_job(p_job.name, v_started_at, v_error, p_next_at);
      p_next_at := null;
    exception when lock_not_available or disk_full then
      -- The next step writes the row.
      null;
    end;
  end if;
  commit;
end;
$$;

-- Returns how long a run of pg_cron may take. A run is one statement, so statement_timeout would
-- cancel the whole run.
create function logloom_private.run_time()
returns interval
language sql
stable
return least(
  interval '1 minute',
  nullif(current_setting('statement_timeout')::interval, interval '0') / 2
);

-- pg_cron calls this procedure, once for each lane. Runs the steps of the lane's jobs, the longest
-- overdue first, for run_time() or until a migration is applied. A second call for the same lane
-- returns at once.
create procedure logloom_private.work(p_lane pg_catalog.text)
language plpgsql
as $$
declare
  v_deadline constant pg_catalog.timestamptz :=
    pg_catalog.clock_timestamp() + logloom_private.run_time();
  -- Sleeps are short: a sleep holds a snapshot and delays a job that an operator resumes.
  v_sleep_max constant pg_catalog.interval := case p_lane when 'write' then '250 ms' else '1 s' end;
  v_migrated_at constant pg_catalog.timestamptz :=
    (select i.migrated_at from logloom_private.installation i);
  -- When each job is due, by name. It overrides next_at in the table.
  v_next pg_catalog.jsonb := '{}';
  v_due pg_catalog.record;
  v_next_at pg_catalog.timestamptz;
  v_rest pg_catalog.interval;
begin
  if logloom_private.is_read_only() then
    -- No step can write now. The next call checks again, in a new session.
    perform pg_catalog.pg_sleep(extract(epoch from least(logloom_private.run_time(), '10 s')));
    return;
  elsif not pg_catalog.pg_try_advisory_lock(
    logloom_private.lock_key('lane'), pg_catalog.hashtext(p_lane)
  ) then
    return;
  end if;
  loop
    -- A step that waited for a lock must see what was committed meanwhile. The project may have
    -- another default isolation level.
    commit;
    set transaction isolation level read committed;
    exit when pg_catalog.clock_timestamp() > v_deadline
      or v_migrated_at is distinct from (
        select i.migrated_at from logloom_private.installation i
      );
    select
      j,
      -- A next_at further away than the longest wait means that the clock was set back. Then the
      -- job is due now.
      case when r.rest <= j.every + '1 minute'::pg_catalog.interval then r.rest else '-1 day' end
        as rest
    into v_due
    from logloom_private.jobs j
    cross join lateral (
      select coalesce((v_next ->> j.name)::pg_catalog.timestamptz, j.next_at)
        - pg_catalog.clock_timestamp() as rest
    ) r
    where j.lane = p_lane and not j.is_paused
    order by rest
    limit 1;
    v_rest := least(v_due.rest, v_sleep_max);
    if v_rest > '0' then
      perform pg_catalog.pg_sleep(extract(epoch from v_rest));
    else
      -- Health compares last_succeeded_at with silence, so it is written far more often.
      call logloom_private.run_step(
        v_due.j, least((v_due.j).silence / 12, '30 s'), v_next_at, v_rest
      );
      v_next := v_next || pg_catalog.jsonb_build_object((v_due.j).name, v_next_at);
    end if;
  end loop;
  perform pg_catalog.pg_advisory_unlock(
    logloom_private.lock_key('lane'), pg_catalog.hashtext(p_lane)
  );
end;
$$;

-- For operators and tests: runs a job now, even a paused one, until nothing is left to do.
create procedure logloom_private.run_job(p_name pg_catalog.text)
language plpgsql
as $$
declare
  v_deadline constant pg_catalog.timestamptz :=
    pg_catalog.clock_timestamp() + logloom_private.run_time();
  v_job logloom_private.jobs;
  v_next_at pg_catalog.timestamptz;
  v_rest pg_catalog.interval;
begin
  loop
    commit;
    set transaction isolation level read committed;
    select j.* into v_job from logloom_private.jobs j where j.name = p_name;
    if not found then
      raise exception 'No row of logloom_private.jobs is named %', p_name;
    end if;
    call logloom_private.run_step(v_job, '0', v_next_at, v_rest);
    exit when v_rest is null or pg_catalog.clock_timestamp() + v_rest > v_deadline;
    perform pg_catalog.pg_sleep(extract(epoch from v_rest));
  end loop;
end;
$$;
