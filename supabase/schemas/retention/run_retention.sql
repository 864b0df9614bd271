create function logloom_private.retention_is_due(p_today date)
returns boolean
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  -- A day that ended with an error is tried again an hour later.
  return not exists (
    select
    from logloom_private.retention_place p
    where p.today = p_today
      and (p.error is null or p.finished_at > now() - interval '1 hour')
      and p.finished_at is not null
  );
end;
$$;

revoke all on function logloom_private.retention_is_due(date) from public;

comment on function logloom_private.retention_is_due(date) is
  'Whether the day''s retention has not ended yet, or failed an hour ago.';

create function logloom_private.begin_retention(p_today date)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
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
  set today = excluded.today, done_through = null, tenant_through = null, attempts = 0,
    error = null, finished_at = null;
  update logloom.retention_runs r
  set status = 'interrupted', finished_at = clock_timestamp()
  where r.kind = 'retention' and r.status = 'running';
end;
$$;

revoke all on function logloom_private.begin_retention(date) from public;

comment on function logloom_private.begin_retention(date) is
  'Begins the day''s retention, unless it is under way.';

create function logloom_private.end_retention(p_error text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update logloom_private.retention_place set finished_at = clock_timestamp() where singleton;
  if p_error is not null then
    perform logloom_private.record_job('run_retention', clock_timestamp(), p_error);
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

revoke all on function logloom_private.end_retention(text) from public;

comment on function logloom_private.end_retention(text) is
  'Ends the day''s retention: marks the runs under way as done and forgets old ones, or leaves '
  'the first error.';

create function logloom_private.end_retention_day(p_day date, p_error text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  update logloom_private.retention_place p
  set done_through = p_day, tenant_through = null, attempts = 0, error = coalesce(p.error, p_error)
  where p.singleton;
end;
$$;

revoke all on function logloom_private.end_retention_day(date, text) from public;

comment on function logloom_private.end_retention_day(date, text) is
  'Goes on to the next day. p_error: why this one could not be seen to; null where it was.';

create function logloom_private.delete_expired_of_day(
  p_day date,
  p_place logloom_private.retention_place
)
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_settings logloom_private.settings;
  v_tenants text[];
  v_tenant_id text;
  v_through text := p_place.tenant_through;
  v_deleted integer := 0;
  v_error text;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_tenants := logloom_private.day_tenants(p_day, v_through, v_settings.retention_step_tenants);
  if v_tenants = '{}' then
    perform logloom_private.end_retention_day(p_day, null);
    return interval '0';
  end if;
  foreach v_tenant_id in array v_tenants loop
    begin
      v_deleted := logloom_private.delete_expired(v_tenant_id, p_day, p_place.today);
    exception when others then
      v_error := coalesce(v_error, format('%s: %s', sqlstate, sqlerrm));
      v_deleted := 0;
    end;
    if v_deleted < v_settings.deletion_step_records then
      v_through := v_tenant_id;
    end if;
    exit when v_deleted > 0;
  end loop;
  update logloom_private.retention_place p
  set tenant_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
  return case when v_deleted > 0 then v_settings.deletion_pause else interval '0' end;
end;
$$;

revoke all on function logloom_private.delete_expired_of_day(
  date, logloom_private.retention_place
) from public;

comment on function logloom_private.delete_expired_of_day(
  date, logloom_private.retention_place
) is
  'Deletes a step of one tenant''s records of a day that another tenant keeps, and notes the '
  'place.';

create function logloom_private.retention_step()
returns interval
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_place logloom_private.retention_place;
  v_attempts constant integer :=
    (select s.partition_drop_attempts from logloom_private.settings s);
  v_day date;
  v_outcome text;
  v_error text;
begin
  -- One at a time deletes, erasures on request too.
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('deletion')) then
    return interval '100 milliseconds';
  end if;
  select p.* into v_place from logloom_private.retention_place p;
  if v_place.today is null or v_place.finished_at is not null then
    return null;
  end if;
  v_day := (
    select min(d.day)
    from (
      select p.day from unnest(logloom_private.partition_days()) p (day)
      union all
      -- A day that is sealed whole has no partition. A chunk of several days goes with the last.
      select logloom_private.utc_day(min(c.last_ts))
      from logloom_private.sealed_chunks c
      where c.last_ts >= logloom_private.day_start(coalesce(v_place.done_through, '1970-01-01') + 1)
    ) d
    where d.day > coalesce(v_place.done_through, '-infinity') and d.day < v_place.today
  );
  if v_day is null then
    perform logloom_private.end_retention(v_place.error);
    return null;
  end if;
  if v_place.tenant_through is not null then
    return logloom_private.delete_expired_of_day(v_day, v_place);
  end if;

  begin
    v_outcome := logloom_private.drop_expired_day(v_day, v_place.today);
  exception when others then
    v_outcome := 'failed';
    v_error := format('%s: %s', sqlstate, sqlerrm);
  end;
  if v_outcome = 'kept' then
    -- No tenant''s name comes before the empty one.
    update logloom_private.retention_place set tenant_through = '' where singleton;
  elsif v_outcome <> 'busy' then
    perform logloom_private.end_retention_day(v_day, v_error);
  elsif v_place.attempts + 1 < v_attempts then
    update logloom_private.retention_place p set attempts = p.attempts + 1 where p.singleton;
    return interval '1 second';
  else
    perform logloom_private.end_retention_day(
      v_day, format('readers kept partition %s from being dropped', v_day)
    );
  end if;
  return interval '0';
end;
$$;

revoke all on function logloom_private.retention_step() from public;

comment on function logloom_private.retention_step() is
  'A step of the job run_retention: drops a day, or deletes some of one tenant''s records of '
  'it.';

-- No set clause and not definer: such a procedure could not commit. Every name is qualified.
create procedure logloom_private.run_retention(p_today date default null)
language plpgsql
security invoker
as $$
declare
  v_today constant date := coalesce(p_today, logloom_private.utc_day(pg_catalog.now()));
begin
  if p_today is null and not logloom_private.retention_is_due(v_today) then
    return;
  end if;
  perform logloom_private.begin_retention(v_today);
  commit;
  call logloom_private.run_job('run_retention', 'logloom_private.retention_step()');
end;
$$;

revoke all on procedure logloom_private.run_retention(date) from public;

comment on procedure logloom_private.run_retention(date) is
  'Deletes what no tenant keeps: whole days, else a tenant''s records step by step, each '
  'committed, for about job_run_budget. What a run leaves over, the next one does; one on a day '
  'that is finished does nothing. p_today: to run as if it were another day, at any time.';
