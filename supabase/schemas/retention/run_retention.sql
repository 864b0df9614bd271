-- True if the day's retention has not run yet, or must be tried again.
create function logloom_private.retention_is_due(p_today date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- After an error it is tried again an hour later.
  return not exists (
    select
    from logloom_private.retention_place p
    where p.today = p_today
      and (p.error is null or p.finished_at > now() - interval '1 hour')
      and p.finished_at is not null
  );
end;
$$;

-- Begins the day's retention if it is not running.
create function logloom_private.begin_retention(p_today date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select from logloom_private.retention_place p
    where p.today = p_today and p.finished_at is null
  ) then
    return;
  end if;
  insert into logloom_private.retention_place (today)
  values (p_today)
  on conflict (singleton) do update
  set today = excluded.today, spans_through = '', done_through = null, day = null,
    tenant_through = null, attempts = 0, error = null, finished_at = null, rules_through = '',
    rules_day = default;
  update logloom.retention_runs r
  set status = 'interrupted', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
end;
$$;

-- Ends the day's retention: stores p_error, or else marks its runs as done and deletes old runs.
create function logloom_private.end_retention(p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.retention_place p
  set finished_at = clock_timestamp(),
    failing_since = case when p_error is not null then coalesce(p.failing_since, now()) end
  where p.singleton;
  if p_error is not null then
    update logloom_private.jobs j
    set last_failed_at = clock_timestamp(), last_error = p_error, failures = j.failures + 1
    where j.name = 'run_retention';
    return;
  end if;
  update logloom.retention_runs r
  set status = 'done', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
  delete from logloom.retention_runs r
  using logloom_private.settings s
  where r.requested_at < now() - s.audit_lifetime and r.status not in ('queued', 'running');
end;
$$;

-- Goes on to the next day. p_error: why this day failed; null if it did not.
create function logloom_private.end_retention_day(p_day date, p_error text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Close the runs of a day that was dropped because storage is full.
  with done as (
    update logloom.retention_runs r
    set status = 'done', finished_at = clock_timestamp()
    where r.kind = 'storage' and r.status = 'running'
    returning r.*
  )
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    d.tenant_id, d.requested_by, 'logs.day_dropped', p_day::text,
    jsonb_build_object('run_id', d.run_id, 'records', d.records)
  from done d;
  update logloom_private.retention_place p
  set done_through = case when s.limit_day is null then p_day else p.done_through end,
    day = null, tenant_through = null, attempts = 0, error = coalesce(p.error, p_error)
  from logloom_private.storage s
  where p.singleton;
  update logloom_private.storage s
  set limit_day = null, overtakes_archive = false
  where s.limit_day is not null;
end;
$$;

-- Deletes everything that tenants have of a day, for all tenants at once. If that fails, deletes
-- for each tenant alone, so one tenant does not block the others. Returns the first error, or null.
create function logloom_private.forget_expired(p_tenant_ids text[], p_day date, p_today date)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_forgotten record;
  v_error text;
begin
  begin
    v_forgotten := logloom_private.forget_tenants_day(p_tenant_ids, p_day);
    perform logloom_private.note_deletions(
      v_forgotten.tenant_ids, v_forgotten.records,
      (
        not logloom_private.partition_exists(p_day)
        and not logloom_private.day_is_kept(p_day, p_today)
      )::integer,
      p_today
    );
    return null;
  exception
    when lock_not_available or disk_full then
      raise;
    when others then
      v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if cardinality(p_tenant_ids) > 1 then
    v_error := null;
    for v_at in 1..cardinality(p_tenant_ids) loop
      v_error := coalesce(
        v_error, logloom_private.forget_expired(p_tenant_ids[v_at:v_at], p_day, p_today)
      );
    end loop;
  end if;
  return v_error;
end;
$$;

-- Returns how many tenants one transaction of retention checks for records to delete.
create function logloom_private.retention_step_tenants()
returns integer
language sql
immutable
return 2000;

create function logloom_private.delete_expired_of_day(p_place logloom_private.retention_place)
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_tenants text[];
  v_first record;
  v_through text := p_place.tenant_through;
  v_error text;
begin
  select s.* into v_settings from logloom_private.settings s;
  if exists (select from logloom.plans p where p.archive_days > 0) then
    -- No record may arrive between the check that all is archived and the deletion.
    perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  end if;
  v_tenants := logloom_private.expired_tenants(
    p_place.day, p_place.today, p_place.tenant_through, logloom_private.retention_step_tenants()
  );
  if v_tenants = '{}' then
    perform logloom_private.end_retention_day(p_place.day, null);
    return interval '0';
  end if;
  perform logloom_private.note_stream_gaps(p_place.day, p_place.today, v_tenants);
  -- Takes as many tenants as fit in one step, at least one.
  select
    array_agg(d.tenant_id order by d.tenant_id) filter (
      where d.records_through <= v_settings.deletion_step_records
    ) as tenant_ids,
    (array_agg(d.tenant_id order by d.tenant_id))[1] as tenant_id
  into v_first
  from (
    select e.tenant_id, sum(e.records) over (order by e.tenant_id) as records_through
    from logloom_private.expired_days(v_tenants, p_place.day, v_settings.deletion_step_records) e
  ) d;
  if v_first.tenant_id is null then
    perform logloom_private.leave_days(v_tenants, array[p_place.day]);
    v_through := v_tenants[cardinality(v_tenants)];
  elsif v_first.tenant_ids is not null then
    v_error := logloom_private.forget_expired(v_first.tenant_ids, p_place.day, p_place.today);
    if v_error is not null then
      -- The next retention tries it again.
      v_through := v_first.tenant_ids[cardinality(v_first.tenant_ids)];
    end if;
  else
    begin
      perform logloom_private.delete_expired(v_first.tenant_id, p_place.day, p_place.today);
    exception
      when lock_not_available or disk_full then
        raise;
      when others then
        v_error := format('%s: %s', sqlstate, sqlerrm);
        v_through := v_first.tenant_id;
    end;
  end if;
  update logloom_private.retention_place p
  set tenant_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
  return case when v_first.tenant_id is null then interval '0' else v_settings.deletion_pause end;
end;
$$;

-- Runs a step of the job run_retention, once a day. A step splits a block, deletes records by
-- retention rules, drops a day that no tenant keeps, or deletes expired records of a day. A day to
-- drop because storage is full comes first.
create function logloom_private.retention_step()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_place logloom_private.retention_place;
  v_limit_day date;
  -- Attempts to drop a day, one second apart. If all attempts fail, the next retention tries again.
  v_attempts constant integer := 30;
  v_day date;
  v_outcome text;
  v_error text;
begin
  -- Only one job deletes at a time, including erasures.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  select p.* into v_place from logloom_private.retention_place p;
  select s.limit_day into v_limit_day from logloom_private.storage s;
  if v_limit_day is not null then
    -- retention_place may be from a day long ago.
    v_place.today := logloom_private.utc_day(now());
  elsif v_place.today is null or v_place.finished_at is not null then
    if not logloom_private.retention_is_due(logloom_private.utc_day(now())) then
      return null;
    end if;
    perform logloom_private.begin_retention(logloom_private.utc_day(now()));
    return interval '0';
  end if;
  if v_place.day is not null then
    return logloom_private.delete_expired_of_day(v_place);
  elsif v_limit_day is null and v_place.spans_through is not null then
    perform logloom_private.split_long_block(v_place);
    return interval '0';
  elsif v_limit_day is null and v_place.rules_through is not null then
    return logloom_private.delete_by_rules(v_place);
  end if;
  v_day := coalesce(
    v_limit_day,
    logloom_private.next_stored_day(v_place.done_through, v_place.today)
  );
  if v_day is null then
    perform logloom_private.end_retention(v_place.error);
    return null;
  end if;

  begin
    v_outcome := logloom_private.drop_expired_day(v_day, v_place.today);
  exception
    when lock_not_available or disk_full then
      raise;
    when others then
      v_outcome := 'failed';
      v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if v_outcome in ('kept', 'dropped') then
    -- Every tenant id comes after the empty text.
    update logloom_private.retention_place set day = v_day, tenant_through = '' where singleton;
  elsif v_outcome <> 'busy' then
    perform logloom_private.end_retention_day(v_day, v_error);
  elsif v_place.attempts + 1 < v_attempts then
    update logloom_private.retention_place p set attempts = p.attempts + 1 where p.singleton;
    return interval '1 second';
  else
    perform logloom_private.end_retention_day(
      v_day, format('The partition of %s could not be dropped: readers use it', v_day)
    );
  end if;
  return interval '0';
end;
$$;
